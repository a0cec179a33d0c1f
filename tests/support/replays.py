"""Replays of campaigns of which it is known how long their tasks took, and what is shown of the time left."""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from db import read_export
from db.look.overview.figures import Arrival, Running, arrivals_of_late
from db.look.overview.forecast import ENOUGH_RESULTS, MIN_ALIKE, Forecast, estimate, results_wanted
from db.look.overview.schedule import DeviceGroup, Remaining
from langford.methods import plan_of

RECORDED = Path(__file__).parents[2] / "jobs" / "campaigns"
LOOKS = 100
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
        work: of each task, in the order in which they are leased.
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

    def sizes_are_known(self, now: float) -> bool:
        """Whether enough tasks are done of each size, or none is left."""
        done = {one.task for one in self.computed if one.brought and one.ended <= now}
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
                ends = [one.ended for one in self.computed if one.machine is machine and one.ended <= now]
                last = START + max(ends) if ends else None
                groups.append(
                    DeviceGroup(machine.name, machine.model, machine.devices, START + machine.comes, last)
                )
        return groups


def course(work: Sequence[float], seconds: Sequence[float], machines: Sequence[Machine]) -> Course:
    """The campaign; each device holds one more task than it computes.

    Args:
        work: of each task, in the order in which they are leased.
        seconds: how long each takes on the fastest device.
        machines: who takes part.
    """
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


@dataclass(frozen=True)
class Look:
    """What is shown at a time, and how long the campaign took from there, with the workers of that time.

    Attributes:
        now: in seconds after the start.
        done: share of the work that is done.
        results: how many there are.
        shown: the time left; None: nothing is shown.
        spanned: whether the campaign ends between the earliest and the latest time that are shown.
        true: the time left.
        whole: the time of the campaign.
        workers: who is here.
        known: whether all of them have brought results.
        sizes: see :meth:`Course.sizes_are_known`.
    """

    now: float
    done: float
    results: int
    shown: float | None
    spanned: bool
    true: float
    whole: float
    workers: frozenset[str]
    known: bool
    sizes: bool


def looks(work: Sequence[float], seconds: Sequence[float], machines: Sequence[Machine]) -> Iterator[Look]:
    """What is shown of a campaign, at equal distances of a clock that is moved."""
    whole, forecast = course(work, seconds, machines), Forecast()
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
        yield Look(now, left.done, len(past), shown, spanned, end - now, end, who, met, sizes)


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
