"""How long tasks take on each model of a device, by the results of recent ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Mapping, Sequence

from db.look.overview.figures import Arrival

FEWEST_ALIKE = 5
"""Number of results that make the devices of a worker known: the very first are those of its shortest tasks."""
ALIKE = 10
"""Number of tasks of a size whose mean time counts as much as what the next larger size says of them."""
LARGEST_ERROR = 0.9
"""Maximum error of an estimate, relative to it."""


class TaskTimes:
    """How long tasks take on each model of a device, by their size: sizes that differ by less than 2 are alike."""

    def __init__(self, results: Sequence[Arrival], models: Mapping[str, Hashable]) -> None:
        """
        Args:
            results: recent results.
            models: the model of each worker's devices.
        """
        self._sums: dict[Hashable, dict[int, tuple[float, float, int]]] = {}
        for result in results:
            if result.seconds is not None and result.worker in models:
                sizes = self._sums.setdefault(models[result.worker], {})
                work, seconds, number = sizes.get(_size(result.work), (0.0, 0.0, 0))
                sizes[_size(result.work)] = work + result.work, seconds + result.seconds, number + 1
        self._models = models
        self._results = {model: sum(sums[2] for sums in sizes.values()) for model, sizes in self._sums.items()}
        self._paces = {model: _paces(sizes) for model, sizes in self._sums.items()}

    def known(self, model: Hashable, devices: int) -> bool:
        """Whether enough is known of this model, of which a worker has this number of devices."""
        return self._results.get(model, 0) >= min(FEWEST_ALIKE, devices)

    def seconds(self, model: Hashable, work: float) -> float | None:
        """How long a task of this work takes on a device of this model; None: no result of one is known."""
        paces = self._paces.get(model)
        if paces is None:
            return None
        size = _size(work)
        return work * paces[min(paces, key=lambda known: abs(known - size))]

    def deviation(self, results: Sequence[Arrival]) -> float:
        """Standard deviation of the times of results, relative to what tasks of their size take."""
        ratios = []
        for result in results:
            expected = self.seconds(self._models.get(result.worker), result.work)
            if expected and result.seconds is not None:
                ratios.append(result.seconds / expected)
        return statistics.stdev(ratios) if len(ratios) > 1 else LARGEST_ERROR


def _size(work: float) -> int:
    return math.frexp(work)[1]


def _paces(sizes: Mapping[int, tuple[float, float, int]]) -> dict[int, float]:
    """Seconds per unit of work, by size; the larger tasks, which are computed first, are known best.

    Args:
        sizes: sums of the work and of the seconds of the results of each size, and their number.
    """
    paces: dict[int, float] = {}
    pace: float | None = None
    for size in sorted(sizes, reverse=True):
        work, seconds, number = sizes[size]
        own = seconds / work if work else 0.0
        pace = own if pace is None else (number * own + ALIKE * pace) / (number + ALIKE)
        paces[size] = pace
    return paces
