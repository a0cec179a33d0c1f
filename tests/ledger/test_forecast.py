"""The estimate of the time left, against campaigns of which it is known how long they took."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from db import read_export
from db.look.overview.figures import Arrival, Running
from db.look.overview.forecast import ENOUGH_RESULTS, estimate
from db.look.overview.schedule import DeviceGroup, Remaining, seconds_to_last
from langford.words import MIN_SHARE
from tests.support.cases import exhaustive
from tests.support.replays import (
    LOOKS,
    RECORDED,
    START,
    Look,
    Machine,
    Tasks,
    course,
    looks,
    made,
    recorded,
)

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
WITHOUT_TIMES = {"langford-27-polyphase-16", "langford-28-polyphase-16"}
"""Their exports do not say when a task was computed."""
FARMS = [(name, devices) for name, most in MAX_DEVICES.items() for devices in sorted({1, most // 4 or 1, most})]
CAMPAIGNS |= {
    f"{name} on {devices}": (partial(recorded, name), [replace(GPU, devices=devices)]) for name, devices in FARMS
}
BETWEEN = [f"{name} on {devices}" for name, devices in FARMS if 1 < devices < MAX_DEVICES[name]]
"""On neither one device nor the most of them."""


@pytest.mark.parametrize("name", [*(name for name in CAMPAIGNS if name not in BETWEEN), *exhaustive(BETWEEN)])
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


@pytest.mark.parametrize("name", sorted(MAX_DEVICES.keys() - WITHOUT_TIMES))
def test_a_replay_by_two_devices_takes_as_long_as_the_campaign_did(name: str) -> None:
    """But for the time in which nothing was computed, between two runs."""
    computations = read_export(RECORDED / f"{name}.jsonl.gz").computations.values()
    elapsed, until = 0.0, 0.0
    for granted, ended in sorted((computation.granted, computation.ended) for computation in computations):
        elapsed += max(0.0, ended - max(granted, until))
        until = max(ended, until)
    assert course(*recorded(name), [replace(GPU, devices=2)]).end == pytest.approx(elapsed, rel=0.03)


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


def test_a_copy_of_a_task_takes_no_time_of_its_own() -> None:
    """Two workers hold one task, and then one each: what waits begins when a device of theirs is free."""
    groups = [DeviceGroup(name, "a core", 1, START, None) for name in "ab"]
    for second, left in ((0, 10.0), (1, 20.0)):
        running = [
            Running(task, worker, 10.0, False, START, True, 60.0) for task, worker in ((0, "a"), (second, "b"))
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
    groups = [DeviceGroup(str(number), "a core", 1, START, None) for number in range(200)]
    models = {group.worker: group.model for group in groups}
    results = [Arrival("0", START + at, 1.0, 2.0) for at in range(20)]
    running = [Running(number, str(number), Compared(1.0), False, START, True, 60.0) for number in range(200)]
    Compared.times = 0
    assert estimate(START + 20, Remaining(0.5, [], running), results, models, groups) is not None
    assert Compared.times < 10 * len(running)
