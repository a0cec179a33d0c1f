"""Runs whose tasks hang or whose time is limited, by a clock that the test moves, without a process."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy import select

from db import Campaign, Lease, Ledger
from db.identity import Identity
from db.schema.models import Attempt, Event, Worker
from db.states import Ending, EventKind, Outcome
from db.work.leases import COPY_SECONDS
from jobs.run.loop import Run, RunReport
from jobs.run.source import LEASE_SECONDS, TaskSource
from langford.devices import CPU
from langford.methods.speed import Speed
from tests.support.campaigns import COUNT, HOUR, PLAN, TASKS, age, new_campaign, true_deliveries
from tests.support.clock import MovableClock
from tests.support.consoles import KeptConsole
from tests.support.databases import new_ledger
from tests.support.slow_pool import STEPS, SlowPool

SICK = min(range(TASKS), key=lambda index: float(PLAN.work[index]))
"""The task on which something goes wrong: the smallest one, which comes last."""
PATIENCE = 40.0
LARGEST = float(PLAN.work.max())
Go = Callable[..., RunReport]


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with new_ledger("sqlite", tmp_path) as made:
        yield made


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    return new_campaign(ledger, "a")


@pytest.fixture
def console() -> KeptConsole:
    return KeptConsole()


@pytest.fixture
def said(console: KeptConsole) -> list[str]:
    return console.said


@pytest.fixture
def run(ledger: Ledger, campaign: Campaign, clock: MovableClock, console: KeptConsole) -> Go:
    """A run of the campaign with a pool, until it ends, in at most ``limit`` seconds.

    ``probed``: what the probe says of the largest task, in seconds; None: nothing.
    """

    def go(pool: SlowPool, limit: float | None = None, probed: float | None = None) -> RunReport:
        reached = campaign.worker
        reached.transport = replace(reached.transport, look_seconds=0.5)
        source = TaskSource(reached, Identity.fresh([CPU]), None, console, clock=clock)
        known = None if probed is None else Speed(probed / LARGEST)
        made = Run(
            source, [CPU], console, limit, pool_of=lambda *_: pool, patience=PATIENCE, clock=clock,
            probe=lambda key: known,
        )  # fmt: skip
        return made.run()

    return go


def outcomes(campaign: Campaign, index: int) -> Counter[str | None]:
    """How the attempts at a task ended."""
    with campaign.database.reading() as connection:
        return Counter(connection.scalars(select(Attempt.outcome).where(Attempt.task_index == index)))


def others_do_the_rest(campaign: Campaign, seconds: float) -> Lease:
    """Results of all tasks but the sick one, which another host holds on to."""
    leases = campaign.worker.lease("a", TASKS, HOUR)
    [held] = [lease for lease in leases if lease.index == SICK]
    campaign.worker.deliver(true_deliveries((lease for lease in leases if lease is not held), seconds))
    return held


def test_a_task_that_hangs_is_ended_after_the_patience(
    campaign: Campaign, clock: MovableClock, said: list[str], run: Go
) -> None:
    pool = SlowPool(clock, {SICK: math.inf})
    steps: set[int | None] = set()

    def look() -> None:
        with campaign.database.reading() as connection:
            steps.add(connection.scalar(select(Attempt.steps).where(Attempt.task_index == SICK)))

    pool.meanwhile = look
    report = run(pool)
    assert (report.stopped, report.tasks_here) == (None, TASKS)
    assert STEPS in steps  # its progress is in the ledger while it hangs
    [death] = said
    assert re.match(rf"task {SICK} has been evaluated for 4\d s", death), death
    assert f"and {STEPS} steps: its process was killed; its tasks go back to the queue" in death
    assert outcomes(campaign, SICK) == {Outcome.DIED: 1, Outcome.DONE: 1}
    assert campaign.reader.merged().published == COUNT


def test_a_worker_says_for_how_long_it_computed(
    campaign: Campaign, clock: MovableClock, run: Go, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With each renewal, of the task that hangs, and of the process that is killed for it."""
    renew, end = Mock(wraps=campaign.worker.renew), Mock(wraps=campaign.worker.end)
    monkeypatch.setattr(campaign.worker, "renew", renew)
    monkeypatch.setattr(campaign.worker, "end", end)
    run(SlowPool(clock, {SICK: math.inf}))
    [([lease], _, _, computed)] = [call.args for call in end.call_args_list if call.args[1] is Outcome.DIED]
    assert computed[lease.attempt] == pytest.approx(PATIENCE, abs=2.0)
    said = [call.args[3].get(lease.attempt) for call in renew.call_args_list]
    assert said[-1] == pytest.approx(LEASE_SECONDS / 4, abs=6.0)


