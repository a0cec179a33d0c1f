"""How results, tables and progress look on a terminal, in a log and as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langford.methods import METHODS, Count
from langford.problem import Problem

LOG_SECONDS = 30.0


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, indent=2))


def say(message: str) -> None:
    """A remark on standard error."""
    print(message, file=sys.stderr)


def duration(seconds: float) -> str:
    """Seconds in words that a person would use."""
    for size, unit in ((31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:,.{0 if seconds > 20 * size else 1}f} {unit}"
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"


def count_document(problem: Problem, method: str, count: Count, seconds: float) -> dict[str, Any]:
    """A count as JSON; the numbers that can exceed 2^53 are decimal text."""
    from langford.provenance import kernel_hash
    from langford.reference import published

    known = published(problem)
    return {
        "problem": problem.name,
        "method": method,
        "count": str(count.published),
        "arrangements": str(count.arrangements),
        "tasks": count.tasks,
        METHODS[method].unit: str(count.evaluated),
        "seconds": round(seconds, 3),
        "checks": list(count.checks),
        "published": None if known is None else str(known),
        "kernels": kernel_hash(),
    }


def print_count(problem: Problem, method: str, count: Count, seconds: float, where: str) -> None:
    """The count, how it was found and how it was checked."""
    from langford.reference import published

    print(f"{problem} = {count.published:,}")
    up_to = " up to reversal" if problem.mirrored else ""
    rate = f", {count.evaluated / seconds:.2g} {METHODS[method].unit}/s" if seconds > 0 else ""
    print(f"  arrangements{up_to}, {problem.n} colours of {problem.copies} on {problem.places} places")
    print(
        f"  found by  {method}: {count.evaluated:,} {METHODS[method].unit} evaluated in "
        f"{duration(seconds)} {where}{rate}"
    )
    for check in count.checks:
        print(f"  checked   {check}")
    known = published(problem)
    if problem.obstruction:
        print(f"  agrees    none can exist: {problem.obstruction}")
    elif known is not None:
        verdict = "agrees    with" if known == count.published else "DIFFERS   from"
        print(f"  {verdict} the published value {known:,} ({problem.oeis})")


class ProgressLine:
    """A bar on a terminal, a line now and then in a log; weighted by work."""

    def __init__(self, title: str, total_work: float, total_tasks: int) -> None:
        self._title, self._work, self._tasks = title, total_work, total_tasks
        self._bar: Any = None
        self._said = time.monotonic()

    def update(self, tasks: int | None, work: float, work_here: float, seconds_here: float) -> None:
        """Show totals over the campaign; the speed comes from this run alone."""
        share = work / self._work if self._work else 1.0
        left = (self._work - work) * seconds_here / work_here if work_here else None
        eta = "starting" if left is None else f"about {duration(left)} left"
        done = "" if tasks is None else f"{tasks:,}/{self._tasks:,} tasks"
        if self._bar is not None:
            self._bar.update(0, completed=share, done=done, eta=eta)
        elif time.monotonic() - self._said > LOG_SECONDS:
            self._said = time.monotonic()
            say(f"{self._title}: {share:.1%} of the work, {done} {eta}".rstrip())

    def remark(self, message: str) -> None:
        """A line above the bar."""
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
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>5.1f}%"),
            TextColumn("{task.fields[done]} {task.fields[eta]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as self._bar:
            self._bar.add_task(self._title, total=1.0, done="", eta="")
            yield self
        self._bar = None
