"""Progress while a command computes: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from langford.cli.display import duration, say
from langford.loading import load

if TYPE_CHECKING:
    from langford.cli.bar import Bar

LOG_SECONDS = 30.0


class ProgressLine:
    """The share of the work that is done and the time that remains, on standard error."""

    def __init__(self, title: str, total_work: float, total_tasks: int) -> None:
        self._title, self._work, self._tasks = title, total_work, total_tasks
        self._bar: Bar | None = None
        self._last_line = time.monotonic()

    def update(self, tasks: int | None, work: float, work_here: float, seconds_here: float) -> None:
        """Show how far the count is.

        Args:
            tasks: number of tasks that are done; None: not shown.
            work: their work.
            work_here: work that this run has done, from which the remaining time follows.
            seconds_here: time that it took.
        """
        share = work / self._work if self._work else 1.0
        seconds_left = (self._work - work) * seconds_here / work_here if work_here else None
        remaining = "starting" if seconds_left is None else f"about {duration(seconds_left)} left"
        done = "" if tasks is None else f"{tasks:,}/{self._tasks:,} tasks"
        if self._bar is not None:
            self._bar.update(share, done, remaining)
        elif time.monotonic() - self._last_line > LOG_SECONDS:
            self._last_line = time.monotonic()
            say(f"{self._title}: {share:.1%} of the work, {done} {remaining}".rstrip())

    def remark(self, message: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar is not None:
            self._bar.remark(message)
        else:
            say(message)

    @contextmanager
    def shown(self) -> Iterator[ProgressLine]:
        """Show the bar while the block runs, if standard error is a terminal."""
        if not sys.stderr.isatty():
            yield self
            return
        with load("langford.cli.bar:Bar")(self._title) as self._bar:
            yield self
        self._bar = None