def test_a_pool_that_tells_nothing_says_nothing(
    campaign: Campaign, clock: MovableClock, run: Go, monkeypatch: pytest.MonkeyPatch, console: KeptConsole
) -> None:
    """An executor does not tell when it begins a task."""
    monkeypatch.setattr(SlowPool, "computing", None)
    monkeypatch.setattr(console, "stop_reason", lambda: "SIGINT" if clock.monotonic() > 1060 else None)
    run(slow(clock, 600.0))
    with campaign.database.reading() as connection:
        assert set(connection.scalars(select(Attempt.computed))) == {None}


def test_the_first_task_of_a_run_has_a_limit_from_the_speed_of_others(
    campaign: Campaign, clock: MovableClock, run: Go
) -> None:
    campaign.worker.end([others_do_the_rest(campaign, 0.5)])
    before = clock.monotonic()
    run(SlowPool(clock, {SICK: math.inf}))
    assert PATIENCE < clock.monotonic() - before < 2 * PATIENCE
    assert outcomes(campaign, SICK) == {Outcome.RELEASED: 1, Outcome.DIED: 1, Outcome.DONE: 1}


@pytest.mark.exhaustive
def test_a_task_that_hangs_again_and_again_is_set_aside_by_name(
    campaign: Campaign, clock: MovableClock, said: list[str], run: Go
) -> None:
    report = run(SlowPool(clock, {SICK: math.inf}, times=1000))
    assert (report.tasks_here, report.set_aside) == (TASKS - 1, 1)
    assert said[-1].startswith(f"task {SICK} has ended too many worker processes and is set aside")
    assert outcomes(campaign, SICK) == {Outcome.DIED: 3}
    with campaign.database.reading() as connection:
        detail = connection.scalar(select(Event.detail).where(Event.kind == EventKind.SET_ASIDE))
    assert "its process was killed" in str(detail)
    assert campaign.operator.reopen() == 1
    run(SlowPool(clock, {}))
    assert campaign.reader.merged().published == COUNT


def test_a_slow_task_that_is_within_its_limit_is_left_alone(
    campaign: Campaign, clock: MovableClock, said: list[str], run: Go
) -> None:
    """One that takes 70 times what others take, but less than the patience; its lease is renewed meanwhile."""
    renewed: set[float] = set()
    pool = SlowPool(clock, {SICK: 35.0})

    def look() -> None:
        with campaign.database.reading() as connection:
            running = select(Attempt.deadline).where(Attempt.task_index == SICK, Attempt.ended.is_(None))
            renewed.update(connection.scalars(running))

    pool.meanwhile = look
    run(pool)
    assert said == []
    assert campaign.reader.overview().attempts == {"done": TASKS}
    assert len(renewed) == 1 + int(35 / (LEASE_SECONDS / 4))


def test_a_copy_ends_when_its_holder_was_faster(campaign: Campaign, clock: MovableClock, run: Go) -> None:
    """The last task is held elsewhere for long, and its copy takes for ever: the holder's result ends it."""
    held = others_do_the_rest(campaign, 0.5)
    age(campaign, 2 * COPY_SECONDS)
    pool = SlowPool(clock, {SICK: math.inf})
    pool.meanwhile = lambda: (
        outcomes(campaign, SICK)[Outcome.DONE] or campaign.worker.deliver(true_deliveries([held]))
    )
    report = run(pool)
    assert (report.stopped, report.tasks_here) == (None, 0)
    assert outcomes(campaign, SICK) == {Outcome.DONE: 1, Outcome.RELEASED: 1}


def test_a_result_that_confirms_another_is_no_progress(campaign: Campaign, clock: MovableClock) -> None:
    source = TaskSource(campaign.worker, Identity.fresh([CPU]), clock=clock)
    assert source.ready
    first, second = source.lease(2, [])
    # Its copy was faster.
    age(campaign, 2 * COPY_SECONDS)
    [copy] = [
        lease for lease in campaign.worker.lease("a", TASKS, HOUR, copies=TASKS) if lease.index == first.index
    ]
    campaign.worker.deliver(true_deliveries([copy]))
    source.deliver(list(zip((first, second), true_deliveries([first, second]), strict=True)))
    source.attend([], {})
    assert (source.tally.tasks_here, source.tally.work_here) == (1, second.work)


# -- the time limit -------------------------------------------------------------------------------


def slow(clock: MovableClock, seconds: float) -> SlowPool:
    """A pool in which every task takes so long."""
    return SlowPool(clock, dict.fromkeys(range(TASKS), seconds))


