"""When the devices that are present will have computed all tasks, if they take them as they become free.

This is list scheduling: the ledger leases the largest tasks first, to whichever device becomes free first.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from db.look.figures.speeds import RunningAttempt

Seconds = Callable[[Hashable, float], float]
"""How long a device of a model takes for a task of some work."""
MAX_TASKS = 2_000
"""Up to this many tasks are scheduled one by one; of more of them each device computes its share without a rest."""


@dataclass(frozen=True)
class DeviceGroup:
    """The devices of a worker that is present."""

    worker: str
    model: Hashable  # the kind and the model of its devices: tasks take equally long on equal ones
    devices: int  # how many tasks it computes at once
    since: float


@dataclass(frozen=True)
class Remaining:
    done: float
    # (work of a task, number of such tasks) that no worker holds, the largest first
    waiting: Sequence[tuple[float, int]]
    running: Sequence[RunningAttempt]


def seconds_to_last(now: float, remaining: Remaining, groups: Sequence[DeviceGroup], seconds: Seconds) -> float:
    held: dict[str, list[RunningAttempt]] = {}
    others: dict[float, int] = {}
    known = {group.worker for group in groups}
    seen: set[int] = set()
    for attempt in sorted(remaining.running, key=lambda attempt: (not attempt.computed, attempt.granted)):
        if attempt.task in seen:
            continue  # a copy of a task that another worker holds
        seen.add(attempt.task)
        if attempt.worker in known:
            held.setdefault(attempt.worker, []).append(attempt)
        else:
            others[attempt.work] = others.get(attempt.work, 0) + 1
    for work, number in remaining.waiting:
        others[work] = others.get(work, 0) + number
    waiting, tasks = sorted(others.items(), reverse=True), sum(others.values())
    busy = [_ends(now, group, held.get(group.worker, []), seconds) for group in groups]
    if tasks > MAX_TASKS:
        return _evenly_shared(now, [end for ends in busy for end in ends], waiting, groups, seconds)
    free: list[tuple[float, int]] = []
    for place, (group, ends) in enumerate(zip(groups, busy, strict=True)):
        # Idle devices beyond the number of tasks get none: a worker may state any number of devices.
        idle = min(group.devices - len(ends), tasks)
        tasks -= idle
        free += [(end, place) for end in (*ends, *[now] * idle)]
    heapq.heapify(free)
    last = max((end for end, _ in free), default=now)
    for work, number in waiting:
        for _ in range(number):
            begin, place = heapq.heappop(free)
            end = begin + seconds(groups[place].model, work)
            last = max(last, end)
            heapq.heappush(free, (end, place))
    return last - now


def _ends(now: float, group: DeviceGroup, held: Sequence[RunningAttempt], seconds: Seconds) -> list[float]:
    """When each device of a worker that has a task will have computed the tasks that the worker holds.

    Its first tasks are being computed: those of which it has not said so yet, since some time after it was heard.
    """
    ends: list[float] = []
    for number, attempt in enumerate(held):
        takes = seconds(group.model, attempt.work)
        if number >= group.devices:
            heapq.heapreplace(ends, ends[0] + takes)
            continue
        since = attempt.renewed - attempt.computed if attempt.computed else (attempt.renewed + now) / 2
        heapq.heappush(ends, max(now, since + takes))
    return ends


def _evenly_shared(
    now: float,
    busy: Sequence[float],
    waiting: Sequence[tuple[float, int]],
    groups: Sequence[DeviceGroup],
    seconds: Seconds,
) -> float:
    """Seconds until very many tasks are done: each device does its share without a rest.

    ``busy``: when the devices that have tasks will have computed them.
    """
    devices: Counter[Hashable] = Counter()
    for group in groups:
        devices[group.model] += group.devices
    total = sum(end - now for end in busy) / devices.total()
    for work, number in waiting:
        each = [(count, seconds(model, work)) for model, count in devices.items()]
        tasks_per_second = sum(count / one for count, one in each if one)
        total += number / tasks_per_second if tasks_per_second else 0.0
    return total
