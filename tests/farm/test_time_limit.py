"""The time limit of a run, by a clock that the test moves: it is kept, or the run says that it cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from db import Campaign, Ledger
from jobs.reach.identity import Identity
from jobs.reach.in_ledger import InLedger
from jobs.run.loop import Run, RunReport
from jobs.run.source import TaskSource
from langford.devices import CPU
from tests.support.campaigns import HOUR, PLAN, TASKS, new_campaign, true_deliveries
from tests.support.clock import MovableClock
from tests.support.consoles import KeptConsole
from tests.support.databases import new_ledger
from tests.support.slow_pool import SlowPool

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
def run(ledger: Ledger, campaign: Campaign, clock: MovableClock, console: KeptConsole) -> Go:
    """A run of the campaign within a limit; ``probed``: what the probe says of the largest task, in seconds."""

    def go(limit: float, seconds: float, probed: float | None = None) -> RunReport:
        pool = SlowPool(clock, dict.fromkeys(range(TASKS), seconds))
        source = TaskSource(InLedger(ledger, campaign), Identity.fresh([CPU]), None, console, clock=clock)
        pace = None if probed is None else probed / LARGEST
        return Run(
            source, [CPU], console, limit, pool_of=lambda *_: pool, clock=clock, probe=lambda key: pace
        ).run()

    return go


def nothing_is_held(campaign: Campaign) -> bool:
    return "leased" not in campaign.progress().tasks


@pytest.mark.parametrize("limit", [20.0, 25.0, 27.0, 39.0])
def test_no_task_starts_that_would_end_later(
    limit: float, campaign: Campaign, clock: MovableClock, console: KeptConsole, run: Go
) -> None:
    """Also none that waits behind another one of the same worker."""
    before = clock.monotonic()
    report = run(limit, 8.0, probed=8.0)
    assert report.stopped == "time limit"
    assert report.tasks_here == int((limit - 2) // 8)  # a task is expected to take a quarter longer
    assert clock.monotonic() - before <= limit
    assert nothing_is_held(campaign)
    assert console.said == []


def test_a_first_task_that_does_not_fit_is_not_started(
    campaign: Campaign, clock: MovableClock, console: KeptConsole, run: Go
) -> None:
    before = clock.monotonic()
    report = run(2.0, 65.0, probed=65.0)
    assert (report.stopped, report.tasks_here) == ("time limit", 0)
    assert clock.monotonic() - before < 1
    [said] = console.said
    assert said.startswith("no task starts: the next one takes about 65 s, and 2 s of the time limit is left; give")
    assert campaign.progress().attempts == {"released": 2}  # one for its worker, one to wait behind it


@pytest.mark.parametrize("probed", [None, 1.0])
def test_a_task_that_takes_longer_than_expected_is_given_back(
    probed: float | None, campaign: Campaign, clock: MovableClock, console: KeptConsole, run: Go
) -> None:
    """No process waits for one whose time is over and whose forecast was wrong, or for which there was none."""
    before = clock.monotonic()
    report = run(30.0, math.inf, probed)
    assert (report.stopped, report.tasks_here) == ("time limit", 0)
    assert 30 <= clock.monotonic() - before < 31
    assert nothing_is_held(campaign)
    assert "the time limit is over, and 2 tasks take longer than expected: given back" in console.said


def test_a_task_may_take_twice_its_expected_time(campaign: Campaign, clock: MovableClock, run: Go) -> None:
    before = clock.monotonic()
    report = run(30.0, 50.0, probed=28.0)
    assert (report.stopped, report.tasks_here) == ("time limit", 1)
    assert clock.monotonic() - before < 51


@pytest.mark.parametrize(
    ("recorded", "probed", "starts"), [(5.0, 1000.0, True), (1000.0, 5.0, True), (1000.0, 900.0, False)]
)
def test_the_faster_of_record_and_probe_counts_for_the_first_task(
    recorded: float, probed: float, starts: bool, campaign: Campaign, run: Go
) -> None:
    """One result that took an hour, of a machine that slept, must not keep all others from starting."""
    [slow, *others] = campaign.lease("a", TASKS, HOUR)
    campaign.deliver(true_deliveries([slow], recorded))
    campaign.release(others)
    assert (run(30.0, 5.0, probed).tasks_here > 0) == starts
