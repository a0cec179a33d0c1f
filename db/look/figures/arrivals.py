"""How fast results arrived: their number, and the work of their tasks, in equal parts of the elapsed time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from db.look.figures.attempts import Elapsed
from db.look.figures.durations import Times

PARTS = 120


@dataclass(frozen=True)
class ArrivalRates:
    edges: Times
    tasks: Times  # results per second, float64[parts]
    work: Times  # the estimated work of their tasks per second, in the method's unit, float64[parts]
    share: Times  # of all work that was done by the end of each part, float64[parts]


class Arrivals:
    """Takes the results that arrived in a time, in any order."""

    def __init__(self, elapsed: Elapsed, work: float, parts: int = PARTS) -> None:
        """``work``: of all tasks."""
        self._edges = np.linspace(elapsed.began, elapsed.arrived, parts + 1)
        self._whole = work
        self._tasks, self._work = np.zeros(parts), np.zeros(parts)

    def add(self, arrived: Times, work: Times) -> None:
        # An attempt ends with its result, up to the milliseconds between two statements.
        times = np.clip(arrived, self._edges[0], self._edges[-1])
        self._tasks += np.histogram(times, self._edges)[0]
        self._work += np.histogram(times, self._edges, weights=work)[0]

    def rates(self) -> ArrivalRates | None:
        """None: less time has passed than clocks can divide."""
        width = np.diff(self._edges)
        if not width.all():
            return None
        share = np.cumsum(self._work) / max(self._whole, 1e-300)
        return ArrivalRates(self._edges, self._tasks / width, self._work / width, share)
