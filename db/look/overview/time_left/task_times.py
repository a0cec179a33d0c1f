"""How long tasks take on each model of a device, by the results of recent ones.

The time of a task is read from a curve: through the mean work and the mean time of each size of tasks, straight
between two sizes, and in proportion to the work beyond them.  A size of which there are few results is taken to be
about as fast as the next larger one, whose tasks are computed before.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType

from db.look.overview.figures import Arrival

NO_TOKENS: Mapping[str, str] = MappingProxyType({})
MIN_ALIKE = 5
"""Number of results that make the devices of a worker known: the very first are those of its shortest tasks."""
ALIKE = 3
"""Number of tasks of a size whose mean time counts as much as what the next larger size says of them.  It is small:
the last tasks of a recorded campaign take 2.2 times as long as the larger ones say."""


class TaskTimes:
    """How long tasks take on each model of a device, by their size: sizes that differ by less than 2 are alike."""

    def __init__(
        self, results: Sequence[Arrival], models: Mapping[str, Hashable], tokens: Mapping[str, str] = NO_TOKENS
    ) -> None:
        """Of the times that several tokens claim for a size, the median counts, so that no one decides alone."""
        claims: dict[Hashable, dict[int, dict[str, tuple[float, float, int]]]] = {}
        for result in results:
            if result.seconds is not None and result.work > 0 and result.worker in models:
                sizes, token = claims.setdefault(models[result.worker], {}), tokens.get(result.worker, "")
                claimed = sizes.setdefault(_size(result.work), {})
                work, seconds, number = claimed.get(token, (0.0, 0.0, 0))
                claimed[token] = work + result.work, seconds + result.seconds, number + 1
        sums = {
            model: {size: _agreed(list(claimed.values())) for size, claimed in sizes.items()}
            for model, sizes in claims.items()
        }
        self._models = models
        self._results = {model: sum(number for _, _, number in sizes.values()) for model, sizes in sums.items()}
        self._curves = {model: _curve(sizes) for model, sizes in sums.items()}

    def known(self, model: Hashable, devices: int) -> bool:
        """Whether enough is known of this model, of which a worker has this number of devices."""
        return self._results.get(model, 0) >= min(MIN_ALIKE, devices)

    def seconds(self, model: Hashable, work: float) -> float | None:
        """None: no result of such a device is known."""
        curve = self._curves.get(model)
        if curve is None:
            return None
        place = bisect_left(curve, (work, 0.0))
        if place in (0, len(curve)):
            known, seconds = curve[min(place, len(curve) - 1)]
            return seconds * work / known
        (smaller, shorter), (larger, longer) = curve[place - 1 : place + 1]
        return shorter + (longer - shorter) * (work - smaller) / (larger - smaller)

    def deviation(self, results: Sequence[Arrival]) -> float:
        """Standard deviation of the times of results, relative to what was expected; 1: it is unknown."""
        ratios = []
        for result in results:
            expected = self.seconds(self._models.get(result.worker), result.work)
            if expected and result.seconds is not None:
                ratios.append(result.seconds / expected)
        return statistics.stdev(ratios) if len(ratios) > 1 else 1.0


def _agreed(claims: Sequence[tuple[float, float, int]]) -> tuple[float, float, int]:
    """(work, seconds, number) of all results, at the median of the claimed speeds; ``claims``: by token."""
    if len(claims) == 1:
        return claims[0]
    work, number = sum(claim[0] for claim in claims), sum(claim[2] for claim in claims)
    return work, work * statistics.median_low(seconds / done for done, seconds, _ in claims), number


def _size(work: float) -> int:
    return math.frexp(work)[1]


def _curve(sizes: Mapping[int, tuple[float, float, int]]) -> list[tuple[float, float]]:
    """(work, seconds) of a task of the mean work of each size, both ascending.

    ``sizes``: sums of the work and of the seconds of the results of each size, and their number.
    """
    curve: list[tuple[float, float]] = []
    for size in sorted(sizes, reverse=True):
        work, seconds, number = sizes[size]
        mean = work / number
        if curve:
            larger, longer = curve[-1]
            likely = longer * mean / larger
            curve.append((mean, min(longer, (seconds + ALIKE * likely) / (number + ALIKE))))
        else:
            curve.append((mean, seconds / number))
    return curve[::-1]
