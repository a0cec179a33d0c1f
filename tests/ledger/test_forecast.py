"""The estimate of the time left, against replays of campaigns of which it is known how long their tasks took."""

from __future__ import annotations

import heapq
import math
import random
import tracemalloc
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from db import read_export
from db.look.figures.speeds import Arrival, RunningAttempt, arrivals_of_late
from db.look.overview.forecast import ENOUGH_RESULTS, MIN_ALIKE, SteadyEta, TimeLeft, estimate, results_wanted
from db.look.overview.schedule import DeviceGroup, Remaining, seconds_to_last
from jobs.run.source import RENEWAL_SECONDS
from langford.methods import plan_of
from langford.words import MIN_SHARE
from tests.support.cases import few

RECORDED = Path(__file__).parents[2] / "jobs" / "campaigns"
LOOKS = 40
START = 1_750_000_000.0
NEVER = float("inf")


@dataclass(frozen=True)
class Machine:
    """A worker of a replayed campaign; times in seconds after the start."""

    name: str
    model: str
    devices: int  # how many tasks it computes at once
    slowness: float  # by which it takes longer than the fastest device
    comes: float = 0.0
    leaves: float = NEVER
    pause: float = 0.0  # between two tasks of a device


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
    """A whole campaign."""

    work: Sequence[float]  # of each task, in the order in which they are leased
    machines: Sequence[Machine]
    computed: Sequence[Computed]  # by the time at which its computing ended

    @property
    def end(self) -> float:
        return max(one.ended for one in self.computed if one.brought)

    def done(self, now: float) -> set[int]:
        return {one.task for one in self.computed if one.brought and one.ended <= now}

    def remaining(self, now: float) -> Remaining:
        done = self.done(now)
        held = [one for one in self.computed if one.granted <= now < min(one.ended, one.machine.leaves)]
        waiting = Counter(self.work)
        waiting.subtract(self.work[task] for task in [*done, *(one.task for one in held)])
        running = [self.running(one, now) for one in held]
        share = sum(self.work[task] for task in done) / sum(self.work)
        return Remaining(share, sorted(((size, n) for size, n in waiting.items() if n), reverse=True), running)

    def running(self, one: Computed, now: float) -> RunningAttempt:
        """As its worker last said, when it renewed the lease."""
        renewed = max(one.granted, now - (now - one.machine.comes) % RENEWAL_SECONDS)
        times = START + one.granted, START + renewed, max(0.0, renewed - one.began)
        return RunningAttempt(one.task, one.machine.name, self.work[one.task], False, *times, 120.0)

    def sizes_are_known(self, now: float) -> bool:
        """Whether enough tasks are done of each size, or none is left."""
        done = self.done(now)
        results = Counter(math.frexp(self.work[task])[1] for task in done)
        left = {math.frexp(work)[1] for task, work in enumerate(self.work) if task not in done}
        return all(results[size] >= ENOUGH_RESULTS for size in left)

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
                groups.append(DeviceGroup(machine.name, machine.model, machine.devices, START + machine.comes))
        return groups


def course(work: Sequence[float], seconds: Sequence[float], machines: Sequence[Machine]) -> Course:
    """The campaign; each device holds one more task than it computes.  ``seconds``: on the fastest device."""
    ready = list(range(len(work)))
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
        task = heapq.heappop(ready)
        ended = now + seconds[task] * machine.slowness
        computed.append(Computed(task, machine, max(granted[place, device], machine.comes), now, ended))
        granted[place, device] = now
        if ended > machine.leaves:
            heapq.heappush(ready, task)
        else:
            heapq.heappush(free, (ended + machine.pause, place, device))
    return Course(work, machines, sorted(computed, key=lambda one: one.ended))


def test_an_estimate_that_grows_by_one_task_is_no_new_one() -> None:
    """Near the end it grows by the length of a task: of more, or of other workers, the estimate starts anew."""

    def eta_after(seconds: float, workers: str) -> float | None:
        forecast = SteadyEta()
        forecast.eta(0.0, TimeLeft(10.0, 0.5, 60.0, frozenset("a")))
        found = forecast.eta(1.0, TimeLeft(seconds, 0.5, 60.0, frozenset(workers)))
        return None if found is None else found.seconds

    assert eta_after(1.25 * 10 + 60, "a") == 10.0
    assert eta_after(1.25 * 10 + 61, "a") == 73.5
    assert eta_after(30.0, "b") == 30.0


