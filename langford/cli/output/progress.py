"""Progress while a command computes: a bar on a terminal, a line now and then in a log; the command's console."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jobs.clock import SYSTEM, Clock
from jobs.console import Console, Step
from langford.cli.exit_codes import StopSignals
from langford.cli.output.display import say
from langford.words import about, percent, several

if TYPE_CHECKING:
    from langford.cli.output.screen import Bar

LOG_SECONDS = 30.0
"""Between two lines in a log."""


class ProgressLine:
    """The share of the work that is done and the time that remains, on standard error."""

    def __init__(
        self, title: str, total_work: float | None = None, total_tasks: int = 0, clock: Clock = SYSTEM
    ) -> None:
        """``total_work``: None: :meth:`of` sets it."""
        self.has_total = total_work is not None
        self._title, self._work, self._tasks = title, total_work or 0.0, total_tasks
        self._bar: Bar | None = None
        self._clock, self._last_line = clock, clock.monotonic()

    def of(self, total_tasks: int, total_work: float) -> None:
        self._work, self._tasks, self.has_total = total_work, total_tasks, True

    def update(
        self, tasks: int | None, work: float, seconds_left: float | None, here: tuple[int, float] | None = None
    ) -> None:
        """Show how far the count is.

        Args:
            here: where there are other workers too, how many of these tasks this run has done, and their work.
        """
        done = [] if tasks is None else [f"{tasks:,}/{several(self._tasks, 'task')}"]
        if here is not None:
            done.append(f"{here[0]:,} of them here ({percent(here[1] / self._work if self._work else 0.0)})")
        remaining = f"{about(seconds_left)} left" if seconds_left is not None else ""
        self._show(work, ", ".join(done), remaining or ("" if work else "starting"))

    def _show(self, work: float, done: str, remaining: str) -> None:
        """Without a bar, print a line if the last one is older than LOG_SECONDS."""
        share = work / self._work if self._work else 1.0
        if share > 1 - 1e-9:
            remaining = ""  # shares of tasks add up to all of the work but for rounding
        if self._bar is not None:
            self._bar.update(share, done, remaining)
        elif self._clock.monotonic() - self._last_line > LOG_SECONDS:
            self._last_line = self._clock.monotonic()
            words = ", ".join(filter(None, [f"{percent(share)} of the work", done, remaining]))
            say(f"{self._title}: {words}")

    def remark(self, message: str) -> None:
        if self._bar is not None:
            self._bar.remark(message)
        else:
            say(message)

    @contextmanager
    def shown(self) -> Iterator[ProgressLine]:
        """Show the bar if standard error is a terminal."""
        if not sys.stderr.isatty():
            yield self
            return
        from langford.cli.output.screen import Bar

        with Bar(self._title) as self._bar:
            yield self
        self._bar = None


class Terminal(Console):
    """Prints remarks on standard error, above the progress line if there is one; a signal asks to stop."""

    def __init__(self, line: ProgressLine | None = None, stop: StopSignals | None = None) -> None:
        self.line, self.stop = line, stop

    def say(self, message: str) -> None:
        (say if self.line is None else self.line.remark)(message)

    def show(self, step: Step) -> None:
        if self.line is not None:
            self.line.update(step.tasks_done, step.work_done, step.seconds_left)

    def stop_reason(self) -> str | None:
        return None if self.stop is None else self.stop.reason()
