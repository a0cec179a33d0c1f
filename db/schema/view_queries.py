"""The queries of the views (:mod:`db.schema.views`): names instead of numbers, times in ISO 8601 (UTC).

On a ledger with 1,000,000 tasks each takes less than a second; the view of the tasks if it is read in parts
(``benchmarks/large_ledger.py views``).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Float, Integer, Select, String, and_, case, cast, func, select
from sqlalchemy.orm import aliased
from sqlalchemy.sql.functions import FunctionElement

from db.schema.dialects import spelled
from db.schema.models import Attempt, Campaign, Result, Task, Voter, Witness, Worker, same_task
from db.states import LOST, Outcome, VoterKind


class Iso(FunctionElement[str]):
    """A time in seconds since 1970 as ISO 8601 text in UTC, with milliseconds."""

    type = String()
    inherit_cache = True


spelled(
    Iso,
    sqlite="strftime('%Y-%m-%dT%H:%M:%fZ', {}, 'unixepoch')",
    postgresql="""to_char(to_timestamp({}) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')""",
)


class WholeMinutes(FunctionElement[int]):
    type = Integer()
    inherit_cache = True


spelled(WholeMinutes, sqlite="CAST({} / 60 AS INTEGER)", postgresql="CAST(floor({} / 60) AS BIGINT)")


def _slurm(worker: Any) -> ColumnElement[str]:
    """The SLURM job as in the name of its log."""
    index: ColumnElement[str] = cast(worker.slurm_index, String)
    return case((worker.slurm_index.is_(None), worker.slurm_job), else_=worker.slurm_job + "_" + index)


def tasks() -> Select[*tuple[Any, ...]]:
    any_attempt = aliased(Attempt)
    of_task = same_task(any_attempt, Task)
    last = select(func.max(any_attempt.id)).where(*of_task).correlate(Task).scalar_subquery()
    number = select(func.count()).select_from(any_attempt).where(*of_task).correlate(Task).scalar_subquery()
    # All are joined by keys, so that a query pays only for the columns that it reads.
    return (
        select(
            Campaign.name.label("campaign"),
            Task.task_index.label("task"),
            Task.state,
            Task.work,
            Task.failures,
            Task.deaths,
            number.label("attempts"),
            Attempt.outcome,
            Iso(Attempt.granted).label("granted"),
            Iso(Attempt.began).label("began"),
            Iso(Attempt.ended).label("ended"),
            Result.seconds,
            Result.value,
            case((Result.confirmed_by.is_not(None), 1), (Result.attempt_id.is_not(None), 0)).label("confirmed"),
            Result.doubt,
            Attempt.worker_id.label("worker"),
            Worker.host,
            Worker.device_kind,
            Worker.device_model,
            _slurm(Worker).label("slurm"),
        )
        .select_from(Task)
        .join(Campaign, Campaign.id == Task.campaign_id)
        .outerjoin(Result, same_task(Result, Task))
        .outerjoin(Attempt, Attempt.id == func.coalesce(Result.attempt_id, last))
        .outerjoin(Worker, Worker.id == Attempt.worker_id)
    )


def workers() -> Select[*tuple[Any, ...]]:
    some_attempt = aliased(Attempt)
    campaign = (
        select(Campaign.name)
        .join(some_attempt, some_attempt.campaign_id == Campaign.id)
        .where(some_attempt.worker_id == Worker.id)
        .limit(1)
        .correlate(Worker)
        .scalar_subquery()
    )
    # The index of attempts by worker contains all that is needed of them.
    kept = Attempt.outcome.in_([Outcome.DONE, Outcome.SUPERSEDED])
    length = Attempt.ended - func.coalesce(Attempt.began, Attempt.granted)
    numbers = (
        select(
            Attempt.worker_id,
            _number(Attempt.ended.is_(None)).label("leased"),
            *(_number(Attempt.outcome == outcome).label(outcome.value) for outcome in Outcome),
            func.sum(case((kept, length), else_=0.0)).label("busy_seconds"),
            func.sum(case((Attempt.ended.is_(None) | kept, 0.0), else_=length)).label("lost_seconds"),
        )
        .group_by(Attempt.worker_id)
        .subquery("numbers")
    )
    return (
        select(
            Worker.id.label("worker"),
            campaign.label("campaign"),
            Worker.host,
            Worker.process,
            Worker.device_kind,
            Worker.device_model,
            Worker.cores,
            Worker.processes,
            Worker.kernels,
            _slurm(Worker).label("slurm"),
            Iso(Worker.started).label("started"),
            Iso(Worker.last_seen).label("last_seen"),
            Iso(Worker.ended).label("ended"),
            Worker.ending,
            Iso(Voter.distrusted).label("distrusted"),
            *(
                func.coalesce(column, 0).label(column.key)
                for column in numbers.c
                if column.key != Attempt.worker_id.key
            ),
        )
        .select_from(Worker)
        .outerjoin(Voter, Voter.id == Worker.voter_id)
        .outerjoin(numbers, numbers.c.worker_id == Worker.id)
    )


