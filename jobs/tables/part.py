"""A campaign as a part of a table: its progress is shown as the progress of the whole."""

from __future__ import annotations

from db import Campaign
from jobs.clock import Clock
from jobs.console import Console, Step
from langford.words import seconds_left


class PartOfTable(Console):
    """The console of one campaign, which shows the progress of the whole table on another one."""

    def __init__(
        self,
        console: Console,
        campaign: Campaign,
        number: int,
        before: float,
        share: float,
        whole: float,
        clock: Clock,
        began: float,
    ) -> None:
        """``before``, ``share``, ``whole``: expected seconds of the parts done, of what is left of this, and of
        all.
        """
        self._console, self._number, self._before, self._share = console, number, before, share
        self._whole = whole
        self._found, self._work = campaign.standing().work_done, campaign.work
        self._clock, self._began, self.done = clock, began, 0.0

    def say(self, message: str) -> None:
        self._console.say(message)

    def show(self, step: Step) -> None:
        part = (step.work_done - self._found) / (self._work - self._found) if self._work > self._found else 1.0
        self.done = self._share * min(1.0, max(0.0, part))
        done = self._before + self.done
        seconds = self._clock.monotonic() - self._began
        self._console.show(Step(self._number, done, self._number, done, seconds_left(self._whole, done, seconds)))

    def stop_reason(self) -> str | None:
        return self._console.stop_reason()
