"""Progress while a command computes: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from langford.cli.display import duration, say

if TYPE_CHECKING:
    from rich.progress import Progress

LOG_SECONDS = 30.0


class ProgressLine:
    """Progress weighted by work: a bar on a terminal, a line now and then in a log."""

    def __init__(self, title: str, total_work: float, total_tasks: int) -> None:
        self._title, self._work, self._tasks = title, total_work, total_tasks
        self._bar: Progress | None = None
        self._said = time.monotonic()

    def update(self, tasks: int | None, work: float, work_here: float, seconds_here: float) -> None:
        """Show totals over the campaign; the speed comes from this run alone."""
        share = work / self._work if self._work else 1.0
        left = (self._work - work) * seconds_here / work_here if work_here else None
        remaining = "starting" if left is None else f"about {duration(left)} left"
        done = "" if tasks is None else f"{tasks:,}/{self._tasks:,} tasks"
        if self._bar is not None:
            [task] = self._bar.task_ids
            self._bar.update(task, completed=share, done=done, remaining=remaining)
        elif time.monotonic() - self._said > LOG_SECONDS:
            self._said = time.monotonic()
            say(f"{self._title}: {share:.1%} of the work, {done} {remaining}".rstrip())

    def remark(self, message: str) -> None:
        """Print a line above the bar."""
        if self._bar is not None:
            self._bar.console.print(message)
        else:
            say(message)

    @contextmanager
    def shown(self) -> Iterator[ProgressLine]:
        """Show the bar while the block runs, if standard error is a terminal."""
        if not sys.stderr.isatty():
            yield self
            return
        # Only here: a count that writes to a log starts without it.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>5.1f}%"),
            TextColumn("{task.fields[done]} {task.fields[remaining]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as self._bar:
            self._bar.add_task(self._title, total=1.0, done="", remaining="")
            yield self
        self._bar = None
