"""Votes, distrust and changes of the share at the same moment, in transactions of a real Postgres."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import Connection, text

from db import Campaign, Ledger
from db.errors import LedgerBusy, UntrustedResults, WorkerDistrusted
from db.store.transaction import Transaction
from db.trust import acceptance, draw, witnesses
from db.work import transitions
from tests.support.campaigns import (
    HOUR,
    NAME,
    TASKS,
    TRUE,
    delivery,
    events,
    finish,
    forged,
    let_be_drawn,
    new_campaign,
    true_deliveries,
)
from tests.support.databases import ledger_of_a_test
from tests.support.enrolling import enrol

MOMENT = 0.3
TURNS = 20
"""Of each worker, where all are at it at once."""


@pytest.fixture
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with ledger_of_a_test(getattr(request, "param", "postgres"), tmp_path) as opened:
        yield opened


@pytest.fixture
def campaign(ledger: Ledger) -> Campaign:
    return new_campaign(ledger, workers="abcd")


Other = Callable[[Callable[[Campaign], object]], Future[object]]


@pytest.fixture
def other(ledger: Ledger) -> Iterator[Other]:
    """Start something in another thread, with a ledger of its own."""
    with ThreadPoolExecutor(1) as pool, Ledger(ledger.database.where) as another:
        yield lambda act: pool.submit(act, another.campaign(NAME))


def settled_again(campaign: Campaign) -> bool:
    """Whether to count all votes again changes nothing."""
    query = text("SELECT task_index, voter_id, confirmed_by, doubt, drawn, value FROM result ORDER BY task_index")
    with campaign.database.writing() as connection:
        before = connection.execute(query).all()
        witnesses.settle(Transaction(connection, campaign.campaign_id), range(TASKS))
        return connection.execute(query).all() == before


def accept(connection: Connection, campaign: Campaign, lies: bool, *leases: object) -> None:
    """Hand in results within a transaction that goes on."""
    results = [delivery(lease, forged(lease.index) if lies else TRUE[lease.index]) for lease in leases]  # type: ignore[attr-defined,arg-type]
    acceptance.accept(Transaction(connection, campaign.campaign_id), campaign.record, campaign.plan, results)


@pytest.mark.parametrize("late", [False, True])
def test_a_distrust_that_commits_while_a_result_is_accepted(campaign: Campaign, other: Other, late: bool) -> None:
    """The liar's late result and the votes against it meet; both orders end in a recheck of the result."""
    caught, hidden = campaign.worker.lease("a", 2, -1 if late else HOUR)
    if late:
        campaign.worker.end(campaign.worker.lease("b", 2, HOUR))
    events(campaign, [delivery(caught, forged(caught.index))])
    let_be_drawn(campaign, caught.index)
    [second] = [lease for lease in campaign.worker.lease("b", TASKS, HOUR) if lease.index == caught.index]
    events(campaign, true_deliveries([second]))
    [third] = [lease for lease in campaign.worker.lease("c", TASKS, HOUR) if lease.index == caught.index]
    with campaign.database.writing() as connection:
        accept(connection, campaign, True, hidden)
        verdict = other(lambda mine: events(mine, true_deliveries([third])))
        if late:
            verdict.result(20)  # nothing to wait for: the lie is not in sight
        else:
            with pytest.raises(NotYet):
                verdict.result(MOMENT)
    verdict.result(20)
    assert campaign.reader.rechecked_tasks() == [hidden.index]
    with pytest.raises(WorkerDistrusted):
        campaign.worker.lease("a", 1, HOUR)
    with pytest.raises(UntrustedResults):
        campaign.reader.results()
    for worker in "bc":
        campaign.operator.release_worker(worker, "")
    finish(campaign, "d")
    finish(campaign, "b")
    assert campaign.reader.results() == TRUE
    assert settled_again(campaign)


def test_a_result_that_is_accepted_while_a_distrust_commits(campaign: Campaign, other: Other) -> None:
    caught, hidden = campaign.worker.lease("a", 2, -1)
    campaign.worker.end(campaign.worker.lease("b", 2, HOUR))
    events(campaign, [delivery(caught, forged(caught.index))])
    let_be_drawn(campaign, caught.index)
    events(campaign, true_deliveries(campaign.worker.lease("b", 1, HOUR)))
    [liar] = _voters(campaign, "host-a")
    with campaign.database.writing() as connection:
        transitions.one_at_a_time(Transaction(connection, campaign.campaign_id))
        connection.execute(text("UPDATE voter SET distrusted = 1 WHERE id = :id"), {"id": liar})
        other(lambda mine: events(mine, [delivery(hidden, forged(hidden.index))])).result(20)
    assert campaign.reader.rechecked_tasks() == sorted([caught.index, hidden.index])
    for worker in "bd":
        finish(campaign, worker)
    assert campaign.reader.results() == TRUE


