"""A campaign as a part of a table: its progress is shown as the progress of the whole."""

from __future__ import annotations

from collections.abc import Callable

from db import Campaign
from jobs.console import Console, Step


class PartOfTable(Console):
    """The console of one campaign, whose remarks another console shows."""

    def __init__(
        self, console: Console, campaign: Campaign, share: float, progressed: Callable[[float], object]
    ) -> None:
        """``share``: expected seconds of what is left of the campaign; ``progressed``: called with those done."""
        self._console, self._share, self._progressed = console, share, progressed
        self._found, self._work = campaign.standing().work_done, campaign.work
        self.done = 0.0

    def say(self, message: str) -> None:
        self._console.say(message)

    def show(self, step: Step) -> None:
        part = (step.work_done - self._found) / (self._work - self._found) if self._work > self._found else 1.0
        self.done = self._share * min(1.0, max(0.0, part))
        self._progressed(self.done)

    def stop_reason(self) -> str | None:
        return self._console.stop_reason()
