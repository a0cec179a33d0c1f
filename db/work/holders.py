"""Who holds leases, and since when."""

from __future__ import annotations

from sqlalchemy import ColumnElement, String, bindparam, case, func, select

from db.records import LeaseHolder
from db.schema.declaring import aliased
from db.schema.dialects import InOneText, Now
from db.schema.models import Attempt, Voter, Worker, same_task
from db.store.transaction import CAMPAIGN, Transaction
from db.work import presence
from langford.words import some

NAMED = 4
"""How many workers a message names."""

_earlier, _its_worker, _its_voter = aliased(Attempt), aliased(Worker), aliased(Voter)


def held_since(voter: type[Voter]) -> ColumnElement[float]:
    """When the token of an attempt first got its task; ``voter``: that of the attempt.

    A worker that returns a task and leases it again counts as having held it since the first lease.
    """
    first = (
        select(func.min(_earlier.granted))
        .join(_its_worker, _its_worker.id == _earlier.worker_id)
        .join(_its_voter, _its_voter.id == _its_worker.voter_id)
        .where(same_task(_earlier, Attempt), _its_voter.token == voter.token)
        .correlate(Attempt, voter)
        .scalar_subquery()
    )
    return case((voter.token == "", Attempt.granted), else_=first)


# By the worker alone: otherwise SQLite might read all attempts of the campaign.
RUNNING: ColumnElement[str | None] = (
    select(InOneText(Attempt.id))
    .where(
        Attempt.worker_id == bindparam("worker", type_=String),
        Attempt.ended.is_(None),
        Attempt.campaign_id + 0 == CAMPAIGN,
    )
    .scalar_subquery()
)
"""The attempts of a worker that run, as text; None: there are none."""


_IN_TIME = (
    select(Voter.token)
    .join(Worker, Worker.voter_id == Voter.id)
    .join(Attempt, Attempt.worker_id == Worker.id)
    .where(Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None), Attempt.deadline >= Now())
    .where((Voter.token == "") | (Worker.last_seen > Now() - presence.RESTING_SECONDS))
    .distinct()
)


def tokens_in_time(transaction: Transaction) -> set[str]:
    """The digests of the tokens whose workers make requests and hold leases that are not overdue.

    "": workers that open the ledger themselves hold such leases, whether or not they were seen.
    """
    return set(transaction.scalars(_IN_TIME))


def lease_holders(transaction: Transaction, name: str | None = None) -> list[LeaseHolder]:
    """``name``: of the worker that is meant, see :func:`db.work.presence.called`; None: all."""
    holders = select(Attempt.worker_id).distinct().where(Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None))
    meant = [] if name is None else [presence.called(name)]
    rows = transaction.execute(
        select(Worker.id, Worker.host, Worker.process, Voter.token)
        .join(Voter, Voter.id == Worker.voter_id)
        .where(Worker.id.in_(holders), *meant)
    )
    return [LeaseHolder(*row) for row in rows]


_HELD = (
    select(Worker.id, Worker.host, Voter.token, func.count(Attempt.id).label("leases"))
    .join(Attempt, Attempt.worker_id == Worker.id)
    .join(Voter, Voter.id == Worker.voter_id)
    .where(Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None))
    .group_by(Worker.id, Worker.host, Voter.token)
    .order_by(func.count(Attempt.id).desc(), Worker.id)
)


def holders_in_words(transaction: Transaction) -> str:
    """Who holds leases, and how many, those with most first; "" if nobody does."""
    names, rows = presence.Names(transaction), transaction.execute(_HELD)
    return some([f"{row.leases:,} by {names.name(row.id, row.host, row.token)}" for row in rows], NAMED, "worker")