def nothing_is_held(campaign: Campaign) -> bool:
    return "leased" not in campaign.reader.standing().tasks


@pytest.mark.parametrize("limit", [20.0, 25.0, 27.0, 39.0])
def test_no_task_starts_that_would_end_later(
    limit: float, campaign: Campaign, clock: MovableClock, console: KeptConsole, run: Go
) -> None:
    """Also none that waits behind another one of the same worker."""
    before = clock.monotonic()
    report = run(slow(clock, 8.0), limit, probed=8.0)
    assert report.stopped == "time limit"
    assert report.tasks_here == int((limit - 2) // 8)  # a task is expected to take a quarter longer
    assert clock.monotonic() - before <= limit
    assert nothing_is_held(campaign)
    assert console.said == []


def test_a_first_task_that_does_not_fit_is_not_started(
    campaign: Campaign, clock: MovableClock, console: KeptConsole, run: Go
) -> None:
    before = clock.monotonic()
    report = run(slow(clock, 65.0), 2.0, probed=65.0)
    assert (report.stopped, report.tasks_here) == ("time limit", 0)
    assert clock.monotonic() - before < 1
    [said] = console.said
    assert said == (
        "no task was started: the next one takes about 65 s, and 2 s of the time limit is left; give a longer "
        "limit, or create the campaign with a larger --depth, whose tasks are shorter"
    )
    assert campaign.reader.overview().attempts == {"released": 2}  # one for its worker, one to wait behind it


@pytest.mark.parametrize("probed", [None, 1.0])
def test_a_task_that_takes_longer_than_expected_is_given_back(
    probed: float | None, campaign: Campaign, clock: MovableClock, console: KeptConsole, run: Go
) -> None:
    """No process waits for one whose time is over and whose forecast was wrong, or for which there was none."""
    before = clock.monotonic()
    report = run(slow(clock, math.inf), 30.0, probed)
    assert (report.stopped, report.tasks_here) == ("time limit", 0)
    assert 30 <= clock.monotonic() - before < 31
    assert nothing_is_held(campaign)
    assert "the time limit has passed, and 2 tasks take longer than expected: given back" in console.said


@pytest.mark.parametrize(("seconds", "done", "most"), [(50.0, 1, 51.0), (65.0, 0, 57.0)])
def test_a_task_may_take_twice_its_expected_time(
    seconds: float, done: int, most: float, clock: MovableClock, run: Go
) -> None:
    before = clock.monotonic()
    report = run(slow(clock, seconds), 30.0, probed=28.0)
    assert (report.stopped, report.tasks_here) == ("time limit", done)
    assert clock.monotonic() - before < most


@pytest.mark.parametrize(
    ("recorded", "probed", "starts"), [(5.0, 1000.0, True), (1000.0, 5.0, True), (1000.0, 900.0, False)]
)
def test_the_faster_of_record_and_probe_counts_for_the_first_task(
    recorded: float, probed: float, starts: bool, campaign: Campaign, clock: MovableClock, run: Go
) -> None:
    """One result that took an hour, of a machine that slept, must not keep all others from starting."""
    [first, *others] = campaign.worker.lease("a", TASKS, HOUR)
    campaign.worker.deliver(true_deliveries([first], recorded))
    campaign.worker.end(others)
    assert (run(slow(clock, 5.0), 30.0, probed).tasks_here > 0) == starts


@pytest.mark.parametrize(
    ("signal", "outcome", "ending"),
    [("SIGTERM", Outcome.PREEMPTED, Ending.PREEMPTED), ("SIGINT", Outcome.RELEASED, Ending.STOPPED)],
)
def test_a_preempted_run_says_so_of_its_tasks_and_itself(
    signal: str, outcome: Outcome, ending: Ending, campaign: Campaign, clock: MovableClock, run: Go,
    console: KeptConsole, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    started, end = clock.monotonic(), Mock(wraps=campaign.worker.end)
    monkeypatch.setattr(console, "stop_reason", lambda: signal if clock.monotonic() > started + 5 else None)
    monkeypatch.setattr(campaign.worker, "end", end)
    assert run(slow(clock, 60.0)).stopped == signal
    _, _, _, computed = end.call_args.args
    first, *waiting = computed.values()
    assert (first, set(waiting)) == (pytest.approx(5.0, abs=1.0), {0.0})
    assert {*campaign.reader.overview().attempts} == {outcome}
    with campaign.database.reading() as connection:
        assert connection.scalars(select(Worker.ending).where(Worker.ending.is_not(None))).all() == [ending]
