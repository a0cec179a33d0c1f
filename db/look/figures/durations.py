"""How long tasks take, from times that pass once.

A campaign may have ten million tasks: what is kept does not grow with them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
PARTS = 720


class TimesByTask:
    """Times of tasks: together, and in each of up to PARTS ranges of tasks that follow one another.

    Attributes:
        number, mean: of all times.
        edges: the first task of each range, and the end of the last one.
        shortest, longest: by range; nan where no task is done.
    """

    def __init__(self, tasks: int) -> None:
        parts = min(tasks, PARTS)
        self.edges = np.ceil(np.linspace(0, tasks, parts + 1))
        self.shortest, self.longest = np.full(parts, np.nan), np.full(parts, np.nan)
        self.number, self.mean = 0, 0.0
        self._squares = 0.0  # of the differences from the mean

    def add(self, task: NDArray[np.int32], seconds: Times) -> None:
        place = np.searchsorted(self.edges, task, side="right") - 1
        np.fmin.at(self.shortest, place, seconds)
        np.fmax.at(self.longest, place, seconds)
        # By Chan's formula, which loses no digits.
        mean, before = float(seconds.mean()), self.number
        self.number += len(seconds)
        apart, share = mean - self.mean, len(seconds) / self.number
        self.mean += apart * share
        self._squares += float(((seconds - mean) ** 2).sum()) + apart**2 * before * share

    @property
    def deviation(self) -> float:
        """Their standard deviation, relative to the mean."""
        return float(np.sqrt(self._squares / self.number)) / self.mean if self.mean else 0.0

    @property
    def least(self) -> float:
        return float(np.nanmin(self.shortest))

    @property
    def most(self) -> float:
        return float(np.nanmax(self.longest))