def _voters(campaign: Campaign, host: str) -> list[int]:
    with campaign.database.reading() as connection:
        query = text("SELECT id FROM voter WHERE host = :host AND distrusted IS NULL")
        return list(connection.scalars(query, {"host": host}))


def test_two_votes_at_the_same_moment_count_each_other(campaign: Campaign, other: Other) -> None:
    campaign.operator.raise_share(1.0)
    held = {worker: campaign.worker.lease(worker, TASKS, -1) for worker in "abc"}
    leases = {worker: min(several, key=lambda lease: lease.index) for worker, several in held.items()}
    assert {lease.index for lease in leases.values()} == {0}
    events(campaign, [delivery(leases["a"], forged(leases["a"].index))])
    with campaign.database.writing() as connection:
        accept(connection, campaign, False, leases["b"])
        third = other(lambda mine: events(mine, true_deliveries([leases["c"]])))
        with pytest.raises(NotYet):
            third.result(MOMENT)
    third.result(20)
    assert campaign.reader.overview().checked.conflicts == 0
    assert _voters(campaign, "host-a") == []
    assert settled_again(campaign)


@pytest.mark.parametrize("share_first", [False, True])
def test_a_share_that_changes_while_a_result_is_accepted(
    campaign: Campaign, other: Other, share_first: bool
) -> None:
    """The result is drawn by the new share, whichever of the two comes first."""
    [lease] = campaign.worker.lease("a", 1, HOUR)
    with campaign.database.writing() as connection:
        if share_first:
            draw.raise_share(Transaction(connection, campaign.campaign_id), campaign.record, 1.0)
            later = other(lambda mine: events(mine, true_deliveries([lease])))
        else:
            accept(connection, campaign, False, lease)
            later = other(lambda mine: mine.operator.raise_share(1.0))
        with pytest.raises(NotYet):
            later.result(MOMENT)
    later.result(20)
    assert campaign.reader.rechecked_tasks() == [lease.index]
    assert [again.index for again in campaign.worker.lease("b", 1, HOUR)] == [lease.index]


@pytest.mark.exhaustive
@pytest.mark.parametrize("ledger", ["pgbouncer"], indirect=True)
def test_liars_and_honest_workers_all_at_once(ledger: Ledger, campaign: Campaign) -> None:
    """Each in a thread of its own; the share changes meanwhile; liars start again when they are found out."""
    together = Barrier(6)

    def work(number: int) -> None:
        chance = random.Random(number)
        lies = number if number < 3 else 0
        with Ledger(ledger.database.where) as own:
            mine = own.campaign(NAME)
            worker = ""
            together.wait()
            left = TURNS
            while left:
                try:
                    if not worker:
                        fresh = str(uuid.uuid4())
                        enrol(own, fresh, f"machine-{number}", "1")
                        worker = fresh
                    leases = mine.worker.lease(worker, chance.randint(1, 4), chance.choice([-1, HOUR]))
                    told = [forged(each.index, lies) if lies else TRUE[each.index] for each in leases]
                    events(mine, [delivery(each, result) for each, result in zip(leases, told, strict=True)])
                    if number == 5 and chance.random() < 0.2:
                        mine.operator.raise_share(chance.choice([0.0, 0.5, 1.0]))
                except WorkerDistrusted:
                    assert lies
                    worker = ""
                except LedgerBusy:  # the transaction was undone: the turn is taken again
                    continue
                left -= 1

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    campaign.operator.raise_share(1.0)
    with campaign.database.writing() as connection:
        connection.execute(text("UPDATE attempt SET deadline = 0 WHERE ended IS NULL"))
    for host in ("x", "y", "z", "x", "y", "z"):
        worker = str(uuid.uuid4())
        enrol(ledger, worker, host, "1")
        finish(campaign, worker)
    assert campaign.reader.results() == TRUE
    assert settled_again(campaign)
