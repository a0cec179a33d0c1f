"""The estimate of the time left, against campaigns of which it is known how long they took."""

from __future__ import annotations

import heapq
import random
import tracemalloc
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from db import read_export
from db.look.overview.figures import Arrival, Running, arrivals_of_late
from db.look.overview.time_left.forecast import ENOUGH_RESULTS, Forecast, estimate, results_wanted
from db.look.overview.time_left.schedule import DeviceGroup, Remaining
from db.look.overview.time_left.task_times import FEWEST_ALIKE
from langford.methods import plan_of
from langford.speed import LEAST_SHARE

RECORDED = Path(__file__).parents[2] / "jobs" / "campaigns"
LOOKS = 200
START = 1_750_000_000.0
NEVER = float("inf")


@dataclass(frozen=True)
class Machine:
    """A worker of a replayed campaign.

    Attributes:
        name: the worker.
        model: the model of its devices.
        devices: how many tasks it computes at once.
        slowness: by which it takes longer than the fastest device.
        comes, leaves: in seconds after the start of the campaign.
        pause: seconds between two tasks of a device.
    """

    name: str
    model: str
    devices: int
    slowness: float
    comes: float = 0.0
    leaves: float = NEVER
    pause: float = 0.0


@dataclass(frozen=True)
class Computed:
    """A task that a device took; its result never came when the machine left before that."""

    task: int
    machine: Machine
    granted: float
    began: float
    ended: float

    @property
    def brought(self) -> bool:
        return self.ended <= self.machine.leaves


@dataclass(frozen=True)
class Course:
    """A whole campaign.

    Attributes:
        work: of each task.
        machines: who takes part.
        computed: what they took, by the time at which its computing ended.
    """

    work: Sequence[float]
    machines: Sequence[Machine]
    computed: Sequence[Computed]

    @property
    def end(self) -> float:
        return max(one.ended for one in self.computed if one.brought)

    def remaining(self, now: float) -> Remaining:
        done = {one.task for one in self.computed if one.brought and one.ended <= now}
        held = [one for one in self.computed if one.granted <= now < min(one.ended, one.machine.leaves)]
        waiting = Counter(self.work)
        waiting.subtract(self.work[task] for task in [*done, *(one.task for one in held)])
        running = [
            Running(one.task, one.machine.name, self.work[one.task], False, START + one.granted, True, 120.0)
            for one in held
        ]
        share = sum(self.work[task] for task in done) / sum(self.work)
        return Remaining(share, sorted(((size, n) for size, n in waiting.items() if n), reverse=True), running)

    def arrivals(self) -> list[Arrival]:
        return [
            Arrival(one.machine.name, START + one.ended, self.work[one.task], one.ended - one.began)
            for one in self.computed
            if one.brought
        ]

    def present(self, now: float) -> list[DeviceGroup]:
        groups = []
        for machine in self.machines:
            if machine.comes <= now < machine.leaves:
                ends = [one.ended for one in self.computed if one.machine is machine and one.ended <= now]
                last = START + max(ends) if ends else None
                groups.append(
                    DeviceGroup(machine.name, machine.model, machine.devices, START + machine.comes, last)
                )
        return groups


def course(work: Sequence[float], seconds: Callable[[int], float], machines: Sequence[Machine]) -> Course:
    """The campaign, its largest tasks first; each device holds one more task than it computes.

    Args:
        work: of each task.
        seconds: how long a task takes on the fastest device.
        machines: who takes part.
    """
    ready = [(-size, task) for task, size in enumerate(work)]
    heapq.heapify(ready)
    computed: list[Computed] = []
    free = [
        (machine.comes, place, device)
        for place, machine in enumerate(machines)
        for device in range(machine.devices)
    ]
    granted = dict.fromkeys(((place, device) for _, place, device in free), 0.0)
    heapq.heapify(free)
    while ready and free:
        now, place, device = heapq.heappop(free)
        machine = machines[place]
        if now >= machine.leaves:
            continue
        task = heapq.heappop(ready)[1]
        ended = now + seconds(task) * machine.slowness
        computed.append(Computed(task, machine, max(granted[place, device], machine.comes), now, ended))
        granted[place, device] = now
        if ended > machine.leaves:
            heapq.heappush(ready, (-work[task], task))
        else:
            heapq.heappush(free, (ended + machine.pause, place, device))
    return Course(work, machines, sorted(computed, key=lambda one: one.ended))


@dataclass(frozen=True)
class Look:
    """What is shown at a time, and how long the campaign took from there, with the workers of that time.

    ``known``: whether all of them have brought results.
    """

    now: float
    done: float
    results: int
    shown: float | None
    true: float
    workers: frozenset[str]
    known: bool


