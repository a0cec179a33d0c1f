"""The time that a campaign still takes: arithmetic, without a database.

The tasks that are left are handed out as the ledger does it, the largest first, to the devices that are present.
Each takes as long as recent tasks of its size took on such a device.  While little is done, nothing is said.

An estimate that is made again and again (:class:`Forecast`) moves slowly, and does not rise for small reasons: that
one task took a little longer than others is no news.
"""

from __future__ import annotations

import heapq
import math
import statistics
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from db.files.messages import Time
from db.look.overview.figures import Arrival, Running
from db.look.overview.records import Eta
from langford.speed import LEAST_SHARE

FEWEST_RESULTS = 3
"""Fewer results say nothing, however much of the work they are."""
ENOUGH_RESULTS = 10
"""An estimate means something after LEAST_SHARE of the work, or after this number of results of each device."""
FEWEST_ALIKE = 5
"""Number of results that make the devices of a worker known: the very first are those of its shortest tasks."""
ALIKE = 10
"""Number of tasks of a size whose mean time counts as much as what the next larger size says of them."""
WAITED_SHARE = 0.05
"""While less of the work is done, nothing is said before the devices of all workers are known."""
MOST_RESULTS, MANY_RESULTS = 5_000, 1_000
"""Maximum number of recent results that are read, and how many are read when there are few devices."""
MOST_TASKS = 2_000
"""Up to this many tasks are handed out one by one; the devices share more of them without a rest."""
NINE_OF_TEN = 1.645
"""Standard deviations within which nine of ten values of a normal distribution lie."""
LARGEST_ERROR = 0.9
"""Maximum error of an estimate, relative to it."""
MOST_RISE = 1.25
"""An estimate that is longer than the last one by more than this factor, and a task, is believed at once."""
INERTIA, LEAST_INERTIA_SECONDS = 1 / 60, 2.0
"""In this share of the time left, an estimate goes two thirds of its way to a new one."""


@dataclass(frozen=True)
class Bench:
    """The devices of a worker that is present.

    Attributes:
        worker: the worker.
        model: the kind and the model of its devices: tasks take equally long on equal ones.
        devices: how many tasks it computes at once.
        since: when it came, in seconds since 1970.
        last: when its last result arrived, in seconds since 1970; None: none has.
    """

    worker: str
    model: Hashable
    devices: int
    since: float
    last: float | None


@dataclass(frozen=True)
class Left:
    """The tasks that are left.

    Attributes:
        done: share of the work that is done.
        waiting: (work of a task, number of such tasks) that no worker holds, the largest first.
        running: the running attempts.
    """

    done: float
    waiting: Sequence[tuple[float, int]]
    running: Sequence[Running]


@dataclass(frozen=True)
class Estimate:
    """The time that is left.

    Attributes:
        seconds: from now.
        error: its probable error, relative to it.
        task: seconds that the longest task takes of those that are left.
        workers: whose devices count.
    """

    seconds: float
    error: float
    task: float
    workers: frozenset[str]


def results_wanted(present: Sequence[Bench]) -> int:
    """How many recent results an estimate is made from."""
    return max(MANY_RESULTS, _enough(sum(bench.devices for bench in present)))


def _enough(devices: int) -> int:
    return min(MOST_RESULTS, ENOUGH_RESULTS * devices)


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

    def known(self, bench: Bench) -> bool:
        """Whether enough is known of the devices of a worker."""
        return self._results.get(bench.model, 0) >= min(FEWEST_ALIKE, bench.devices)

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


def estimate(
    now: float, left: Left, results: Sequence[Arrival], models: Mapping[str, Hashable], present: Sequence[Bench]
) -> Estimate | None:
    """The time that is left; None while too little is known.

    Args:
        now: in seconds since 1970.
        left: the tasks that are left.
        results: recent results.
        models: the model of each worker's devices, also of those that left.
        present: the workers that are present.
    """
    times = TaskTimes(results, models)
    able = [bench for bench in present if times.known(bench)]
    devices = sum(bench.devices for bench in able)
    if len(results) < FEWEST_RESULTS or not able or (len(able) < len(present) and left.done < WAITED_SHARE):
        return None
    if left.done < LEAST_SHARE and len(results) < _enough(devices):
        return None
    slowness = _slowness(results, times, able)
    tasks = len(left.running) + sum(number for _, number in left.waiting)
    seconds = _schedule(now, left, times, able, slowness)
    largest = max([*(attempt.work for attempt in left.running), *(work for work, _ in left.waiting)], default=0.0)
    longest = max(times.seconds(model, largest) or 0.0 for model in {bench.model for bench in able})
    error = NINE_OF_TEN * times.deviation(results) * math.sqrt(1 / len(results) + 1 / max(1, tasks))
    return Estimate(seconds, min(LARGEST_ERROR, error), longest, frozenset(bench.worker for bench in able))


