"""The queue keeper: it keeps a number of workers waiting or running until a campaign is done.

It asks the ledger which tasks are done and the scheduler which workers exist, and stores neither: after a restart
it finds its array elements by the name of their jobs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from db import Standing
from db.errors import Away
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from jobs.reach.campaign import Campaign
from jobs.reach.patience import Patience
from langford.machine.durable import NotRegular, lock_file
from langford.words import several
from slurm.errors import QueueNotKept
from slurm.scheduler import Element, Scheduler
from slurm.script import job_name

SECONDS_BETWEEN_QUESTIONS = 30.0
LOOK_SECONDS = 2.0
"""Between two looks at workers that are ending."""
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
        """
        Args:
            scheduler: the queue system.
            campaign: whose workers are in the queue, however it is reached.
            script: returns a job script, for a name of the jobs and a number of array elements.
            most: how many elements wait or run at the same time.
            seconds: between two rounds.
            console: gets the remarks, and may ask to stop.
            clock: waits.
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

        Args:
            locks: a folder where it holds a lock meanwhile, so that no other keeper keeps this queue.

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

    def wait_for_workers(self, seconds: float) -> None:
        """Wait until no element is left in the queue, or there is a reason to stop.

        Args:
            seconds: to wait at most.
        """
        deadline = self._clock.monotonic() + seconds
        with suppress(Away):
            info = self.campaign.info()
            name = job_name(info.name, info.campaign)
            while self._scheduler.elements(name) and self._clock.monotonic() < deadline:
                if self._console.stop_reason():
                    return
                self._clock.wait(min(self._seconds, LOOK_SECONDS))

    def top_up(self) -> int | None:
        """Submit the elements that are missing; returns how many, or None when the campaign is done.

        Raises Away or QueueNotKept; elements that were submitted before the error stay.
        """
        info = self.campaign.info()
        name, standing = job_name(info.name, info.campaign), info.standing
        if self._locks is not None:  # the name may have been unknown until now
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
            self._last = _state(standing)
            remaining -= size
            present += size
        return missing

    def _stuck_among(self, elements: Sequence[Element]) -> int:
        stuck = self._stuck.among(elements)
        for reason, number in stuck.items():
            if reason not in self._reasons_said:
                wait = several(number, "element waits", "elements wait")
                self._console.say(f"{wait} for {reason}, which may not end by itself: {remedy(reason)}")
        self._reasons_said = set(stuck)
        return sum(stuck.values())

    def _watch(self, name: str, standing: Standing) -> None:
        """Count how often elements that were submitted are gone, and no task changed its state or was evaluated
        again.
        """
        if self._last is not None:
            self._fruitless_rounds = self._fruitless_rounds + 1 if _state(standing) == self._last else 0
        self._last = None  # as long as the queue refuses jobs, none can change a task
        if self._fruitless_rounds >= FRUITLESS_ROUNDS:
            waits = (
                f"{several(standing.rechecks, 'result waits', 'results wait')} for workers with "
                "another token if they use a server, or for `langford verify --waiting`"
            )
            raise QueueNotKept(
                f"workers of {name} ended {self._fruitless_rounds} times in a row without changing a task: "
                f"{'' if standing.unfinished else waits + '; '}read their logs, then start the keeper again"
            )


def _state(standing: Standing) -> tuple[Mapping[str, int], int]:
    return dict(standing.tasks), standing.rechecks


# -- one keeper per queue --------------------------------------------------------------------


@contextmanager
def held(file: Path) -> Iterator[None]:
    """Hold the lock while the block runs; raises QueueNotKept when another process holds it.

    The operating system releases the lock when the process ends, however it ends.
    """
    try:
        lock = lock_file(file)
    except NotRegular as error:
        raise QueueNotKept(f"{error}, so it cannot be locked: remove it, then try again") from error
    except BlockingIOError as error:
        raise QueueNotKept(f"another keeper holds {file}: stop that one first") from error
    except OSError as error:
        raise QueueNotKept(f"{file} cannot be locked ({error.strerror}): give another folder for --logs") from error
    with lock:
        yield


# -- elements that wait for a reason that does not end by itself ------------------------------

PATIENT_ROUNDS = 3
"""In how many rounds in a row an element has such a reason before it counts as one that never starts."""
REMEDIES: Mapping[str, str] = {
    "PartitionTimeLimit": "give a shorter --time, or another partition",
    "PartitionNodeLimit": "give fewer nodes, or another partition",
    "PartitionDown|PartitionInactive": "wait until the partition is up, or give another one",
    "BadConstraints|PartitionConfig": "ask for what the nodes of the partition have",
    "JobHeldUser|launch failed requeued held|job requeued in held state": "release them: `scontrol release JOB`",
    "JobHeldAdmin": "ask who runs the cluster why they are held",
    "Invalid(Account|QOS)|QOSNotAllowed|AccountNotAllowed": "give an account and a QOS that you may use",
    "(QOS|Assoc)Max(WallDuration|.*PerJob|.*PerNode).*": "ask for less, or give another QOS or account",
}
"""Reasons in the words of squeue, as patterns; each with its remedy."""


def remedy(reason: str) -> str | None:
    """What ends the wait for a reason; None: it may end by itself.

    >>> remedy("PartitionTimeLimit"), remedy("Resources")
    ('give a shorter --time, or another partition', None)
    """
    return next((what for pattern, what in REMEDIES.items() if re.fullmatch(pattern, reason)), None)


class Stuck:
    """The elements of a queue that can never start, by the answers of several rounds."""

    def __init__(self) -> None:
        self._rounds: Counter[str] = Counter()

    def among(self, elements: Iterable[Element]) -> dict[str, int]:
        """By their reason; each call is a round."""
        waiting = {element.id: element.reason for element in elements if remedy(element.reason) is not None}
        self._rounds = Counter({name: self._rounds[name] + 1 for name in waiting})
        return Counter(reason for name, reason in waiting.items() if self._rounds[name] >= PATIENT_ROUNDS)
