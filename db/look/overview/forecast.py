"""When a campaign will be done, estimated from the times of its recent tasks and a schedule of those that are left.

While little is done, nothing is said.  An estimate that is made again and again (:class:`SteadyEta`) moves slowly,
and does not rise for small reasons: that one task took a little longer than others is no news.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from db.look.figures.speeds import Arrival
from db.look.overview import schedule
from db.look.overview.records import Eta
from db.look.overview.schedule import DeviceGroup, Remaining
from db.messages import Time
from langford.methods.observed import OUTLIER, credible, size_of
from langford.words import MIN_SHARE

MIN_RESULTS = 3
"""Fewer results say nothing, however much of the work they are."""
ENOUGH_RESULTS = 10
"""An estimate means something after MIN_SHARE of the work, or after this number of results of each device."""
WAITED_SHARE = 0.05
"""While less of the work is done, nothing is said before the devices of all workers are known."""
MAX_RESULTS, MANY_RESULTS = 5_000, 1_000
"""Maximum number of recent results that are read, and how many are read when there are few devices."""
NINE_OF_TEN = 1.645
"""Standard deviations within which nine of ten values of a normal distribution lie."""
MIN_ERROR, MAX_ERROR = 0.15, 0.9
"""Bounds of the probable error of an estimate, relative to the time that is left.  Tasks that follow one another
differ from the others together, so that many results do not make it smaller."""
MAX_RISE = 1.25
"""An estimate that is longer than the last one by more than this factor, and a task, is believed at once."""
INERTIA, MIN_INERTIA_SECONDS = 1 / 60, 2.0
"""Time constant of the smoothing, as a share of the time left, and at least in seconds."""
NO_TOKENS: Mapping[str, str] = MappingProxyType({})
MIN_ALIKE = 5
"""Number of results that make the devices of a worker known: the very first are those of its shortest tasks."""
ALIKE = 3
"""Number of tasks of a size whose mean time counts as much as what the next larger size says of them.  It is small:
the last tasks of a recorded campaign take 2.2 times as long as the larger ones say."""


@dataclass(frozen=True)
class TimeLeft:
    """The time that is left."""

    seconds: float
    error: float  # its probable error, relative to the time that is left
    task: float  # seconds that the longest task takes of those that are left
    workers: frozenset[str]  # whose devices count


def results_wanted(present: Sequence[DeviceGroup]) -> int:
    return max(MANY_RESULTS, _enough(sum(group.devices for group in present)))


def _enough(devices: int) -> int:
    return min(MAX_RESULTS, ENOUGH_RESULTS * devices)


def estimate(
    now: float,
    remaining: Remaining,
    results: Sequence[Arrival],
    models: Mapping[str, Hashable],
    present: Sequence[DeviceGroup],
    tokens: Mapping[str, str] = NO_TOKENS,
) -> TimeLeft | None:
    """The time that is left; None while too little is known.

    ``models``: the model of each worker's devices, also of those that left.
    """
    times = TaskTimes(results, models, tokens)
    able = [group for group in present if times.known(group.model, group.devices)]
    devices = sum(group.devices for group in able)
    if len(results) < MIN_RESULTS or not able or (len(able) < len(present) and remaining.done < WAITED_SHARE):
        return None
    if remaining.done < MIN_SHARE and len(results) < _enough(devices):
        return None
    overhead = _overhead(results, able)
    tasks = len(remaining.running) + sum(number for _, number in remaining.waiting)

    def seconds(model: Hashable, work: float) -> float:
        return overhead * (times.seconds(model, work) or 0.0)

    works = [*(attempt.work for attempt in remaining.running), *(work for work, _ in remaining.waiting)]
    largest = max(works, default=0.0)
    longest = max(times.seconds(model, largest) or 0.0 for model in {group.model for group in able})
    left = schedule.seconds_to_last(now, remaining, able, seconds)
    chance = NINE_OF_TEN * times.deviation(results) * math.sqrt(1 / len(results) + 1 / max(1, tasks))
    error = min(MAX_ERROR, max(MIN_ERROR, chance, longest / left if left else 0.0))
    return TimeLeft(left, error, longest, frozenset(group.worker for group in able))


def _overhead(results: Sequence[Arrival], able: Sequence[DeviceGroup]) -> float:
    """By which factor the devices do less than they compute, because they wait for tasks between short ones.

    It is 1 while few results have come since the last of the workers did: at both ends of this time tasks are under
    way.
    """
    devices, since = sum(group.devices for group in able), max(group.since for group in able)
    late = [result for result in results if result.at >= since]
    if len(late) < _enough(devices):
        return 1.0
    elapsed = max(result.at for result in late) - min(result.at for result in late)
    computed = sum(result.seconds for result in late if result.seconds is not None)
    return max(1.0, devices * elapsed / computed) if computed else 1.0


class SteadyEta:
    """The estimates of one campaign, one after the other, by everyone who asks in this process."""

    def __init__(self) -> None:
        self._last: TimeLeft | None = None
        self._at = 0.0

    def eta(self, now: float, found: TimeLeft | None) -> Eta | None:
        """By the newest estimate, and by the last one if the workers are the same."""
        last, self._last = self._last, found
        if found is None:
            return None
        seconds = found.seconds
        if last is not None and last.workers == found.workers and seconds <= MAX_RISE * last.seconds + found.task:
            passed = max(0.0, now - self._at)
            expected = max(0.0, last.seconds - passed)
            step = 1 - math.exp(-passed / max(MIN_INERTIA_SECONDS, INERTIA * last.seconds))
            seconds = min(last.seconds, expected + step * (seconds - expected))
        self._last, self._at = replace(found, seconds=seconds), now
        return Eta(seconds, Time(now + seconds / (1 + found.error)), Time(now + seconds / (1 - found.error)))


class TaskTimes:
    """How long tasks take on each model of a device, by their size: sizes that differ by less than 2 are alike."""

    def __init__(
        self, results: Sequence[Arrival], models: Mapping[str, Hashable], tokens: Mapping[str, str] = NO_TOKENS
    ) -> None:
        """Of the times that several tokens claim for a size, the median counts, so that no one decides alone.

        Times far beyond the others of a token do not count, see :func:`langford.methods.observed.credible`.
        """
        told: dict[tuple[Hashable, str], list[tuple[float, float]]] = {}
        for result in results:
            if result.seconds is not None and result.work > 0 and result.worker in models:
                source = models[result.worker], tokens.get(result.worker, "")
                told.setdefault(source, []).append((result.work, result.seconds))
        claims: dict[Hashable, dict[int, dict[str, tuple[float, float, int]]]] = {}
        for (model, token), tasks in told.items():
            for done, took in credible(tasks):
                claimed = claims.setdefault(model, {}).setdefault(size_of(done), {})
                work, seconds, number = claimed.get(token, (0.0, 0.0, 0))
                claimed[token] = work + done, seconds + took, number + 1
        sums = {
            model: {size: _agreed(list(claimed.values())) for size, claimed in sizes.items()}
            for model, sizes in claims.items()
        }
        self._models = models
        self._results = {model: sum(number for _, _, number in sizes.values()) for model, sizes in sums.items()}
        self._curves = {model: _curve(sizes) for model, sizes in sums.items()}
        # Most of a campaign's tasks have the work of another one.
        self.seconds = cache(self._seconds)

    def known(self, model: Hashable, devices: int) -> bool:
        """Whether enough is known of this model, of which a worker has this number of devices."""
        return self._results.get(model, 0) >= min(MIN_ALIKE, devices)

    def _seconds(self, model: Hashable, work: float) -> float | None:
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
            if expected and result.seconds is not None and result.seconds <= OUTLIER * expected:
                ratios.append(result.seconds / expected)
        return statistics.stdev(ratios) if len(ratios) > 1 else 1.0


def _agreed(claims: Sequence[tuple[float, float, int]]) -> tuple[float, float, int]:
    """(work, seconds, number) of all results, at the median of the claimed speeds; ``claims``: by token."""
    if len(claims) == 1:
        return claims[0]
    work, number = sum(claim[0] for claim in claims), sum(claim[2] for claim in claims)
    return work, work * statistics.median_low(seconds / done for done, seconds, _ in claims), number


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
