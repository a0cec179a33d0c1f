"""How long tasks take: their spread, and what pictures of it need, from times that pass once, by task.

A campaign may have ten million tasks: what is kept does not grow with them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from db.messages import MIN_SECONDS

Times = NDArray[np.float64]
MAX_MARKS = 2_000
"""Up to so many results are kept one by one; of more, how many there are in each cell of a grid."""
CELLS = 300, 720
"""Parts of the times, from zero on, and of the index, in the grid."""


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


@dataclass(frozen=True)
class TimeBounds:
    """What is known of the times of all results before they pass."""

    number: int
    least: float
    most: float

    @classmethod
    def of(cls, seconds: Times) -> TimeBounds | None:
        return cls(len(seconds), float(seconds.min()), float(seconds.max())) if len(seconds) else None


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


@dataclass(frozen=True)
class PlottedTimes:
    """The times of the results by task, as a picture shows them."""

    # task, seconds: of each result; empty where there are more than MAX_MARKS
    task: NDArray[np.int64]
    seconds: Times
    grid: NDArray[np.int64] | None  # else how many there are in each cell, int64[CELLS]
    most: float  # the upper end of the grid


class PlottedTimesReader:
    """Takes the results of a campaign by task, in parts."""

    def __init__(self, tasks: int, bounds: TimeBounds) -> None:
        self._tasks, self._most = tasks, max(bounds.most, MIN_SECONDS)
        self._grid = None if bounds.number <= MAX_MARKS else np.zeros(CELLS, np.int64)
        self._few: list[tuple[NDArray[np.int64], Times]] = [(np.zeros(0, np.int64), np.zeros(0))]

    def add(self, task: NDArray[np.int32], seconds: Times) -> None:
        if self._grid is None:
            self._few.append((task.astype(np.int64), seconds))
        else:
            high, wide = CELLS
            row = np.minimum((seconds * (high / self._most)).astype(np.int64), high - 1)
            np.add.at(self._grid, (row, task.astype(np.int64) * wide // self._tasks), 1)

    def read(self) -> PlottedTimes:
        tasks, seconds = (np.concatenate(column) for column in zip(*self._few, strict=True))
        return PlottedTimes(tasks, seconds, self._grid, self._most)
