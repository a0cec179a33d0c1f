"""What a worker shows of the whole campaign: asked seldom, and no matter for the work."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from db.look.overview.records import Eta, Overview
from db.messages import Time
from jobs.reach.remote import SERVER
from jobs.reach.requests import ServerAway
from jobs.run.tally import LastOverview, Tally
from tests.support.campaigns import HOUR, PLAN, new_campaign, true_deliveries
from tests.support.clock import MovableClock
from tests.support.databases import new_ledger

WORK = float(sum(PLAN.work))


@pytest.fixture
def overview(tmp_path: Path) -> Iterator[Overview]:
    with new_ledger("sqlite", tmp_path) as ledger:
        campaign = new_campaign(ledger)
        campaign.worker.deliver(true_deliveries(campaign.worker.lease("a", 4, HOUR)))
        made = campaign.reader.overview()
        yield replace(made, eta=Eta(1000.0, Time(made.now + 900), Time(made.now + 1100)))


def test_it_is_asked_seldom_by_each_worker(overview: Overview) -> None:
    clock, asked, tally = MovableClock(), list[float](), Tally()

    def ask() -> Overview:
        asked.append(clock.monotonic())
        return overview

    seen = LastOverview(ask, tally, SERVER.overview_seconds, clock)
    start = clock.monotonic()
    assert (tally.tasks, tally.work, seen.seconds_left) == (0, 0.0, None)
    for _ in range(7200):
        seen.refresh(WORK)
        clock.move(1)
    assert 30 <= asked[0] - start <= 61
    assert all(240 <= later - earlier <= 901 for earlier, later in itertools.pairwise(asked))
    assert 9 <= len(asked) <= 18
    assert (tally.tasks, tally.work) == (4, pytest.approx(overview.work.done * WORK))
    assert seen.seconds_left == pytest.approx(1000.0 - (clock.monotonic() - asked[-1]))


def test_a_slow_answer_is_asked_for_seldom(overview: Overview) -> None:
    clock, asked = MovableClock(), list[float]()

    def ask() -> Overview:
        asked.append(clock.monotonic())
        clock.move(5.0)
        return overview

    seen = LastOverview(ask, Tally(), 10.0, clock)
    for _ in range(1000):
        seen.refresh(WORK)
        clock.move(1)
    assert all(later - earlier >= 5 + 125 for earlier, later in itertools.pairwise(asked))


def test_a_server_without_an_answer_is_no_error() -> None:
    clock, tally = MovableClock(), Tally()

    def ask() -> Overview:
        raise ServerAway("an earlier version has no status")

    seen = LastOverview(ask, tally, 1.0, clock)
    for _ in range(30):
        seen.refresh(WORK)
        clock.move(1.0)
    assert (tally.tasks, tally.work, seen.seconds_left) == (0, 0.0, None)


def test_the_numbers_of_a_line_belong_together() -> None:
    """What this run has done is part of what is done, whether or not the server has said so yet."""
    tally = Tally()
    tally.update(3, 30.0)
    tally.add(10.0)
    tally.add(7.0)
    assert (tally.tasks, tally.work, tally.tasks_here, tally.work_here) == (5, 47.0, 2, 17.0)
    tally.update(4, 40.0)  # of some seconds ago
    assert (tally.tasks, tally.work) == (5, 47.0)
    tally.update(4, 40.0)
    assert (tally.tasks, tally.work) == (5, 47.0)  # no answer is older than the one before
    tally.update(2, 20.0)  # a backup was restored
    assert (tally.tasks, tally.work) == (2, 20.0)
    tally.update(9, 90.0)  # with four of others
    tally.add(5.0, here=False)  # an earlier run had computed it
    assert (tally.tasks, tally.work, tally.tasks_here, tally.work_here) == (10, 95.0, 2, 17.0)
