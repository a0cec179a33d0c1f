"""The queue keeper: it keeps a number of workers waiting or running until a campaign is done.

It asks the ledger which tasks are done and the scheduler which workers exist, and stores neither: after a restart
it finds its array elements by the name of their jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from db import Standing
from db.errors import Away
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from jobs.reach.campaign import Campaign
from jobs.reach.patience import Patience
from langford.words import several
from slurm.errors import QueueNotKept
from slurm.lock import held
from slurm.names import job_name
from slurm.scheduler import Element, Scheduler
from slurm.stuck import Stuck, remedy

SECONDS_BETWEEN_QUESTIONS = 30.0
FRUITLESS_ROUNDS = 5
"""How many times in a row workers may be replaced while no task changes its state."""


class QueueKeeper:
    """Keeps the queue of one campaign.

    Attributes:
        campaign: whose workers are in the queue.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        campaign: Campaign,
        script: Callable[[str, int], str],
        most: int,
        seconds: float = SECONDS_BETWEEN_QUESTIONS,
        console: Console = SILENT,
        clock: Clock = SYSTEM,
    ) -> None:
        """``script``: a job script, for a name of the jobs and a number of array elements; ``most``: waiting or
        running.
        """
        self._scheduler, self.campaign, self._script = scheduler, campaign, script
        self._most, self._seconds, self._console, self._clock = most, seconds, console, clock
        self._largest_array: int | None = None
        self._last: tuple[Mapping[str, int], int] | None = None
        self._fruitless_rounds = 0
        self._stuck, self._reasons_said = Stuck(), set[str]()
        self._locks: Path | None = None
        self._locked = ExitStack()

    def run(self, locks: Path | None = None) -> str | None:
        """Keep the queue; returns None when the campaign is done, or the reason to stop before that.

        ``locks``: a folder where it holds a lock meanwhile, so that no other keeper keeps this queue.
        Raises QueueNotKept, and NotInstalled where SLURM is not installed.
        """
        self._locks = locks
        with self._locked:
            return self._keep()

    def _keep(self) -> str | None:
        patience = Patience(self._console, "the queue or the ledger", self._clock)
        while True:
            # While it is away the number of missing elements is not known, or no more may be submitted.
            with suppress(Away):
                if patience.ask(self.top_up) is None:
                    return None
            next_round = self._clock.monotonic() + self._seconds
            while self._clock.monotonic() < next_round:
                reason = self._console.stop_reason()
                if reason:
                    return reason
                self._clock.wait(0.1)

    def top_up(self) -> int | None:
        """Submit the elements that are missing; returns how many, or None when the campaign is done.

        Raises Away or QueueNotKept; elements that were submitted before the error stay.
        """
        info = self.campaign.info()
        name, standing = job_name(info.name, info.campaign), info.standing
        if self._locks is not None:  # a server may not have told the name before
            self._locked.enter_context(held(self._locks / f"{name}.lock"))
            self._locks = None
        if not standing.to_do:
            self._scheduler.cancel_pending(name)
            return None
        elements = self._scheduler.elements(name)
        stuck = self._stuck_among(elements)
        if stuck and stuck == len(elements):
            return 0  # others would wait for the same
        present = len(elements) - stuck
        missing = min(self._most, standing.to_do) - present
        if missing <= 0:
            return 0
        self._watch(name, standing)
        if self._largest_array is None:
            self._largest_array = self._scheduler.largest_array()
        remaining = missing
        while remaining:
            size = min(remaining, self._largest_array)
            job = self._scheduler.submit(self._script(name, size))
            rechecks = f", {standing.rechecks} to evaluate again" if standing.rechecks else ""
            self._console.say(
                f"{several(present, 'element')} present, {size} more submitted as job {job}; "
                f"{several(standing.unfinished, 'task')} left{rechecks}"
            )
            remaining -= size
            present += size
        return missing

    def _stuck_among(self, elements: Sequence[Element]) -> int:
        """Says why, once."""
        stuck = self._stuck.among(elements)
        for reason, number in stuck.items():
            if reason not in self._reasons_said:
                wait = several(number, "element waits", "elements wait")
                self._console.say(f"{wait} for {reason}, which may not end by itself: {remedy(reason)}")
        self._reasons_said = set(stuck)
        return sum(stuck.values())

    def _watch(self, name: str, standing: Standing) -> None:
        """Count the rounds in which elements were missing, and no task changed its state or was evaluated again."""
        now = dict(standing.tasks), standing.rechecks
        self._fruitless_rounds = self._fruitless_rounds + 1 if now == self._last else 0
        self._last = now
        if self._fruitless_rounds >= FRUITLESS_ROUNDS:
            waits = (
                f"{several(standing.rechecks, 'result waits', 'results wait')} for workers on other hosts, with "
                "another token if they use a server, or for `langford verify --waiting`"
            )
            raise QueueNotKept(
                f"workers of {name} ended {self._fruitless_rounds} times in a row without changing a task: "
                f"{'' if standing.unfinished else waits + '; '}read their logs, then start the keeper again"
            )
