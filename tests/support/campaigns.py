"""A small campaign that many tests use: L(2,7) by polyphase, its true results, and forged ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import update

from db import Campaign, Credential, Delivery, Lease, Ledger, WorkerCampaign, read_export
from db.records import TaskRecord
from db.schema.models import Attempt
from db.states import EventKind, Outcome, Role
from db.store.transaction import Transaction
from db.trust import draw
from db.trust.terms import EVERYTHING, Terms
from db.work import deadlines
from langford.arithmetic.residue import residue
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from langford.result import Evaluation, PartialResult
from tests.support.enrolling import enrol

NAME = "seven"
PROBLEM = Problem.langford(7)
KEY = PlanKey(PROBLEM, "polyphase", 8)
PLAN = plan_of(KEY)
TASKS = len(PLAN.work)
COUNT = 26
HOUR = 3600.0
GOLDEN = Path(__file__).parents[1] / "golden"
TRUE = [each.result for each in read_export(GOLDEN / "campaign.jsonl.gz").results]


def forged(index: int, times: int = 1) -> PartialResult:
    """A wrong result that passes the checks of its task; there is one for each number ``times``."""
    value = TRUE[index].value + (times << PLAN.expectation(index).zero_bits)
    return replace(TRUE[index], value=value, residue=residue(value))


def delivery(shown: Credential, result: PartialResult, seconds: float = 0.5, provenance: str = "{}") -> Delivery:
    """A result handed in for an attempt."""
    return Delivery.of(shown, Evaluation(result, seconds, provenance))


def shown_by(lease: Credential) -> dict[str, Any]:
    """What a worker shows for an attempt, as JSON."""
    return {"attempt": lease.attempt, "nonce": lease.nonce}


def true_deliveries(leases: Iterable[Lease], seconds: float = 0.5) -> list[Delivery]:
    """The true result of each leased task."""
    return [delivery(lease, TRUE[lease.index], seconds) for lease in leases]


def events(campaign: Campaign, deliveries: Sequence[Delivery]) -> list[EventKind | None]:
    """Hand in results; the event of each."""
    return [receipt.event for receipt in campaign.worker.deliver(deliveries)]


def deliver(campaign: Campaign, shown: Credential, result: PartialResult) -> EventKind | None:
    """Hand in one result; its event."""
    [event] = events(campaign, [delivery(shown, result)])
    return event


def new_campaign(ledger: Ledger, workers: str = "ab") -> Campaign:
    """The campaign in a ledger, and some workers, each on a host of its own."""
    campaign = ledger.create_campaign(NAME, KEY, PLAN.work.tolist())
    for worker in workers:
        enrol(ledger, worker, f"host-{worker}", "1")
    return campaign


def terms_of(token: str) -> Terms:
    """The terms of a worker with this token; "": it opens the ledger itself."""
    return Terms.of(token) if token else EVERYTHING


def with_token(campaign: Campaign, token: str) -> WorkerCampaign:
    """The campaign as the task server serves it to the bearer of a token."""
    return campaign.worker.on(terms_of(token))


def pace(campaign: Campaign, device_kind: str = "cpu", token: str = "") -> float | None:
    """What the workers of a token, or those without one, are told of their kind of device."""
    with campaign.reading() as transaction:
        return deadlines.pace(transaction, device_kind, terms_of(token).digest)


def age(campaign: Campaign, seconds: float) -> None:
    """Make all running attempts older, as if time had passed; their deadlines stay."""
    with campaign.database.writing() as connection:
        connection.execute(update(Attempt).where(Attempt.ended.is_(None)).values(granted=Attempt.granted - seconds))


def let_be_drawn(campaign: Campaign, index: int) -> None:
    """Draw the result of one task."""
    with campaign.database.writing() as connection:
        draw.draw(Transaction(connection, campaign.campaign_id), [index])


def task_records(campaign: Campaign, state: str | None = None) -> list[TaskRecord]:
    """The tasks of a campaign, by index; ``state``: only those in it."""
    with campaign.reader.reading_tasks(state) as read:
        return list(read)


def finish(campaign: Campaign, worker: str) -> None:
    """Let an honest worker do all that it gets, which is no task twice."""
    done: set[int] = set()
    while leases := campaign.worker.lease(worker, TASKS, HOUR):
        assert done.isdisjoint(lease.index for lease in leases)
        campaign.worker.deliver(true_deliveries(leases))
        done.update(lease.index for lease in leases)


def write_used_ledger(where: str) -> None:
    """A new ledger with a row in every table, no running lease, and a campaign with tasks left."""
    with Ledger(where, create=True) as ledger:
        campaign = new_campaign(ledger)
        campaign.operator.raise_share(1.0)
        campaign.operator.new_token(Role.WORKER)
        first, *rest = campaign.worker.lease("a", TASKS, HOUR)
        campaign.worker.end([rest[0]], Outcome.FAILED, "an error with 'quotes' and ünïcode")
        campaign.worker.end([first], Outcome.PREEMPTED, "SIGTERM", {first.attempt: 1.0})
        campaign.worker.deliver(true_deliveries(rest[1:], 1 / 3))
        campaign.worker.deliver(true_deliveries(campaign.worker.lease("b", 1, HOUR), 0.1))
