"""How long tasks take: their spread, and by index, from times that pass once.

A campaign may have ten million tasks: what is kept does not grow with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
PARTS = 720


@dataclass(frozen=True)
class Spread:
    """Statistics of many durations, in seconds."""

    number: int
    mean: float
    deviation: float
    least: float
    most: float

    @property
    def relative(self) -> float:
        return self.deviation / self.mean if self.mean else 0.0


@dataclass
class Groups:
    """Number, sum and deviation of the times of each group, by its number; they may be added in parts."""

    number: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    total: Times = field(default_factory=lambda: np.zeros(0))
    squares: Times = field(default_factory=lambda: np.zeros(0))  # of the differences from the mean

    @classmethod
    def of(cls, group: NDArray[np.int32], values: Times, groups: int) -> Groups:
        number: NDArray[np.int64] = np.bincount(group, minlength=groups)
        total: Times = np.bincount(group, values, groups).astype(np.float64)
        away = values - (total / np.maximum(number, 1))[group]
        return cls(number, total, np.bincount(group, away**2, groups).astype(np.float64))

    def __add__(self, other: Groups) -> Groups:
        """By Chan's formula, which loses no digits."""
        size = max(len(self.number), len(other.number))
        mine, their = self._of(size), other._of(size)
        number = mine.number + their.number
        apart = mine.total / np.maximum(mine.number, 1) - their.total / np.maximum(their.number, 1)
        between = apart**2 * mine.number * their.number / np.maximum(number, 1)
        return Groups(number, mine.total + their.total, mine.squares + their.squares + between)

    def _of(self, size: int) -> Groups:
        end = 0, size - len(self.number)
        return Groups(np.pad(self.number, end), np.pad(self.total, end), np.pad(self.squares, end))

    def together(self, chosen: list[int] | None = None) -> tuple[int, float, float]:
        """(number, sum, standard deviation) of all times of some groups, or of all."""
        parts = [column if chosen is None else column[chosen] for column in (self.number, self.total, self.squares)]
        number, total = int(parts[0].sum()), float(parts[1].sum())
        if not number:
            return 0, 0.0, 0.0
        apart = parts[1] / np.maximum(parts[0], 1) - total / number
        return number, total, float(np.sqrt((parts[2].sum() + (apart**2 * parts[0]).sum()) / number))


class TimesByTask:
    """The shortest and the longest time in each of up to PARTS ranges of tasks that follow one another.

    Attributes:
        edges: the first task of each range, and the end of the last one.
        least, most: by range; nan where no task is done.
    """

    def __init__(self, tasks: int) -> None:
        parts = min(tasks, PARTS)
        self.edges = np.ceil(np.linspace(0, tasks, parts + 1))
        self.least, self.most = np.full(parts, np.nan), np.full(parts, np.nan)

    def add(self, task: NDArray[np.int32], seconds: Times) -> None:
        place = np.searchsorted(self.edges, task, side="right") - 1
        np.fmin.at(self.least, place, seconds)
        np.fmax.at(self.most, place, seconds)