def _slowness(results: Sequence[Arrival], times: TaskTimes, able: Sequence[Bench]) -> float:
    """By which factor the devices do less than they compute, because they wait for tasks between short ones.

    It is 1 while few results have come since the last of the workers did: at both ends of this time tasks are under
    way.
    """
    devices, since = sum(bench.devices for bench in able), max(bench.since for bench in able)
    late = [result for result in results if result.at >= since]
    if len(late) < _enough(devices):
        return 1.0
    elapsed = max(result.at for result in late) - min(result.at for result in late)
    computed = sum(result.seconds for result in late if result.seconds is not None)
    return max(1.0, devices * elapsed / computed) if computed else 1.0


def _schedule(now: float, left: Left, times: TaskTimes, able: Sequence[Bench], slowness: float) -> float:
    """Seconds until the last task is done, if the devices take them as they become free."""
    held: dict[str, list[Running]] = {}
    others: dict[float, int] = {}
    known = {bench.worker for bench in able}
    seen: set[int] = set()
    for attempt in sorted(left.running, key=lambda attempt: (not attempt.has_begun, attempt.granted)):
        if attempt.task in seen:
            continue  # a copy of a task that another worker holds
        seen.add(attempt.task)
        if attempt.worker in known:
            held.setdefault(attempt.worker, []).append(attempt)
        else:
            others[attempt.work] = others.get(attempt.work, 0) + 1
    for work, number in left.waiting:
        others[work] = others.get(work, 0) + number
    waiting, tasks = sorted(others.items(), reverse=True), sum(others.values())
    busy = [_ends(now, bench, held.get(bench.worker, []), times, slowness) for bench in able]
    if tasks > MOST_TASKS:
        return _shared(now, [end for ends in busy for end in ends], waiting, times, able, slowness)
    free: list[tuple[float, int]] = []
    for place, (bench, ends) in enumerate(zip(able, busy, strict=True)):
        # More idle devices than tasks get none; a worker may name any number of devices.
        idle = min(bench.devices - len(ends), tasks)
        tasks -= idle
        free += [(end, place) for end in (*ends, *[now] * idle)]
    heapq.heapify(free)
    last = max((end for end, _ in free), default=now)
    for work, number in waiting:
        for _ in range(number):
            begin, place = heapq.heappop(free)
            end = begin + slowness * (times.seconds(able[place].model, work) or 0.0)
            last = max(last, end)
            heapq.heappush(free, (end, place))
    return last - now


def _ends(now: float, bench: Bench, held: Sequence[Running], times: TaskTimes, slowness: float) -> list[float]:
    """When each device of a worker that has a task will have computed the tasks that the worker holds.

    Its first tasks are being computed: on one device since the last result arrived, on several since times that are
    spread evenly before that.
    """
    ends: list[float] = []
    for number, attempt in enumerate(held):
        seconds = slowness * (times.seconds(bench.model, attempt.work) or 0.0)
        if number >= bench.devices:
            heapq.heapreplace(ends, ends[0] + seconds)
            continue
        ago = bench.last - seconds * number / bench.devices if bench.last is not None else None
        begin = now if ago is None and not attempt.has_begun else max(attempt.granted, ago or 0.0)
        heapq.heappush(ends, max(now, begin + seconds))
    return ends


def _shared(
    now: float,
    busy: Sequence[float],
    waiting: Sequence[tuple[float, int]],
    times: TaskTimes,
    able: Sequence[Bench],
    slowness: float,
) -> float:
    """Seconds until very many tasks are done: each device does its share without a rest.

    ``busy``: when the devices that have tasks will have computed them.
    """
    devices: Counter[Hashable] = Counter()
    for bench in able:
        devices[bench.model] += bench.devices
    seconds = sum(end - now for end in busy) / devices.total()
    for work, number in waiting:
        each = [(many, times.seconds(model, work)) for model, many in devices.items()]
        together = sum(many / one for many, one in each if one)
        seconds += slowness * number / together if together else 0.0
    return seconds


class Forecast:
    """The estimates of one campaign, one after the other, by everyone who asks in this process."""

    def __init__(self) -> None:
        self._last: Estimate | None = None
        self._at = 0.0

    def eta(self, now: float, found: Estimate | None) -> Eta | None:
        """When the campaign will be done, by the newest estimate, and by the last one if the workers are the same.

        Args:
            now: in seconds since 1970.
            found: the newest estimate; None: there is none.
        """
        last, self._last = self._last, found
        if found is None:
            return None
        seconds = found.seconds
        if last is not None and last.workers == found.workers and seconds <= MOST_RISE * last.seconds + found.task:
            passed = max(0.0, now - self._at)
            expected = max(0.0, last.seconds - passed)
            step = 1 - math.exp(-passed / max(LEAST_INERTIA_SECONDS, INERTIA * last.seconds))
            seconds = min(last.seconds, expected + step * (seconds - expected))
        self._last, self._at = replace(found, seconds=seconds), now
        return Eta(seconds, Time(now + seconds / (1 + found.error)), Time(now + seconds / (1 - found.error)))
