"""One history, one answer: what all outputs say was done, begun and lost, by whom, and who was busy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from db import Campaign, Delivery, Lease, Ledger
from db.look.read_only import ask_sql
from db.states import Outcome, Role
from jobs.farm.api import server
from jobs.show.report import gathering
from langford.result import Evaluation
from tests.support.asgi import Client
from tests.support.campaigns import NAME, TRUE, new_campaign
from tests.support.cases import exhaustive
from tests.support.database_clock import DatabaseClock, moved_clock
from tests.support.databases import ledger_of_a_test

LEASE_SECONDS = 100.0
LOST = {"failed": (1, 2.0, 0, 0), "died": (1, 0.0, 0, 0), "preempted": (1, 7.0, 3, 0), "expired": (0, 0.0, 0, 1)}
"""Attempts that are lost, seconds of them, attempts that had not begun, and those of which nothing was said."""
WORKERS = {"a": (1, 3, 9.0, 0), "b": (0, 0, 0.0, 1)}
"""Results, attempts lost, seconds of them, and attempts of which nothing was said."""


def close(value: float) -> Any:
    return pytest.approx(value, abs=2e-3)


@pytest.fixture
def clock() -> Iterator[DatabaseClock]:
    with moved_clock() as clock:
        clock.stop()
        yield clock


@pytest.fixture(params=["sqlite", *exhaustive(["postgres"])])
def ledger(request: pytest.FixtureRequest, clock: DatabaseClock, tmp_path: Path) -> Iterator[Ledger]:
    with ledger_of_a_test(request.param, tmp_path) as opened:
        yield opened


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    return new_campaign(ledger)


def lease(campaign: Campaign, worker: str, count: int) -> list[Lease]:
    return campaign.worker.lease(worker, count, LEASE_SECONDS)


def rows(ledger: Ledger, view: str, *columns: str) -> list[tuple[Any, ...]]:
    """Those of a view."""
    with ask_sql(ledger.database, f"SELECT {', '.join(columns)} FROM {view} ORDER BY 1") as answer:
        return [tuple(row) for row in answer.rows]


def test_a_late_a_failed_a_dead_and_a_preempted_one(
    ledger: Ledger, campaign: Campaign, clock: DatabaseClock
) -> None:
    """One lease expires and its result is accepted late, one attempt fails, one dies, one is preempted.

    Of the preempted worker's tasks one was computed for 7 s, the others waited; of an expired one nothing was said.
    """
    late, failed, dead, taken, *waiting = lease(campaign, "a", 7)
    lease(campaign, "b", 1)
    clock.move(9.25)
    campaign.worker.renew([late], LEASE_SECONDS, computed={late.attempt: 4.0})
    campaign.worker.end([failed], Outcome.FAILED, "boom", {failed.attempt: 2.0})
    campaign.worker.end([dead], Outcome.DIED, "signal 9")
    said = {taken.attempt: 7.0, **{each.attempt: 0.0 for each in waiting}}
    campaign.worker.end([taken, *waiting], Outcome.PREEMPTED, "SIGTERM", said)
    clock.move(LEASE_SECONDS + 1)
    lease(campaign, "b", 0)
    assert clock.stopped is not None
    result = Evaluation(TRUE[late.index], 50.0, "{}", clock.stopped + clock.ahead - 100.0)
    campaign.worker.deliver([Delivery.of(late, result)])
    # The views
    shown = rows(ledger, "lost_time", "outcome", "attempts", "seconds", "unbegun", "unknown")
    assert shown == [
        (name, number, close(seconds), *rest) for name, (number, seconds, *rest) in sorted(LOST.items())
    ]
    assert rows(ledger, "worker_overview", "worker", "results", "lost", "lost_seconds") == [
        (name, done, lost, close(seconds)) for name, (done, lost, seconds, _) in WORKERS.items()
    ]
    # The overview as `status --json` and the dashboard have it, and the metrics
    token = campaign.operator.new_token(Role.READER)
    client = Client(server.application(ledger, [NAME]), headers={"Authorization": f"Bearer {token}"})
    document = client.get(f"/campaigns/{NAME}/status").json()
    metrics = client.get("/metrics").text
    client.close()
    assert document["lost"] == {
        name: {"attempts": number, "seconds": close(seconds), "unknown": unknown}
        for name, (number, seconds, _, unknown) in LOST.items()
    }
    views = {view["id"]: view for view in document["workers"]}
    for name, (done, number, seconds, unknown) in WORKERS.items():
        lost = {"attempts": number, "seconds": close(seconds), "unknown": unknown}
        assert (views[name]["done"], views[name]["lost"]) == (done, lost)
    samples = {
        (sample.name, sample.labels["outcome"]): sample.value
        for family in text_string_to_metric_families(metrics)
        for sample in family.samples
        if "outcome" in sample.labels
    }
    for name, (number, seconds, _, _) in LOST.items():
        assert samples.get(("langford_lost_attempts_total", name), 0) == number
        assert samples.get(("langford_lost_seconds_total", name), 0) == close(seconds)
    # The report
    found = gathering.of_campaign(campaign).numbers
    assert found.lost is not None
    assert {
        kind.outcome: (kind.attempts, close(kind.seconds), kind.unbegun, kind.unknown) for kind in found.lost
    } == {**LOST, "released": (0, 0.0, 0, 0)}
    assert found.done == document["tasks"]["done"] == 1
    assert found.since_the_start == pytest.approx(document["speed"]["average"])
    # Devices were occupied as long as workers say, and workers as long as they held a lease or more.
    assert found.devices is not None
    width = np.diff(found.devices.edges)
    occupied = float(found.devices.devices @ width), float(found.devices.workers @ width)
    assert occupied == pytest.approx((50.0 + 2.0 + 7.0, 2 * (9.25 + LEASE_SECONDS + 1)), abs=1e-2)
    [(tasks, seconds, work)] = rows(ledger, "throughput", "tasks", "seconds", "work")
    assert (tasks, seconds) == (found.timed, close(found.timed_seconds)) == (1, close(50.0))
    assert (found.timed_work, found.work) == (pytest.approx(work), pytest.approx(work))


@pytest.mark.parametrize("ledger", ["sqlite"], indirect=True)
def test_no_worker_computes_longer_than_it_holds_a_task(campaign: Campaign, clock: DatabaseClock) -> None:
    """Nor is anything forgotten: messages may overtake each other."""
    [held] = lease(campaign, "a", 1)
    for passes, says in ((10.0, 4.0), (10.0, 1e9), (10.0, 3.0)):
        clock.move(passes)
        campaign.worker.renew([held], LEASE_SECONDS, computed={held.attempt: says})
    campaign.worker.end([held], Outcome.PREEMPTED)
    assert campaign.reader.overview().lost["preempted"].seconds == close(20.0)
