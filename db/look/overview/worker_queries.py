"""The workers of a campaign, and their attempts.

A worker usually serves one campaign.  It belongs to those of its attempts; where these are too many to be read, to
those of the first and the last of them that ended, and of those that run.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Float, Row, ScalarSelect, Select, and_, bindparam, case, func, or_, select

from db.look.figures.speeds import MIN_RESULTS, Arrival, RunningAttempt
from db.messages import MAX_SECONDS, MIN_SECONDS
from db.schema.declaring import ColumnOf
from db.schema.dialects import among
from db.schema.models import Attempt, Result, Task, Voter, Worker, same_task
from db.states import Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction

SEEN_SECONDS = 120.0
"""How much later than ``last_seen`` a worker may have made a request, with a large margin."""
FEW_ATTEMPTS = 5_000
"""With fewer attempts, a campaign's workers are found by them: a ledger may have many more workers of others."""
LAST_RESULTS = 20
"""Number of a worker's results from which the speed of its device is computed."""
MAX_COMPARED = 1_000
"""Maximum number of workers whose speeds are queried."""
SINCE: ColumnElement[float] = bindparam("since", type_=Float(53))


def _campaign_of(order: ColumnElement[Any] | ColumnOf[Any]) -> ScalarSelect[int]:
    return (
        select(Attempt.campaign_id)
        .where(Attempt.worker_id == Worker.id, Attempt.ended.is_not(None))
        .order_by(order)
        .limit(1)
        .correlate(Worker)
        .scalar_subquery()
    )


# Not by the index of campaigns (+ 0): otherwise SQLite would read all its attempts.
_RUNS_HERE = Attempt.ended.is_(None), Attempt.deadline > 0, Attempt.campaign_id + 0 == CAMPAIGN
_OF_CAMPAIGN: ColumnElement[bool] = or_(
    Worker.id.in_(select(Attempt.worker_id).where(*_RUNS_HERE)),
    _campaign_of(Attempt.ended) == CAMPAIGN,
    _campaign_of(Attempt.ended.desc()) == CAMPAIGN,
)


def _workers(last_ended: ColumnElement[Any]) -> Select[Any]:
    return (
        select(Worker.__table__, Voter.kind, Voter.token, Voter.distrusted, last_ended.label("last_ended"))
        .outerjoin(Voter, Voter.id == Worker.voter_id)
        .order_by(Worker.started, Worker.id)
    )


_ENDED = Attempt.worker_id == Worker.id, Attempt.ended.is_not(None)
_WORKERS_OF_MANY = _workers(
    select(func.max(Attempt.ended)).where(*_ENDED).correlate(Worker).scalar_subquery()
).where(_OF_CAMPAIGN)
_HERE = (
    select(Attempt.worker_id, func.max(Attempt.ended).label("last_ended"))
    .where(Attempt.campaign_id == CAMPAIGN)
    .group_by(Attempt.worker_id)
    .subquery()
)
_WORKERS_OF_FEW = _workers(_HERE.c.last_ended).join(_HERE, _HERE.c.worker_id == Worker.id)


def workers(transaction: Transaction, few: bool) -> list[Row[Any]]:
    """By their start, with the kind of their voter, and the last end of their attempts.

    ``few``: whether attempts are read by their campaign; else by their workers, with those in other campaigns.
    """
    return list(transaction.execute(_WORKERS_OF_FEW if few else _WORKERS_OF_MANY).all())


_RUNNING = (
    select(
        Attempt.task_index,
        Attempt.worker_id,
        Task.work,
        Task.state == TaskState.DONE,
        Attempt.granted,
        Attempt.deadline - func.coalesce(Attempt.seconds, 0.0),
        func.coalesce(Attempt.computed, 0.0),
        func.coalesce(Attempt.seconds, 0.0),
    )
    .join(Task, same_task(Task, Attempt))
    .where(*_RUNS_HERE)
)


def running(transaction: Transaction) -> list[RunningAttempt]:
    return [RunningAttempt._make(row) for row in transaction.execute(_RUNNING).all()]


_ARRIVALS = (
    select(Attempt.campaign_id, Attempt.worker_id, Attempt.ended, Task.work, Result.seconds)
    .select_from(Attempt)
    .join(Task, same_task(Task, Attempt))
    .outerjoin(
        Result,
        and_(
            same_task(Result, Attempt),
            Result.attempt_id == Attempt.id,
            # A worker that opens the ledger itself may report any time.
            Result.seconds.between(MIN_SECONDS, MAX_SECONDS),
        ),
    )
    .where(
        # By the workers alone: otherwise SQLite might read all attempts of the campaign.
        among(Attempt.worker_id, "workers"),
        Attempt.ended > SINCE,
        # Of a task and its copy, only the first result is progress; a recheck is work of its own.
        or_(Attempt.outcome == Outcome.DONE, and_(Attempt.outcome == Outcome.SUPERSEDED, ~Attempt.copied)),
    )
)


def arrivals(transaction: Transaction, workers: Sequence[Row[Any]], since: float) -> list[Arrival]:
    """The results of some workers (:func:`workers`) that came after a time."""
    seen = [row.id for row in workers if row.last_seen > since - SEEN_SECONDS]
    rows = transaction.connection.execute(_ARRIVALS, {"workers": seen, "since": since}).all()
    return [
        Arrival(row.worker_id, row.ended, row.work, row.seconds)
        for row in rows
        if row.campaign_id == transaction.campaign_id
    ]


# For each worker separately: in a join with all attempts, Postgres would read them all.
_last = (
    select(Attempt.campaign_id, Attempt.task_index, Attempt.id)
    .where(Attempt.worker_id == Worker.id, Attempt.ended.is_not(None))
    .order_by(Attempt.ended.desc())
    .limit(LAST_RESULTS)
    .correlate(Worker)
    .subquery()
)
_PACE = (
    select(case((func.count() >= MIN_RESULTS, func.sum(Task.work) / func.sum(Result.seconds))))
    .select_from(_last)
    .join(Task, same_task(Task, _last.c))
    .join(Result, same_task(Result, _last.c))
    .where(
        _last.c.campaign_id == CAMPAIGN,
        Result.attempt_id == _last.c.id,
        # A worker that opens the ledger itself may report any time.
        Result.seconds.between(MIN_SECONDS, MAX_SECONDS),
    )
    .correlate(Worker)
    .scalar_subquery()
)
_PACES = (
    select(Worker.id, _PACE.label("pace"))
    .where(among(Worker.id, "workers"), Worker.last_seen > SINCE)
    .order_by(Worker.last_seen.desc())
    .limit(MAX_COMPARED)
)


def paces(transaction: Transaction, workers: Collection[str], since: float) -> dict[str, float]:
    """Work per second of computing time of the last results of each of some workers that was seen after a time."""
    rows = transaction.execute(_PACES, workers=workers, since=since)
    return {row.id: row.pace for row in rows if row.pace is not None}


_WORK_OF = (
    select(func.sum(Task.work))
    .select_from(Attempt)
    .join(Task, same_task(Task, Attempt))
    .where(among(Attempt.worker_id, "workers"), Attempt.campaign_id == CAMPAIGN, Attempt.outcome == Outcome.DONE)
)


def work_of(transaction: Transaction, workers: Collection[str]) -> float:
    """The work of the tasks whose first results are from some workers."""
    return float(transaction.scalar(_WORK_OF, workers=workers) or 0.0) if workers else 0.0