def looks(work: Sequence[float], seconds: Callable[[int], float], machines: Sequence[Machine]) -> Iterator[Look]:
    """What is shown of a campaign, at equal distances of a clock that is moved."""
    whole, forecast = course(work, seconds, machines), Forecast()
    arrivals = whole.arrivals()
    times = [arrival.at for arrival in arrivals]
    models = {machine.name: machine.model for machine in machines}
    ends = {}
    for number in range(LOOKS):
        now = whole.end * number / LOOKS
        # Nobody knows who will come or leave.
        known = tuple(replace(m, leaves=NEVER) if m.leaves > now else m for m in machines if m.comes <= now)
        if known not in ends:
            ends[known] = course(work, seconds, known).end
        past = arrivals[: bisect_right(times, START + now)]
        present, left = whole.present(now), whole.remaining(now)
        _, recent = arrivals_of_late(START + now, START, lambda since, known=past: known, results_wanted(present))
        eta = forecast.eta(START + now, estimate(START + now, left, recent, models, present))
        shown = None if eta is None else eta.seconds
        brought = Counter(models[arrival.worker] for arrival in past)
        met = all(brought[group.model] >= min(FEWEST_ALIKE, group.devices) for group in present)
        who = frozenset(group.worker for group in present)
        yield Look(now, left.done, len(past), shown, ends[known] - now, who, met)


Tasks = tuple[list[float], Callable[[int], float]]


def recorded(name: str) -> Tasks:
    """Work and times of the tasks of a campaign, as its export has them."""
    export = read_export(RECORDED / f"{name}.jsonl.gz")
    seconds = {evaluation.result.index: evaluation.seconds for evaluation in export.results}
    return plan_of(export.key).work.tolist(), seconds.__getitem__


def made(tasks: int, spread: float, overhead: float, noise: float) -> Tasks:
    """Tasks whose sizes differ by a factor, each with a time of its own besides that of its work."""
    chance = random.Random(tasks)
    work = [1e9 * spread ** chance.random() for _ in range(tasks)]
    seconds = [(overhead + size / 1e9) * max(0.2, chance.gauss(1.0, noise)) for size in work]
    return work, seconds.__getitem__


GPU, CORES = Machine("gpu", "a GPU", 1, 1.0), Machine("cores", "a processor", 8, 9.0)
CAMPAIGNS = {
    "recorded": (lambda: recorded("langford-28-polyphase-16"), [replace(GPU, devices=2)]),
    "two kinds": (lambda: recorded("hooked-skolem-27-polyphase-14"), [replace(GPU, devices=2), CORES]),
    "one that leaves": (
        lambda: made(600, 16.0, 0.3, 0.15),
        [GPU, CORES, replace(CORES, name="other", leaves=150.0)],
    ),
    "one that comes": (lambda: made(600, 4.0, 0.1, 0.1), [CORES, replace(GPU, comes=200.0)]),
    "two cores": (lambda: made(258, 2.0, 0.0, 0.2), [Machine("here", "a core", 2, 1.0)]),
    "short tasks": (lambda: made(2400, 1.0, 0.0, 0.1), [Machine("here", "a core", 2, 0.01, pause=0.01)]),
}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_the_time_left_is_right_and_falls(name: str) -> None:
    tasks, machines = CAMPAIGNS[name]
    work, seconds = tasks()
    longest = max(map(seconds, range(len(work)))) * max(machine.slowness for machine in machines)
    before: Look | None = None
    shown = 0
    for look in looks(work, seconds, machines):
        if look.shown is None:
            assert look.done < 0.05, look
            continue
        assert look.done >= LEAST_SHARE or look.results >= ENOUGH_RESULTS, look
        shown += 1
        if look.done >= 0.05 and look.known:
            assert abs(look.shown - look.true) <= max(0.15 * look.true, longest), look
        if (
            before is not None
            and before.shown is not None
            and (before.workers, before.known)
            == (
                look.workers,
                look.known,
            )
        ):
            assert look.shown <= before.shown, look
        before = look
    assert shown > 0.85 * LOOKS


def test_a_worker_that_names_any_number_of_devices_costs_no_memory() -> None:
    groups = [
        DeviceGroup(name, "a core", devices, START, None) for name, devices in (("honest", 2), ("liar", 1_000_000))
    ]
    results = [Arrival("honest", START + at, 1.0, 2.0) for at in range(20)]
    running = [Running(task, "liar", 1.0, False, START, True, 60.0) for task in range(3)]
    for tasks in (7, 5_000):
        tracemalloc.start()
        found = estimate(START + 20, Remaining(0.5, [(1.0, tasks)], running), results, {"honest": "a core"}, groups)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found is not None
        assert peak < 1_000_000


class Compared(float):
    """A work that counts how often it is compared."""

    times = 0

    def __gt__(self, other: float) -> bool:
        Compared.times += 1
        return float(self) > float(other)


def test_the_largest_task_is_looked_up_once_for_all_workers() -> None:
    groups = [DeviceGroup(str(number), "a core", 1, START, None) for number in range(200)]
    models = {group.worker: group.model for group in groups}
    results = [Arrival("0", START + at, 1.0, 2.0) for at in range(20)]
    running = [Running(number, str(number), Compared(1.0), False, START, True, 60.0) for number in range(200)]
    Compared.times = 0
    assert estimate(START + 20, Remaining(0.5, [], running), results, models, groups) is not None
    assert Compared.times < 10 * len(running)
