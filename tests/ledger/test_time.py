"""Time passes in the ledger: leases expire, clocks go back, workers are lost.  No test waits; on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest
from sqlalchemy import select

from db import Campaign, Ledger, read_export
from db.look.overview.records import WorkerState
from db.schema.models import Attempt, Worker
from db.states import Ending, Outcome
from db.work import presence
from db.work.deadlines import CLOCK_SECONDS
from jobs.run.source import RENEWAL_SECONDS
from jobs.show.wording import is_late
from tests.support.campaigns import HOUR, NAME, TASKS, events, task_records, true_deliveries
from tests.support.database_clock import DatabaseClock, moved_clock

MINUTE, YEAR = 60.0, 365 * 86_400.0


@pytest.fixture
def clock() -> Iterator[DatabaseClock]:
    with moved_clock() as moved:
        yield moved


pytestmark = pytest.mark.parametrize("ledger", ["sqlite", "postgres"], indirect=True)
"""Each has a clock of its own."""


def test_a_worker_that_renews_in_time_is_never_called_late(
    ledger: Ledger, campaign: Campaign, clock: DatabaseClock
) -> None:
    """Also where its first renewal comes soon after it was recorded."""
    ledger.database.now = lambda: clock.ahead
    campaign = ledger.campaign(NAME)
    leases = campaign.worker.lease("a", 1, HOUR)
    for seconds in (RENEWAL_SECONDS - 1, RENEWAL_SECONDS, RENEWAL_SECONDS):
        clock.move(seconds + 0.5)
        seen = campaign.reader.overview()
        assert not any(is_late(worker, seen.now) for worker in seen.workers if worker.state is WorkerState.WORKING)
        campaign.worker.renew(leases, HOUR)


def outcomes(campaign: Campaign) -> list[str | None]:
    with campaign.database.reading() as connection:
        return list(connection.scalars(select(Attempt.outcome).order_by(Attempt.id)))


def ending(campaign: Campaign, worker: str) -> str | None:
    with campaign.database.reading() as connection:
        return connection.scalar(select(Worker.ending).where(Worker.id == worker))


def present(campaign: Campaign) -> set[str]:
    with campaign.database.reading() as connection:
        return set(connection.scalars(select(Worker.id).where(presence.IS_PRESENT)))


def test_a_lease_expires_when_its_time_is_over_and_not_before(campaign: Campaign, clock: DatabaseClock) -> None:
    held = campaign.worker.lease("a", TASKS, HOUR)
    clock.move(HOUR - MINUTE)
    assert campaign.worker.lease("b", TASKS, HOUR) == []
    assert campaign.reader.patience() == inf
    clock.move(2 * MINUTE)
    assert campaign.reader.patience() == 0
    assert {lease.index for lease in campaign.worker.lease("b", TASKS, HOUR)} == {lease.index for lease in held}
    assert outcomes(campaign) == [Outcome.EXPIRED] * TASKS + [None] * TASKS
    assert {task.failures for task in task_records(campaign)} == {0}
    assert ending(campaign, "a") == Ending.LOST


def test_a_lease_that_is_renewed_lasts_on(campaign: Campaign, clock: DatabaseClock) -> None:
    held = campaign.worker.lease("a", TASKS, HOUR)
    for _ in range(5):
        clock.move(HOUR - MINUTE)
        assert campaign.worker.renew(held, HOUR) == {lease.attempt for lease in held}
    assert campaign.worker.lease("b", TASKS, HOUR) == []
    clock.move(HOUR + MINUTE)
    campaign.worker.lease("b", 1, HOUR)
    assert campaign.worker.renew(held, HOUR) == set()


def test_a_clock_that_was_ahead_holds_no_task_for_long(
    ledger: Ledger, campaign: Campaign, clock: DatabaseClock
) -> None:
    now = 0.0
    ledger.database.now = lambda: now
    campaign = ledger.campaign(NAME)
    clock.move(30 * HOUR)
    campaign.worker.lease("a", TASKS, HOUR)
    assert present(campaign) == {"a"}
    clock.move(-30 * HOUR)
    assert "a" not in present(campaign)
    assert {worker.state for worker in campaign.reader.overview().workers} == {WorkerState.SILENT}
    assert campaign.worker.lease("b", 1, HOUR) == []  # it looked less than a minute ago
    now += CLOCK_SECONDS
    assert campaign.worker.lease("b", 1, HOUR, copies=1) == []
    clock.move(2 * MINUTE)
    assert len(campaign.worker.lease("b", 1, HOUR, copies=1)) == 1
    clock.move(HOUR + MINUTE)
    assert len(campaign.worker.lease("b", TASKS, HOUR)) == TASKS


def test_an_export_of_results_from_before_1970_can_be_read(
    campaign: Campaign, clock: DatabaseClock, tmp_path: Path
) -> None:
    """A clock that was wrong then: of these results no times are known, and the others keep theirs."""
    clock.move(-70 * YEAR)
    deliver_one(campaign, "a")
    clock.move(70 * YEAR)
    later = deliver_one(campaign, "b")
    file = tmp_path / "export.jsonl.gz"
    file.write_bytes(campaign.reader.trusted_export().content)
    export = read_export(file)
    assert len(export.results) == 2
    [(task, computation)] = export.computations.items()
    assert (task, computation.machine.host) == (later, "host-b")


def deliver_one(campaign: Campaign, worker: str) -> int:
    """Returns the task."""
    [lease] = campaign.worker.lease(worker, 1, HOUR)
    assert events(campaign, true_deliveries([lease])) == [None]
    return lease.index
