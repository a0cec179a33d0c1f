"""How fast results arrived, in equal parts of the elapsed time."""

from __future__ import annotations

import numpy as np

from db.look.figures.attempts import Elapsed
from db.look.figures.durations import Times

PARTS = 120


class Arrivals:
    """The results that arrived in a time, in any order."""

    def __init__(self, elapsed: Elapsed, work: float, parts: int = PARTS) -> None:
        """``work``: of all tasks."""
        self.edges = np.linspace(elapsed.began, elapsed.arrived, parts + 1)
        self._whole = work
        self._tasks, self._work = np.zeros(parts), np.zeros(parts)

    def add(self, arrived: Times, work: Times) -> None:
        # An attempt ends with its result, up to the milliseconds between two statements.
        times = np.clip(arrived, self.edges[0], self.edges[-1])
        self._tasks += np.histogram(times, self.edges)[0]
        self._work += np.histogram(times, self.edges, weights=work)[0]

    @property
    def are_known(self) -> bool:
        """False: less time has passed than clocks can divide."""
        return bool(np.diff(self.edges).all())

    @property
    def tasks(self) -> Times:
        """Results per second, float64[parts]."""
        return np.asarray(self._tasks / np.diff(self.edges))

    @property
    def share(self) -> Times:
        """Of all work that was done by the end of each part, float64[parts]."""
        return np.asarray(np.cumsum(self._work) / max(self._whole, 1e-300))
