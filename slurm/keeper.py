"""The queue keeper: keeps a number of a campaign's workers waiting or running until the campaign is done.

It learns from the ledger what is done and from the scheduler which workers are there, and remembers neither:
after a restart it finds its elements by their name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from db import Standing
from jobs.farm.client import ServerAway
from slurm.errors import SchedulerSilent, SubmissionRefused, WorkersEndAtOnce
from slurm.scheduler import Scheduler

SECONDS_BETWEEN_QUESTIONS = 30.0
FRUITLESS_ROUNDS = 5
"""How often workers may be replaced while no task changes its state."""


class QueueKeeper:
    """Keeps the queue of one campaign."""

    def __init__(
        self,
        scheduler: Scheduler,
        name: str,
        script: Callable[[int], str],
        standing: Callable[[], Standing],
        most: int,
        seconds: float = SECONDS_BETWEEN_QUESTIONS,
        say: Callable[[str], None] = lambda message: None,
        stop_reason: Callable[[], str | None] = lambda: None,
    ) -> None:
        """
        Args:
            scheduler: where the workers are submitted.
            name: of the jobs.
            script: the text of a job script, given the number of elements of its array.
            standing: asks the ledger, or its server, for the number of tasks in each state.
            most: elements waiting or running at any time.
            seconds: between two questions to the scheduler.
            say: told in words what was submitted and what went wrong.
            stop_reason: asked often; a string ends the keeping, not the elements.
        """
        self._scheduler, self._name, self._script, self._standing = scheduler, name, script, standing
        self._most, self._seconds, self._say, self._stop_reason = most, seconds, say, stop_reason
        self._largest: int | None = None
        self._last_change: Mapping[str, int] | None = None
        self._fruitless = 0

    def run(self) -> str | None:
        """Keep the queue until the campaign is done (None), or the reason to stop.

        Raises WorkersEndAtOnce, and what the scheduler raises when it cannot work here (NoSlurm).
        """
        trouble = ""
        while True:
            try:
                if self.top_up() is None:
                    return None
                trouble = ""
            except (SchedulerSilent, SubmissionRefused, ServerAway) as error:
                # Nobody knows what is missing, or nothing more may be submitted: ask again later.
                if str(error) != trouble:
                    self._say(f"{error}; asking again")
                trouble = str(error)
            wake = time.monotonic() + self._seconds
            while time.monotonic() < wake:
                reason = self._stop_reason()
                if reason:
                    return reason
                time.sleep(0.1)

    def top_up(self) -> int | None:
        """Submit the elements that are missing; returns how many, None when the campaign is done.

        Raises SchedulerSilent, SubmissionRefused and ServerAway; what was submitted before stays.
        """
        standing = self._standing()
        unfinished = standing.unfinished
        if not unfinished:
            self._scheduler.cancel_pending(self._name)
            return None
        present = len(self._scheduler.elements(self._name))
        missing = min(self._most, unfinished) - present
        if missing <= 0:
            return 0
        self._watch(standing.tasks)
        if self._largest is None:
            self._largest = self._scheduler.largest_array()
        left = missing
        while left:
            size = min(left, self._largest)
            job = self._scheduler.submit(self._script(size))
            self._say(f"{present} elements present, {size} more submitted as job {job}; {unfinished} tasks left")
            left -= size
            present += size
        return missing

    def _watch(self, tasks: Mapping[str, int]) -> None:
        """Count the rounds in which elements were missing and no task had changed."""
        self._fruitless = self._fruitless + 1 if tasks == self._last_change else 0
        self._last_change = dict(tasks)
        if self._fruitless >= FRUITLESS_ROUNDS:
            raise WorkersEndAtOnce(
                f"{self._fruitless} times in a row workers of {self._name} were missing and no task had changed: "
                "read their logs, then start the keeper again"
            )