@dataclass(frozen=True)
class Look:
    """What is shown at a time, and how long the campaign took from there, with the workers of that time."""

    done: float  # share of the work
    results: int
    shown: float | None  # the time left; None: nothing is shown
    spanned: bool  # whether the campaign ends between the earliest and the latest time that are shown
    true: float  # the time left
    whole: float  # the time of the campaign
    workers: frozenset[str]  # who is here
    known: bool  # whether all of them have brought results
    sizes: bool  # see Course.sizes_are_known


def looks(work: Sequence[float], seconds: Sequence[float], machines: Sequence[Machine]) -> Iterator[Look]:
    """What is shown of a campaign, at equal distances of a clock that is moved."""
    whole, forecast = course(work, seconds, machines), SteadyEta()
    arrivals = whole.arrivals()
    times = [arrival.at for arrival in arrivals]
    models = {machine.name: machine.model for machine in machines}
    ends, until = {}, whole.end
    for number in range(LOOKS):
        now = until * number / LOOKS
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
        met = all(brought[group.model] >= min(MIN_ALIKE, group.devices) for group in present)
        who = frozenset(group.worker for group in present)
        end = ends[known]
        spanned = eta is not None and eta.earliest <= START + end <= eta.latest
        sizes = whole.sizes_are_known(now)
        yield Look(left.done, len(past), shown, spanned, end - now, end, who, met, sizes)


Tasks = tuple[list[float], list[float]]
"""Work and seconds of the tasks of a campaign, in the order in which they are leased."""


def recorded(name: str) -> Tasks:
    """A campaign as its export has it, in the order of its leases; where that is unknown, in the ledger's order."""
    export = read_export(RECORDED / f"{name}.jsonl.gz")
    seconds = {evaluation.result.index: evaluation.seconds for evaluation in export.results}
    work, times = plan_of(export.key).work.tolist(), export.computations
    order = sorted(seconds, key=lambda task: (times[task].granted if times else 0.0, -work[task], -task))
    return [work[task] for task in order], [seconds[task] for task in order]


def made(tasks: int, spread: float, overhead: float, noise: float) -> Tasks:
    """Tasks whose sizes differ by a factor, each with a time of its own besides that of its work."""
    chance = random.Random(tasks)
    work = sorted((1e9 * spread ** chance.random() for _ in range(tasks)), reverse=True)
    return work, [(overhead + size / 1e9) * max(0.2, chance.gauss(1.0, noise)) for size in work]


GPU, CORES = Machine("gpu", "a GPU", 1, 1.0), Machine("cores", "a processor", 8, 9.0)
CAMPAIGNS: dict[str, tuple[Callable[[], Tasks], list[Machine]]] = {
    "two kinds": (lambda: recorded("hooked-skolem-27-polyphase-14"), [replace(GPU, devices=2), CORES]),
    "one that leaves": (
        lambda: made(600, 16.0, 0.3, 0.15),
        [GPU, CORES, replace(CORES, name="other", leaves=150.0)],
    ),
    "one that comes": (lambda: made(600, 4.0, 0.1, 0.1), [CORES, replace(GPU, comes=200.0)]),
    "two cores": (lambda: made(258, 2.0, 0.0, 0.2), [Machine("here", "a core", 2, 1.0)]),
    "short tasks": (lambda: made(2400, 1.0, 0.0, 0.1), [Machine("here", "a core", 2, 0.01, pause=0.01)]),
}
MAX_DEVICES = {
    "hooked-skolem-26-polyphase-12": 4,
    "hooked-skolem-26-shifted-6": 2,
    "hooked-skolem-27-polyphase-14": 8,
    "hooked-skolem-27-shifted2-12": 16,
    "langford-27-polyphase-16": 16,
    "langford-27-shifted-10": 16,
    "langford-28-polyphase-16": 16,
    "langford-28-shifted-12": 16,
}
"""The complete campaigns of 64 tasks or more that had their GPUs to themselves, and the largest farms, of 16
devices at most, in which each gets 32 tasks.  Where each gets fewer, the first results are those of the shortest
tasks: on 32 devices L(2,27) by ``polyphase`` is 25% too short at 5% of the work."""
CAMPAIGNS |= {
    f"{name} on {most}": (partial(recorded, name), [replace(GPU, devices=most)])
    for name, most in MAX_DEVICES.items()
}


