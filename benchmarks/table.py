"""What all benchmarks print and compute alike: a table in Markdown, and times with their median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Outcome = TypeVar("Outcome")


class Table:
    """A table in Markdown, printed row by row as the figures come in."""

    def __init__(self, *headings: str) -> None:
        self._columns = len(headings)
        self._print(*headings)
        self._print(*["---"] * self._columns)

    def row(self, *cells: object) -> None:
        """Print one row, a cell for every heading."""
        if len(cells) != self._columns:
            raise ValueError(f"a row of this table has {self._columns} cells, not {len(cells)}")
        self._print(*map(str, cells))

    def _print(self, *cells: str) -> None:
        print(f"| {' | '.join(cells)} |", flush=True)


@dataclass(frozen=True)
class Timing(Generic[Outcome]):
    """The seconds of several runs of the same, and what the last one returned."""

    seconds: tuple[float, ...]
    outcome: Outcome

    @property
    def median(self) -> float:
        """Median seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> str:
        """The fastest and the slowest run."""
        return f"{min(self.seconds):.3g}–{max(self.seconds):.3g}"


def timed(
    runs: int, action: Callable[[], Outcome], clock: Callable[[], float] = time.perf_counter
) -> Timing[Outcome]:
    """Time an action, again and again, on the wall clock or another one."""
    seconds = []
    for _ in range(runs):
        start = clock()
        outcome = action()
        seconds.append(clock() - start)
    return Timing(tuple(seconds), outcome)


def require_published(name: object, count: int, known: int | None) -> None:
    """End the benchmark when a count is wrong: its speed is worth nothing."""
    if known is not None and count != known:
        raise SystemExit(f"{name} gave {count}, published is {known}: wrong")
