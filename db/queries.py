"""Read-only questions to a ledger, each one function on a connection."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from sqlalchemy import Connection, bindparam, func, select
from sqlalchemy.orm import aliased

from db.bulk import among
from db.models import Attempt, Campaign, Event, Recheck, Result, Task, Token, Witness, Worker
from db.records import CampaignRecord, OwnAttempt, Progress, TaskRecord
from db.states import EventKind, TaskState
from langford.arithmetic.limbs import exact_sum
from langford.problem import Problem
from langford.result import Evaluation, PartialResult


def campaign(connection: Connection, name: str) -> CampaignRecord | None:
    """The campaign of that name."""
    row = connection.execute(select(Campaign.__table__).where(Campaign.name == name)).one_or_none()
    if row is None:
        return None
    return CampaignRecord(
        row.id,
        row.name,
        Problem.parse(row.problem),
        row.method,
        row.depth,
        row.tasks,
        row.work,
        row.created,
        row.replicate,
    )


def campaign_names(connection: Connection) -> list[str]:
    """Names of all campaigns, oldest first."""
    return list(connection.scalars(select(Campaign.name).order_by(Campaign.id)))


def results(connection: Connection, campaign_id: int) -> list[PartialResult]:
    """All accepted results, by task."""
    rows = connection.execute(
        select(Result.task_index, Result.value, Result.residue, Result.evaluated)
        .where(Result.campaign_id == campaign_id)
        .order_by(Result.task_index)
    )
    return [PartialResult(row.task_index, int(row.value), int(row.residue), int(row.evaluated)) for row in rows]


def exported(connection: Connection, campaign_id: int) -> list[Evaluation]:
    """All accepted results with time and provenance, by task."""
    rows = connection.execute(
        select(Result.task_index, Result.value, Result.residue, Result.evaluated, Result.seconds, Result.provenance)
        .where(Result.campaign_id == campaign_id)
        .order_by(Result.task_index)
    )
    return [
        Evaluation(
            PartialResult(row.task_index, int(row.value), int(row.residue), int(row.evaluated)),
            row.seconds,
            row.provenance,
        )
        for row in rows
    ]


def origin(each: Evaluation) -> str:
    """What tells an exported result from another evaluation of its task."""
    text = f"{each.result} {each.seconds:.6f} {each.provenance}"
    return "import " + hashlib.sha256(text.encode()).hexdigest()[:24]


def origins(connection: Connection, campaign_id: int) -> set[tuple[int, str]]:
    """(task, origin) of all results that were imported, and of those that count."""
    imported = connection.execute(
        select(Attempt.task_index, Attempt.note).where(
            Attempt.campaign_id == campaign_id, Attempt.note.startswith("import ")
        )
    )
    own = exported(connection, campaign_id)
    return {(row.task_index, row.note) for row in imported} | {(each.result.index, origin(each)) for each in own}


def work(connection: Connection, campaign_id: int, tasks: Collection[int]) -> dict[int, float]:
    """Estimated work of these tasks, by task."""
    chosen = Task.campaign_id == campaign_id, among(Task.task_index, "tasks")
    rows = connection.execute(select(Task.task_index, Task.work).where(*chosen), {"tasks": tasks})
    return {row.task_index: row.work for row in rows}


# By the primary key alone: a database that knows little of its tables might walk through the whole campaign.
_ATTEMPTS = (
    select(
        Attempt.id,
        Attempt.campaign_id,
        Attempt.task_index,
        Attempt.worker_id,
        Worker.distrusted,
        Result.value,
        Result.attempt_id.label("by"),
    )
    .join(Worker, Worker.id == Attempt.worker_id)
    .outerjoin(Result, (Result.campaign_id == Attempt.campaign_id) & (Result.task_index == Attempt.task_index))
    .where(among(Attempt.id, "attempts"))
)


def attempts(connection: Connection, campaign_id: int, chosen: Collection[int]) -> dict[int, OwnAttempt]:
    """Those of these attempts that the campaign has."""
    rows = connection.execute(_ATTEMPTS, {"attempts": chosen})
    return {
        row.id: OwnAttempt(
            row.task_index, row.worker_id, row.distrusted is None, None if row.by is None else (row.value, row.by)
        )
        for row in rows
        if row.campaign_id == campaign_id
    }


_TOKENS = select(Token.digest, Token.role).where(Token.campaign_id == bindparam("campaign"))


def tokens(connection: Connection, campaign_id: int) -> list[tuple[str, str]]:
    """(digest, role) of the campaign's tokens."""
    rows = connection.execute(_TOKENS, {"campaign": campaign_id})
    return [(row.digest, row.role) for row in rows]


