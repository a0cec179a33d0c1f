"""The progress and the remaining time of the whole campaign, as a worker shows them; its server is asked rarely."""

from __future__ import annotations

from collections.abc import Callable

from db.look.overview import Overview
from jobs.run.backoff import Backoff
from jobs.run.clock import SYSTEM, Clock
from langford.errors import LangfordError

OUTLOOK_SECONDS = 60.0
"""Time between two requests of a worker: hundreds of workers may ask."""


class Outlook:
    """The last overview of the campaign that the server has sent, if any."""

    def __init__(self, ask: Callable[[], Overview], clock: Clock = SYSTEM) -> None:
        """``ask``: requests an overview from the server."""
        self._ask, self._asking, self._clock = ask, Backoff(clock=clock), clock
        self._overview: Overview | None = None
        self._got = 0.0

    def refresh(self) -> None:
        """Ask when it is time to.  The work does not depend on the answer, so a failure is not reported."""
        if not self._asking.due:
            return
        try:
            self._overview, self._got = self._ask(), self._clock.monotonic()
        except LangfordError:
            self._overview = None
        self._asking.pause(OUTLOOK_SECONDS)

    @property
    def tasks_done(self) -> int:
        """Number of tasks that are done; 0: unknown."""
        return self._overview.tasks.done if self._overview else 0

    @property
    def share_done(self) -> float:
        """Share of the work that is done; 0: unknown."""
        return self._overview.work.done if self._overview else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the campaign is done; None: unknown."""
        eta = self._overview.eta if self._overview else None
        return None if eta is None else max(0.0, eta.seconds - (self._clock.monotonic() - self._got))
