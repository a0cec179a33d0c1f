"""A life of a ledger in which every operation is called, on SQLite and on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import ParamSpec, TypeVar
from unittest.mock import patch

import pytest
from msgspec import structs
from sqlalchemy import update

from db import Campaign, Credential, Delivery, Export, Ledger, Promise, WorkerCampaign
from db.campaign.operator import OperatorCampaign
from db.campaign.reader import ReaderCampaign
from db.campaign.worker import Extension
from db.errors import ConflictingResults, Unreplicated, UntrustedResults, WorkerDistrusted
from db.identity import Identity
from db.look.overview import worker_queries
from db.schema.models import Worker
from db.states import Ending, EventKind, Outcome, Role
from db.store import copying
from db.work.leases import COPY_SECONDS
from db.work.tokens import digest
from langford.result import Evaluation
from tests.support.campaigns import (
    COUNT,
    HOUR,
    KEY,
    NAME,
    PLAN,
    TASKS,
    TRUE,
    age,
    delivery,
    forged,
    terms_of,
    true_deliveries,
    with_token,
    write_used_ledger,
)
from tests.support.databases import fresh_database
from tests.support.enrolling import enrol

P = ParamSpec("P")
T = TypeVar("T")
MACHINE = dict.fromkeys(["cores", "processes", "device_model", "slurm_job", "slurm_index"])
NOUNS = Ledger, WorkerCampaign, OperatorCampaign, ReaderCampaign
NO_STATEMENTS = {"close", "on"}


class Calls:
    """Operations that were called.

    Attributes:
        names: of them.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()

    def call(self, operation: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        self.names.add(operation.__qualname__)
        return operation(*arguments, **options)


def life_of_a_ledger(log: Calls, where: str) -> None:
    """Everything that may happen to a campaign, at least once."""
    call = log.call
    ledger = call(Ledger, where, create=True)
    assert len(ledger.uuid) == 36
    call(ledger.require_writable)
    campaign = call(ledger.create_campaign, NAME, KEY, PLAN.work.tolist())
    call(ledger.create_campaign, NAME, KEY, PLAN.work.tolist())
    assert call(ledger.campaign, NAME) == campaign
    assert call(ledger.campaigns) == [campaign]
    assert (call(ledger.has, NAME), call(ledger.has, "other")) == (True, False)
    for worker in "abcd":
        enrol(ledger, worker, f"host-{worker}", "1", **MACHINE)
    life_of_leases(log, campaign)
    life_of_results(log, campaign)
    me = Identity.fresh()
    call(campaign.worker.end, call(campaign.worker.enrol, me, 1, HOUR, [])[1])
    call(campaign.worker.leave, me.worker_id, Ending.FINISHED)
    call(campaign.worker.expire_the_dead)
    call(campaign.operator.expire_the_dead)
    assert call(campaign.worker.info).standing.tasks_done == call(campaign.reader.info).standing.tasks_done == TASKS
    assert len(call(campaign.reader.export).results) == len(call(campaign.reader.results))
    assert call(campaign.reader.merged).problem == PLAN.problem
    imported = Export(NAME, KEY, TASKS, tuple(Evaluation(result, 0.25, "{}") for result in TRUE[:2]))
    assert len(call(ledger.take, imported, PLAN, "importer", "host", "2")[1]) == 2
    assert call(ledger.take, imported, PLAN, "importer", "host", "2") == (campaign, [])
    assert call(campaign.reader.promise).share == 1
    assert all([call(campaign.reader.why, 0), call(campaign.reader.why)])
    assert call(campaign.worker.why) == campaign.reader.why()
    promising = replace(imported, promise=Promise(0.5, frozenset([0])))
    assert call(ledger.take, promising, PLAN, "importer", "host", "2")[0].recheck_share == 1
    token = call(campaign.operator.new_token, Role.WORKER, 60.0, "for tests")
    assert [record.label for record in call(campaign.operator.tokens)] == ["for tests"]
    assert call(campaign.operator.extend, token, HOUR)
    assert call(campaign.operator.revoke, 10**6) == 0
    assert [right.role for right in call(ledger.rights, [token, "wrong"])] == [Role.WORKER]
    enrol(ledger, "idle", "host-a", "1", terms=terms_of(token))
    age_workers(ledger)
    enrol(ledger, "next", "host-a", "1", terms=terms_of(token))
    served = with_token(campaign, token)
    shown = call(served.lease, "next", TASKS, HOUR, [], TASKS)
    held = {lease.attempt for lease in shown}
    assert call(served.renew, shown, HOUR, {}) == held
    extension = Extension(terms_of(token), shown, HOUR, {}, {})
    assert call(served.renew_each, [extension, replace(extension, credentials=[])]) == [held, set()]
    guessed = delivery(Credential(1, "guessed"), TRUE[0])
    assert [receipt.event for receipt in call(served.deliver, [guessed])] == [EventKind.REFUSED]
    receipts, _ = call(served.exchange, [guessed], "next", 1, HOUR, [lease.attempt for lease in shown])
    assert [receipt.event for receipt in receipts] == [EventKind.REFUSED]
    assert call(ledger.charge, {digest(token): 0.5}) is None
    assert [record.used for record in call(campaign.operator.tokens)] == [0.5]
    assert call(campaign.operator.revoke) == 1
    call(campaign.reader.seconds)
    call(campaign.reader.standing)
    assert call(campaign.worker.overview).tasks == call(campaign.reader.overview).tasks
    with patch.object(worker_queries, "FEW_ATTEMPTS", 0):
        call(campaign.reader.overview)
    with call(campaign.reader.reading_tasks) as tasks:
        assert len(list(tasks)) == TASKS
    assert call(campaign.reader.history).tasks == TASKS
    assert call(campaign.operator.cancel) == (0, 0)
    call(campaign.operator.rename, "eleven")
    call(campaign.refresh)
    kept = call(campaign.reader.trusted_export)
    assert kept.left_out == ()
    call(campaign.operator.delete, kept)
    ledger.close()


def age_workers(ledger: Ledger) -> None:
    """As if no worker had been seen for two hours."""
    with ledger.database.writing() as connection:
        connection.execute(update(Worker).values(last_seen=Worker.last_seen - 2 * HOUR))


def life_of_leases(log: Calls, campaign: Campaign) -> None:
    """Leases that are renewed, given back, expire and fail, until a task is set aside and taken up again."""
    call = log.call
    call(campaign.worker.lease, "a", 1, -1)  # expires with the next lease
    call(campaign.worker.lease, "b", 1, HOUR)  # goes back with the next: the answer got lost
    first, second = call(campaign.worker.lease, "b", 2, HOUR, [])
    assert call(campaign.worker.renew, [first], HOUR, {first.attempt: 7}) == {first.attempt}
    call(campaign.worker.lease, "a", TASKS, HOUR)
    age(campaign, 2 * COPY_SECONDS)
    assert len(call(campaign.worker.lease, "c", 1, HOUR, None, copies=1)) == 1
    assert call(campaign.operator.take_back, "to others", "a") == TASKS - 2
    assert call(campaign.operator.take_back, "to others") == 3
    [first, second] = call(campaign.worker.lease, "b", 2, HOUR)
    assert [holder.worker_id for holder in call(campaign.reader.lease_holders)] == ["b"]
    assert call(campaign.reader.patience) == inf
    assert call(campaign.reader.holders_in_words) == "2 by b on host-b"
    call(campaign.worker.end, [second], Outcome.PREEMPTED, "SIGTERM")
    assert call(campaign.operator.release_worker, "b", "gone") == 1
    for worker, last in (("a", False), ("a", False), ("d", True)):
        leases = {lease.index: lease for lease in call(campaign.worker.lease, worker, TASKS, HOUR)}
        failed = [leases.pop(0)]
        assert bool(call(campaign.worker.end, failed, Outcome.FAILED, "boom")) is last
        call(campaign.worker.end, leases.values())
    assert call(campaign.operator.reopen) == 1
    for worker, last in (("a", False), ("a", False), ("d", True)):
        deadly = next(lease for lease in call(campaign.worker.lease, worker, TASKS, HOUR) if lease.index == 0)
        assert bool(call(campaign.worker.end, [deadly], Outcome.DIED, "killed")) is last
        call(campaign.operator.take_back, "for the next")
        if not last:
            others = call(campaign.worker.lease, "a", TASKS - 1, HOUR)  # what ended a process comes last
            assert 0 not in {lease.index for lease in others}
    assert call(campaign.operator.reopen) == 1
    call(campaign.operator.take_back, "for the next")


def life_of_results(log: Calls, campaign: Campaign) -> None:
    """Results that count, confirm, are refused and conflict; votes that settle it and cost a worker its trust."""
    call = log.call

    def hand_in(deliveries: Sequence[Delivery]) -> list[EventKind | None]:
        return [receipt.event for receipt in call(campaign.worker.deliver, deliveries)]

    leases = call(campaign.worker.lease, "a", TASKS, HOUR)
    bad = replace(TRUE[leases[0].index], residue=1)
    assert hand_in([delivery(leases[0], bad)]) == [EventKind.REFUSED]
    assert hand_in([structs.replace(delivery(leases[0], bad), nonce="guessed")]) == [EventKind.REFUSED]
    lies = {lease.index: delivery(lease, forged(lease.index)) for lease in leases[1:3]}
    assert hand_in(list(lies.values())) == [None, None]
    assert set(hand_in(true_deliveries(leases[3:]))) == {None}
    call(campaign.operator.raise_share, 1.0)
    again = call(campaign.worker.lease, "b", TASKS, HOUR)
    doubted, *others = [lease for lease in again if lease.index in lies]
    confirmed = [lease for lease in again if lease.index not in lies]
    hand_in(true_deliveries(confirmed))
    assert hand_in(true_deliveries([doubted])) == [EventKind.CONFLICT]
    with pytest.raises(ConflictingResults):
        call(campaign.reader.results)
    call(campaign.worker.end, others)
    third = next(lease for lease in call(campaign.worker.lease, "c", TASKS, HOUR) if lease.index == doubted.index)
    assert hand_in(true_deliveries([third])) == [EventKind.CONFLICT]
    with pytest.raises(WorkerDistrusted):
        call(campaign.worker.lease, "a", 1, HOUR)
    with pytest.raises(UntrustedResults):
        call(campaign.reader.results)
    call(campaign.operator.release_worker, "c", "its tasks go to another")
    for worker in "bcb":
        hand_in(true_deliveries(call(campaign.worker.lease, worker, TASKS, HOUR)))
    assert (call(campaign.reader.merged), len(call(campaign.reader.results))) == (COUNT, TASKS)
    assert call(campaign.operator.question, [0, 1]) == [0, 1]
    assert call(campaign.operator.question, None, "host-b", "0f3a") == []
    assert call(campaign.reader.rechecked_tasks) == [0, 1]
    verdict = [Evaluation(TRUE[0], 0.125, "{}")]
    assert call(campaign.operator.judge, verdict, "operator", "host-o", "3") == [0]
    hand_in(true_deliveries(call(campaign.worker.lease, "b", TASKS, HOUR)))
    assert call(campaign.reader.replication).drawn == TASKS
    with pytest.raises(Unreplicated):
        call(campaign.reader.results)
    hand_in(true_deliveries(call(campaign.worker.lease, "c", TASKS, HOUR)))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_every_operation(kind: str, tmp_path: Path) -> None:
    for name in ("life", "source", "target"):
        (tmp_path / name).mkdir()
    life, source, target = (fresh_database(kind, tmp_path / name) for name in ("life", "source", "target"))
    log = Calls()
    life_of_a_ledger(log, life)
    write_used_ledger(source)
    copying.copy(source, target)
    operations = {
        member.__qualname__
        for noun in NOUNS
        for name, member in vars(noun).items()
        if callable(member) and not name.startswith("_") and name not in NO_STATEMENTS
    }
    assert log.names >= operations
