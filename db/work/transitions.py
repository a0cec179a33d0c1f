"""Changes of state of tasks and attempts: each function is one change, within a transaction.

The statements that every task needs are composed once, when the module is loaded: composing one takes longer
than executing it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Integer,
    Select,
    String,
    Update,
    bindparam,
    false,
    func,
    insert,
    literal,
    select,
    true,
    update,
)
from sqlalchemy.sql.dml import ReturningInsert

from db.records import AttemptRecord, Delivery
from db.states import FAILURES_BEFORE_SET_ASIDE, EventKind, Outcome, TaskState
from db.store.dialects import Now, among, given, insert_new, update_statistics
from db.store.models import Attempt, Campaign, Event, Result, Task, Worker

BULK_ROWS = 10_000
CAMPAIGN: ColumnElement[int] = bindparam("campaign", type_=Integer)
SECONDS: ColumnElement[float] = bindparam("seconds", type_=Float(53))

EXPIRED: ColumnElement[bool] = Attempt.deadline < Now()
CHOSEN: ColumnElement[bool] = among(Attempt.id, "attempts")
OF_WORKER: ColumnElement[bool] = Attempt.worker_id == bindparam("worker")
OF_CAMPAIGN: ColumnElement[bool] = Attempt.campaign_id == CAMPAIGN
OF_WORKER_HERE: ColumnElement[bool] = OF_CAMPAIGN & OF_WORKER
OF_VOTER: ColumnElement[bool] = Attempt.worker_id.in_(
    select(Worker.id).where(Worker.voter_id == bindparam("voter", type_=Integer))
)
"""Conditions that choose the attempts that :func:`end` ends."""


def insert_tasks(connection: Connection, campaign_id: int, work: Sequence[float]) -> None:
    """Insert the tasks of a new campaign, all ready; ``work``: the estimated work of each."""
    rows = given(connection.dialect.name, [Task.task_index, Task.work]).add_columns(
        literal(campaign_id, Integer), literal(TaskState.READY, String), literal(0, Integer)
    )
    new = insert(Task).from_select([Task.task_index, Task.work, Task.campaign_id, Task.state, Task.failures], rows)
    for start in range(0, len(work), BULK_ROWS):
        batch = enumerate(work[start : start + BULK_ROWS], start)
        connection.execute(
            new, {"rows": [{"task_index": index, "work": float(task_work)} for index, task_work in batch]}
        )
    update_statistics(connection, Task)


def starting(tasks: Select[int, int], copied: bool = False) -> ReturningInsert[int, int]:
    """A statement that starts an attempt at every (campaign, task) that a query selects.

    Its parameters are those of the query, ``worker``, ``nonce`` (the digest) and ``seconds``.  ``copied``: whether
    others run beside the new attempts.
    """
    rows = tasks.add_columns(
        bindparam("worker", type_=String),
        bindparam("nonce", type_=String),
        Now(),
        Now() + SECONDS,
        SECONDS,
        true() if copied else false(),
    )
    columns = ["campaign_id", "task_index", "worker_id", "nonce", "granted", "deadline", "seconds", "copied"]
    return insert(Attempt).from_select(columns, rows).returning(Attempt.task_index, Attempt.id)


def grant(
    connection: Connection, start: ReturningInsert[int, int], parameters: dict[str, object]
) -> dict[int, int]:
    """Execute a statement of :func:`starting`; returns the attempts by task."""
    return dict(connection.execute(start, parameters).all())


def insert_results(
    connection: Connection,
    campaign_id: int,
    deliveries: Sequence[Delivery],
    attempts: Mapping[int, AttemptRecord],
    lots: Mapping[int, float],
) -> set[int]:
    """Insert results of tasks that had none; returns the tasks whose results were inserted.

    A task is missing there when another transaction was faster.

    Args:
        deliveries: the results.
        attempts: the attempts, by number.
        lots: of their results, by number of the attempt.
    """
    if not deliveries:
        return set()
    # In the order of tasks: of two transactions with the same tasks only one waits for the other.
    rows = [
        {**result_row(delivery, lots[delivery.attempt]), "voter_id": attempts[delivery.attempt].voter_id}
        for delivery in sorted(deliveries, key=index_of)
    ]
    return set(connection.scalars(_insertion(connection.dialect.name), {"rows": rows, "campaign": campaign_id}))


@cache
def _insertion(dialect: str) -> Any:
    columns = [
        Result.task_index,
        Result.attempt_id,
        Result.value,
        Result.residue,
        Result.evaluated,
        Result.seconds,
        Result.provenance,
        Result.lot,
        Result.voter_id,
    ]
    # Within this statement: see turns.set_recheck_share().
    has_share = select(Campaign.recheck_share > 0).where(Campaign.id == CAMPAIGN).scalar_subquery()
    rows = given(dialect, columns).add_columns(CAMPAIGN, Now(), has_share)
    new = insert_new(dialect, Result).from_select(
        [*columns, Result.campaign_id, Result.accepted, Result.listed], rows
    )
    return new.returning(Result.task_index)


def index_of(delivery: Delivery) -> int:
    """The task of a delivery."""
    return delivery.evaluation.result.index


def result_row(delivery: Delivery, lot: float) -> dict[str, Any]:
    """What ``result`` and ``witness`` keep of a delivery."""
    evaluation = delivery.evaluation
    return {
        "task_index": evaluation.result.index,
        "attempt_id": delivery.attempt,
        **evaluation.result.to_text(),
        "seconds": evaluation.seconds,
        "provenance": evaluation.provenance,
        "lot": lot,
    }


def fail(connection: Connection, campaign_id: int, attempt: int, index: int, reason: str) -> bool:
    """Note that a task failed by itself in an attempt; returns whether it was set aside.

    A task that is done stays done, and is evaluated again by others if its result waits for that.
    """
    if not end(connection, CHOSEN, Outcome.FAILED, reason, attempts=[attempt]):
        return False
    key = Task.campaign_id == campaign_id, Task.task_index == index
    connection.execute(update(Task).where(*key).values(failures=Task.failures + 1))
    task = connection.execute(select(Task.failures, Task.state).where(*key)).one()
    if task.failures < FAILURES_BEFORE_SET_ASIDE or task.state == TaskState.DONE:
        return False
    set_aside(connection, campaign_id, index, attempt, reason)
    return True


def set_aside(connection: Connection, campaign_id: int, index: int, attempt: int | None, reason: str) -> None:
    """Set a task aside that is not done."""
    for state in (TaskState.READY, TaskState.LEASED):  # leased: a copy of the attempt runs
        set_state(connection, campaign_id, [index], TaskState.SET_ASIDE, state)
    record(connection, campaign_id, EventKind.SET_ASIDE, index, attempt, reason)


@cache
def _ending(condition: ColumnElement[bool]) -> Any:
    # An imported attempt has a note from its start.
    note = func.coalesce(bindparam("why", type_=String), Attempt.note)
    return (
        update(Attempt)
        .where(condition, Attempt.ended.is_(None))
        .values(ended=Now(), outcome=bindparam("how", type_=String), note=note)
        .returning(Attempt.id, Attempt.campaign_id, Attempt.task_index, Attempt.worker_id)
    )


def end(
    connection: Connection, condition: ColumnElement[bool], outcome: Outcome, note: str | None, **parameters: object
) -> int:
    """End running attempts; their tasks become ready again, unless they are done or other attempts run.

    Args:
        condition: which attempts end: EXPIRED, CHOSEN, OF_WORKER, OF_VOTER, OF_CAMPAIGN or OF_WORKER_HERE.
        outcome: how they end.
        note: why; None keeps an earlier note.
        parameters: of the condition: ``attempts``, ``worker``, ``voter``, ``campaign``.

    Returns the number of attempts that ended.
    """
    return len(ended(connection, condition, outcome, note, **parameters))


def ended(
    connection: Connection, condition: ColumnElement[bool], outcome: Outcome, note: str | None, **parameters: object
) -> list[str]:
    """End running attempts as :func:`end` does; returns the worker of each."""
    rows = connection.execute(_ending(condition), {"how": outcome, "why": note, **parameters}).all()
    for campaign_id in sorted({row.campaign_id for row in rows}):
        indices = {row.task_index for row in rows if row.campaign_id == campaign_id}
        left = indices - _leave(connection, campaign_id, indices)
        set_state(connection, campaign_id, sorted(left), TaskState.READY, TaskState.LEASED)
    return [row.worker_id for row in rows]


_LOCKED = (
    select(Task.task_index)
    .where(Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"))
    .order_by(Task.task_index)
    .with_for_update(key_share=True)
)
_ALONE_AGAIN = (
    update(Attempt)
    .where(Attempt.campaign_id == CAMPAIGN, among(Attempt.task_index, "tasks"), Attempt.ended.is_(None))
    .values(copied=False)
    .returning(Attempt.task_index)
)


def _leave(connection: Connection, campaign_id: int, tasks: Collection[int]) -> set[int]:
    """Let the attempts that run at tasks be copied again; returns their tasks."""
    parameters = {"campaign": campaign_id, "tasks": tasks}
    # Of two transactions that end the last two attempts at a task, the second sees what the first did.
    connection.execute(_LOCKED, parameters)
    return set(connection.scalars(_ALONE_AGAIN, parameters))


@cache
def _setting(state: TaskState, only: TaskState | None) -> Update:
    tasks = update(Task).where(Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"))
    return (tasks if only is None else tasks.where(Task.state == only)).values(state=state)


def set_state(
    connection: Connection, campaign_id: int, indices: list[int], state: TaskState, only: TaskState | None = None
) -> None:
    """Put tasks into a state; with ``only`` just those that are in that state now."""
    connection.execute(_setting(state, only), {"campaign": campaign_id, "tasks": indices})


def record(
    connection: Connection,
    campaign_id: int,
    kind: EventKind,
    task: int | None = None,
    attempt: int | None = None,
    detail: str = "",
) -> None:
    """Record an event."""
    connection.execute(
        insert(Event).values(
            campaign_id=campaign_id, task_index=task, attempt_id=attempt, at=Now(), kind=kind, detail=detail
        )
    )


def reopen(connection: Connection, campaign_id: int) -> int:
    """Make the tasks that were set aside ready again; returns how many."""
    set_aside = Task.campaign_id == campaign_id, Task.state == TaskState.SET_ASIDE
    fresh = update(Task).where(*set_aside).values(state=TaskState.READY, failures=0, deaths=0)
    return connection.execute(fresh).rowcount