def conflicts(connection: Connection, campaign_id: int) -> list[tuple[int, str]]:
    """(task, what disagrees) of every task in conflict that was not settled since."""
    rows = connection.execute(
        select(Event.task_index, Event.kind, Event.detail)
        .where(Event.campaign_id == campaign_id, Event.kind.in_([EventKind.CONFLICT, EventKind.SETTLED]))
        .order_by(Event.id)
    )
    last = {row.task_index: row for row in rows}
    return [(row.task_index, row.detail) for row in last.values() if row.kind == EventKind.CONFLICT]


def untrusted(connection: Connection, campaign_id: int, worker: str | None = None) -> list[int]:
    """Tasks whose result is a distrusted worker's alone, or this one's."""
    held, other, third = aliased(Attempt), aliased(Attempt), aliased(Worker)
    confirmed = (
        select(Witness.id)
        .join(other, other.id == Witness.attempt_id)
        .join(third, third.id == other.worker_id)
        .where(
            Witness.campaign_id == Result.campaign_id,
            Witness.task_index == Result.task_index,
            Witness.value == Result.value,
            third.distrusted.is_(None),
        )
    )
    alone = (
        select(Result.task_index)
        .join(held, held.id == Result.attempt_id)
        .join(Worker, Worker.id == held.worker_id)
        .where(Result.campaign_id == campaign_id, Worker.distrusted.is_not(None), ~confirmed.exists())
        .order_by(Result.task_index)
    )
    return list(connection.scalars(alone if worker is None else alone.where(Worker.id == worker)))


def rechecks(connection: Connection, campaign_id: int, waiting: bool = False) -> int:
    """Tasks to be evaluated again; ``waiting``: those that nobody has leased for it."""
    query = select(func.count()).select_from(Recheck).where(Recheck.campaign_id == campaign_id)
    return connection.scalar(query.where(Recheck.attempt_id.is_(None)) if waiting else query) or 0


def lease_holders(connection: Connection, campaign_id: int) -> list[tuple[str, str, str]]:
    """(worker, host, process) with running attempts."""
    holders = (
        select(Attempt.worker_id).distinct().where(Attempt.campaign_id == campaign_id, Attempt.ended.is_(None))
    )
    rows = connection.execute(select(Worker.id, Worker.host, Worker.process).where(Worker.id.in_(holders)))
    return [(row.id, row.host, row.process) for row in rows]


_NOT_DONE = (
    select(Task.state, func.count(), func.sum(Task.work))
    .where(
        Task.campaign_id == bindparam("campaign"),
        Task.state.in_([state for state in TaskState if state is not TaskState.DONE]),
    )
    .group_by(Task.state)
)


def standing(connection: Connection, campaign: CampaignRecord) -> tuple[dict[str, int], dict[str, float]]:
    """(tasks, work) by state.

    Done is what the other states leave over: the more tasks are done, the more workers ask this in vain.
    """
    states = connection.execute(_NOT_DONE, {"campaign": campaign.id}).all()
    tasks = {row[0]: row[1] for row in states}
    work = {row[0]: float(row[2]) for row in states}
    done = campaign.tasks - sum(tasks.values())
    if done:
        tasks[TaskState.DONE] = done
        work[TaskState.DONE] = max(0.0, campaign.work - sum(work.values()))
    return tasks, work


def progress(connection: Connection, campaign: CampaignRecord) -> Progress:
    """Tasks, work, attempts and results in figures."""
    campaign_id = campaign.id
    tasks_by_state, work_by_state = standing(connection, campaign)
    attempts = connection.execute(
        select(func.coalesce(Attempt.outcome, "running"), func.count())
        .where(Attempt.campaign_id == campaign_id)
        .group_by(Attempt.outcome)
    ).all()
    confirmed = connection.scalar(
        select(func.count())
        .select_from(Event)
        .where(Event.campaign_id == campaign_id, Event.kind == EventKind.CONFIRMED)
    )
    done = connection.execute(
        select(Result.seconds, Result.evaluated).where(Result.campaign_id == campaign_id)
    ).all()
    return Progress(
        tasks_by_state,
        work_by_state,
        sum(row.seconds for row in done),
        exact_sum([int(row.evaluated) for row in done]),
        {row[0]: row[1] for row in attempts},
        confirmed or 0,
        len(conflicts(connection, campaign_id)),
        rechecks(connection, campaign_id),
    )


def tasks(connection: Connection, campaign_id: int, state: str | None) -> list[TaskRecord]:
    """Tasks with their results, by index."""
    query = (
        select(
            Task.task_index,
            Task.state,
            Task.work,
            Task.failures,
            Result.value,
            Result.residue,
            Result.evaluated,
            Result.seconds,
            Result.provenance,
        )
        .outerjoin(Result, (Result.campaign_id == Task.campaign_id) & (Result.task_index == Task.task_index))
        .where(Task.campaign_id == campaign_id)
        .order_by(Task.task_index)
    )
    if state is not None:
        query = query.where(Task.state == state)
    return [TaskRecord(*row) for row in connection.execute(query)]
