"""The record of one run, and how far its campaign is by the last overview that the run has got."""

from __future__ import annotations

from collections.abc import Callable

from db.look.overview.records import Overview
from jobs.clock import SYSTEM, Clock
from jobs.reach.patience import Backoff
from langford.errors import LangfordError, MachineFailed

LEASE_SECONDS = 120.0
STOCK = 64
"""Short tasks that a run leases beyond its idle slots: enough for thousands of tasks a second."""
SHORT_TASK_SECONDS = 0.1
DEATHS_IN_A_ROW = 5
"""How many worker processes may die before the run ends, when no task is finished in between."""


class WorkersKeepDying(MachineFailed):
    """Worker processes die again and again before they finish a task."""


class Effort:
    def __init__(self, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._started = self._clock.monotonic()
        self._slowest = 0.0
        self._deaths = 0
        self.tasks = 0

    @property
    def seconds(self) -> float:
        return self._clock.monotonic() - self._started

    def finished(self, seconds: float) -> None:
        """``seconds``: of computing."""
        self._deaths = 0
        self._slowest = max(self._slowest, seconds)
        self.tasks += 1

    def died(self, reason: str) -> None:
        """Raises WorkersKeepDying after too many deaths in a row."""
        self._deaths += 1
        if self._deaths >= DEATHS_IN_A_ROW:
            raise WorkersKeepDying(
                f"{self._deaths} worker processes died in a row without finishing a task "
                f"(last: {reason}): check memory (use fewer --workers) and run again"
            )

    def batch(self, idle_slots: int) -> int:
        """How many tasks to lease: one per idle slot, and more when tasks are short.

        Args:
            idle_slots: how many tasks the pool would take now.
        """
        return idle_slots + (STOCK if self.tasks and self._slowest < SHORT_TASK_SECONDS else 0)


class Tally:
    """The last known progress of a campaign, and the results of this run that the ledger has accepted since."""

    def __init__(self) -> None:
        self.tasks, self.work = 0, 0.0
        self.tasks_here, self.work_here = 0, 0.0

    def update(self, tasks: int, work: float) -> None:
        """Numbers below the known ones are out of date."""
        self.tasks, self.work = max(self.tasks, tasks), max(self.work, work)

    def add(self, work: float, here: bool = True) -> None:
        """``here``: whether this run computed it, not an earlier one that left it in the outbox."""
        self.tasks, self.work = self.tasks + 1, self.work + work
        if here:
            self.tasks_here, self.work_here = self.tasks_here + 1, self.work_here + work


FIRST_PAUSE_SECONDS = 4.0
MAX_SHARE = 0.02
"""Maximum share of the time that the answers take."""


class LastOverview:
    """The last overview of the campaign, if any; it is requested rarely, and less often as time goes on."""

    def __init__(
        self, ask: Callable[[], Overview], tally: Tally, longest_pause: float, clock: Clock = SYSTEM
    ) -> None:
        self._ask, self._tally, self._longest_pause = ask, tally, longest_pause
        self._asking, self._clock = Backoff(clock=clock), clock
        self._pause = FIRST_PAUSE_SECONDS
        self._asking.pause(self._pause)
        self._overview: Overview | None = None
        self._got = 0.0

    def refresh(self, whole: float) -> None:
        """Ask when it is time to.  The work does not depend on the answer, so a failure is not reported.

        ``whole``: work of all tasks of the campaign.
        """
        if not self._asking.due:
            return
        began = self._clock.monotonic()
        try:
            self._overview = self._ask()
        except LangfordError:
            self._overview = None
        self._got = self._clock.monotonic()
        self._asking.pause(max(min(self._pause, self._longest_pause), (self._got - began) / MAX_SHARE))
        self._pause *= 2
        if self._overview is not None:
            self._tally.update(self._overview.tasks.done, self._overview.work.done * whole)

    @property
    def seconds_left(self) -> float | None:
        eta = self._overview.eta if self._overview else None
        return None if eta is None else max(0.0, eta.seconds - (self._clock.monotonic() - self._got))