@pytest.mark.parametrize("name", few(CAMPAIGNS, 6))
def test_the_time_left_is_right_and_falls(name: str) -> None:
    """From 5% of the work on, it is within 15%, or the time of a task, if enough tasks of each size are done.

    The largest tasks are computed first, and nothing but its own results tells how long a smaller size takes for
    its work: in recorded campaigns 0.9 to 1.3 times as long as the next larger one, and 2.2 times in the last 36
    tasks of L(2,28) by ``shifted``.  No estimate from the results of a campaign can know that before.  So 15% of
    the time left is too strict a bound while such tasks are left: with 9% of its time left L(2,27) by ``polyphase``
    is 23% too short, and with 4% left L(2,28) by ``shifted`` 63%.  What holds is 2% of the whole time beyond the
    15%.  Only then does it rise, as it proves to be too short.
    """
    tasks, machines = CAMPAIGNS[name]
    work, seconds = tasks()
    longest = max(seconds) * max(machine.slowness for machine in machines)
    before: Look | None = None
    shown = spanned = 0
    for look in looks(work, seconds, machines):
        if look.shown is None:
            assert look.done < 0.05, look
            continue
        assert look.done >= MIN_SHARE or look.results >= ENOUGH_RESULTS, look
        shown += 1
        spanned += look.spanned
        if look.done >= 0.05 and look.known:
            bound = max(0.15 * look.true, longest) + (0.0 if look.sizes else 0.02 * look.whole)
            assert abs(look.shown - look.true) <= bound, look
        if (
            before is not None
            and before.shown is not None
            and before.sizes
            and (before.workers, before.known) == (look.workers, look.known)
        ):
            assert look.shown <= before.shown, look
        before = look
    assert shown > 0.85 * LOOKS
    # Nine times out of ten is said, and is 97% of all looks together; the worst campaign has 78%.
    assert spanned > 0.75 * shown


def test_a_worker_that_names_any_number_of_devices_costs_no_memory() -> None:
    groups = [DeviceGroup(name, "a core", devices, START) for name, devices in (("honest", 2), ("liar", 1_000_000))]
    results = [Arrival("honest", START + at, 1.0, 2.0) for at in range(20)]
    running = [RunningAttempt(task, "liar", 1.0, False, START, START, 0.0, 60.0) for task in range(3)]
    for tasks in (7, 5_000):
        tracemalloc.start()
        found = estimate(START + 20, Remaining(0.5, [(1.0, tasks)], running), results, {"honest": "a core"}, groups)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found is not None
        assert peak < 1_000_000


def test_a_copy_of_a_task_takes_no_time_of_its_own() -> None:
    """Two workers hold one task, and then one each: what waits begins when a device of theirs is free."""
    groups = [DeviceGroup(name, "a core", 1, START) for name in "ab"]
    for second, left in ((0, 10.0), (1, 20.0)):
        running = [
            RunningAttempt(task, worker, 10.0, False, START, START, 0.0, 60.0)
            for task, worker in ((0, "a"), (second, "b"))
        ]
        remaining = Remaining(0.5, [(10.0, 1)], running)
        assert seconds_to_last(START, remaining, groups, lambda model, work: work) == left


class Compared(float):
    """A work that counts how often it is compared."""

    times = 0

    def __gt__(self, other: float) -> bool:
        Compared.times += 1
        return float(self) > float(other)


def test_the_largest_task_is_looked_up_once_for_all_workers() -> None:
    groups = [DeviceGroup(str(number), "a core", 1, START) for number in range(200)]
    models = {group.worker: group.model for group in groups}
    results = [Arrival("0", START + at, 1.0, 2.0) for at in range(20)]
    running = [
        RunningAttempt(number, str(number), Compared(1.0), False, START, START, 0.0, 60.0) for number in range(200)
    ]
    Compared.times = 0
    assert estimate(START + 20, Remaining(0.5, [], running), results, models, groups) is not None
    assert Compared.times < 10 * len(running)
