"""How far a campaign is, as a run knows it: by the last answers, and by its own results since."""

from __future__ import annotations

from collections.abc import Callable

from db.look.overview.records import Overview
from jobs.clock import SYSTEM, Clock
from jobs.reach.patience import Backoff
from langford.errors import LangfordError


class Tally:
    """The last known progress of a campaign, and the results of this run that the ledger has accepted since."""

    def __init__(self) -> None:
        self.tasks, self.work = 0, 0.0
        self.tasks_here, self.work_here = 0, 0.0
        self._answered = 0  # tasks done, by the last answer alone

    def update(self, tasks: int, work: float) -> None:
        """The ledger's answer, which may be some seconds old, and then lacks results of this run.

        An answer below the one before is another matter: a backup of the ledger was restored, or results were put
        in question.
        """
        if tasks < self._answered:
            self.tasks, self.work = tasks, work
        self.tasks, self.work = max(self.tasks, tasks), max(self.work, work)
        self._answered = tasks

    def add(self, work: float, here: bool = True) -> None:
        """``here``: whether this run computed it, not an earlier one that left it in the outbox."""
        self.tasks, self.work = self.tasks + 1, self.work + work
        if here:
            self.tasks_here, self.work_here = self.tasks_here + 1, self.work_here + work


FIRST_PAUSE_SECONDS, TIMES_LONGER = 60.0, 8
"""The first pause between two requests, and by what each further one is longer: thousands of workers ask, most
of them when all start."""
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
        self._asking.pause(min(self._pause, longest_pause))
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
        self._pause *= TIMES_LONGER
        self._asking.pause(max(min(self._pause, self._longest_pause), (self._got - began) / MAX_SHARE))
        if self._overview is not None:
            self._tally.update(self._overview.tasks.done, self._overview.work.done * whole)

    @property
    def seconds_left(self) -> float | None:
        eta = self._overview.eta if self._overview else None
        return None if eta is None else max(0.0, eta.seconds - (self._clock.monotonic() - self._got))