def _number(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def throughput() -> Select[*tuple[Any, ...]]:
    minute = WholeMinutes(Result.accepted).label("minute")
    others = select(Voter.id).where(Voter.kind != VoterKind.WORKER)
    minutes = (
        select(
            Result.campaign_id,
            minute,
            func.count().label("tasks"),
            func.sum(Task.work).label("work"),
            func.sum(Result.seconds).label("seconds"),
        )
        .join(Task, same_task(Task, Result))
        .where(Result.voter_id.not_in(others))
        .group_by(minute, Result.campaign_id)  # in this order SQLite reads the results as they arrived
        .subquery("minutes")
    )
    return select(
        Campaign.name.label("campaign"),
        Iso(cast(minutes.c.minute * 60, Float(53))).label("minute"),
        minutes.c.tasks,
        minutes.c.work,
        minutes.c.seconds,
    ).join(minutes, minutes.c.campaign_id == Campaign.id)


def is_lost() -> ColumnElement[bool]:
    """Whether an attempt ended without a result, and did not deliver a late one."""
    brought = (
        select(table.attempt_id)
        .where(same_task(table, Attempt), table.attempt_id == Attempt.id)
        .correlate(Attempt)
        .exists()
        for table in (Result, Witness)
    )
    return and_(Attempt.outcome.in_(LOST), *(~result for result in brought))


def lost_time() -> Select[*tuple[Any, ...]]:
    length = Attempt.ended - func.coalesce(Attempt.began, Attempt.granted)
    lost = (
        select(
            Attempt.campaign_id,
            Attempt.outcome,
            func.count().label("attempts"),
            func.sum(length).label("seconds"),
            func.max(length).label("longest"),
            func.min(Attempt.ended).label("first"),
            func.max(Attempt.ended).label("last"),
        )
        .where(is_lost())
        .group_by(Attempt.campaign_id, Attempt.outcome)
        .subquery("lost")
    )
    return select(
        Campaign.name.label("campaign"),
        lost.c.outcome,
        lost.c.attempts,
        lost.c.seconds,
        lost.c.longest,
        Iso(lost.c.first).label("first"),
        Iso(lost.c.last).label("last"),
    ).join(lost, lost.c.campaign_id == Campaign.id)


def disagreements() -> Select[*tuple[Any, ...]]:
    """Each result that is not the accepted one of its task, with the accepted one."""
    accepted, other = (aliased(Attempt, name=f"{which}_attempt") for which in ("accepted", "other"))
    accepted_worker, other_worker = (aliased(Worker, name=f"{which}_worker") for which in ("accepted", "other"))
    return (
        select(
            Campaign.name.label("campaign"),
            Result.task_index.label("task"),
            Result.doubt,
            Result.value.label("accepted_value"),
            Iso(Result.accepted).label("accepted_at"),
            accepted.worker_id.label("accepted_worker"),
            accepted_worker.host.label("accepted_host"),
            accepted_worker.device_model.label("accepted_device"),
            accepted_worker.kernels.label("accepted_kernels"),
            Witness.value.label("other_value"),
            Iso(Witness.accepted).label("other_at"),
            other.worker_id.label("other_worker"),
            other_worker.host.label("other_host"),
            other_worker.device_model.label("other_device"),
            other_worker.kernels.label("other_kernels"),
            Iso(Voter.distrusted).label("other_distrusted"),
        )
        .select_from(Witness)
        .join(Result, same_task(Result, Witness))
        .join(Campaign, Campaign.id == Witness.campaign_id)
        .join(accepted, accepted.id == Result.attempt_id)
        .join(accepted_worker, accepted_worker.id == accepted.worker_id)
        .join(other, other.id == Witness.attempt_id)
        .join(other_worker, other_worker.id == other.worker_id)
        .outerjoin(Voter, Voter.id == other_worker.voter_id)
        .where(Witness.value != Result.value)
    )
