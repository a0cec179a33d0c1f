"""Changes of state of tasks and attempts: each function is one change, within a transaction.

The statements that every task needs are composed once, when the module is loaded: composing one takes longer
than executing it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
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

from db.attempts import digest
from db.schema.declaring import aliased
from db.schema.dialects import Now, among, given, update_statistics
from db.schema.models import Attempt, Event, Ledger, Task, Voter, Worker, same_task
from db.states import EventKind, Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction

BULK_ROWS = 10_000
SECONDS: ColumnElement[float] = bindparam("seconds", type_=Float(53))

EXPIRED: ColumnElement[bool] = Attempt.deadline < Now()
CHOSEN: ColumnElement[bool] = among(Attempt.id, "attempts")
OF_WORKER: ColumnElement[bool] = Attempt.worker_id == bindparam("worker")
OF_CAMPAIGN: ColumnElement[bool] = Attempt.campaign_id == CAMPAIGN
OF_WORKER_HERE: ColumnElement[bool] = OF_CAMPAIGN & OF_WORKER
OF_VOTER: ColumnElement[bool] = Attempt.worker_id.in_(
    select(Worker.id).where(Worker.voter_id == bindparam("voter", type_=Integer))
)
SHOWN: ColumnElement[str] = bindparam("shown", type_=String)
OF_TOKEN: ColumnElement[bool] = OF_CAMPAIGN & Attempt.worker_id.in_(
    select(Worker.id).join(Voter, Voter.id == Worker.voter_id).where(Voter.token == SHOWN)
)
"""Conditions that select the attempts that :func:`end` ends; ``shown``: the digest of a token."""


UNHEARD_SECONDS = 600.0
"""How long at most a lease lasts beyond its deadline while its worker may have tried to renew it in vain."""
_LONG_EXPIRED: ColumnElement[bool] = Attempt.deadline < Now() - UNHEARD_SECONDS
_HEARD: ColumnElement[bool] = Attempt.worker_id.in_(
    select(Worker.id).join(Voter, Voter.id == Worker.voter_id).where(~among(Voter.token, "unheard"))
)
_EXPIRED_THOUGH_HEARD: ColumnElement[bool] = EXPIRED & (_HEARD | _LONG_EXPIRED)

OVERDUE: ColumnElement[bool] = select(Attempt.id).where(EXPIRED, Attempt.ended.is_(None)).exists()
"""Whether any lease has expired."""


def insert_tasks(transaction: Transaction, work: Sequence[float]) -> None:
    """All are ready; ``work``: by index."""
    rows = given(transaction.dialect, [Task.task_index, Task.work]).add_columns(
        literal(transaction.campaign_id, Integer), literal(TaskState.READY, String), literal(0, Integer)
    )
    new = insert(Task).from_select([Task.task_index, Task.work, Task.campaign_id, Task.state, Task.failures], rows)
    for start in range(0, len(work), BULK_ROWS):
        batch = enumerate(work[start : start + BULK_ROWS], start)
        transaction.connection.execute(
            new, {"rows": [{"task_index": index, "work": float(task_work)} for index, task_work in batch]}
        )
    update_statistics(transaction.connection, Task)


def starting(tasks: Select[int, int], copied: bool = False) -> ReturningInsert[int, int]:
    """A statement that starts an attempt at every (campaign, task) that a query selects.

    Its parameters are those of the query, ``worker``, ``nonce`` (the digest) and ``seconds``.  ``copied``: whether
    other attempts run at the same tasks.
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


@dataclass(frozen=True)
class Claimant:
    """A worker that asks for leases, and what they are like."""

    worker_id: str
    host: str  # of its voter
    token: str  # the digest of its token; "" for a worker that opens the ledger itself
    nonce: str  # of all leases of one call
    seconds: float  # until the deadline
    longest: float  # for how many seconds others may keep a task from it, see db.work.deadlines.warranted

    @property
    def voter(self) -> dict[str, str]:
        """The parameters of statements that ask what workers of its host with its token did."""
        return {"host": self.host, "token": self.token}


def grant(
    transaction: Transaction, start: ReturningInsert[int, int], claimant: Claimant, **parameters: object
) -> dict[int, int]:
    """Execute a statement of :func:`starting`; ``parameters``: of its query.  Returns the new attempts by task."""
    lease = {"worker": claimant.worker_id, "nonce": digest(claimant.nonce), "seconds": claimant.seconds}
    return dict(transaction.rows(start, **lease, **parameters))


def set_aside(transaction: Transaction, index: int, attempt: int | None, reason: str) -> None:
    """Set aside a task, unless it is done."""
    for state in (TaskState.READY, TaskState.LEASED):  # leased: a copy of the attempt runs
        set_state(transaction, [index], TaskState.SET_ASIDE, state)
    record(transaction, EventKind.SET_ASIDE, index, attempt, reason)


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
    transaction: Transaction,
    condition: ColumnElement[bool],
    outcome: Outcome,
    note: str | None,
    **parameters: object,
) -> list[str]:
    """End running attempts; their tasks become ready again, unless they are done or other attempts run.

    ``condition``: EXPIRED, CHOSEN, OF_WORKER, OF_VOTER, OF_CAMPAIGN, OF_TOKEN or OF_WORKER_HERE; ``parameters``:
    its other ones.  ``note``: None keeps an earlier note.  Returns the workers, one for each attempt.
    """
    rows = transaction.execute(_ending(condition), how=outcome, why=note, **parameters).all()
    for campaign_id in sorted({row.campaign_id for row in rows}):
        indices = {row.task_index for row in rows if row.campaign_id == campaign_id}
        concerned = transaction.on(campaign_id)
        left = indices - _leave(concerned, indices)
        set_state(concerned, sorted(left), TaskState.READY, TaskState.LEASED)
    return [row.worker_id for row in rows]


def expire(transaction: Transaction, unheard: Collection[str] | None) -> list[str]:
    """End the leases that have expired; returns their workers.

    ``unheard``: digests of tokens whose workers may have tried to renew in vain; None: anybody may have.
    """
    if unheard is None:
        return end(transaction, _LONG_EXPIRED, Outcome.EXPIRED, None)
    condition = _EXPIRED_THOUGH_HEARD if unheard else EXPIRED
    return end(transaction, condition, Outcome.EXPIRED, None, unheard=list(unheard))


_LOCKED = (
    select(Task.task_index)
    .where(Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"))
    .order_by(Task.task_index)
    .with_for_update(key_share=True)
)
_other = aliased(Attempt)
_OTHERS_RUN = (
    select(_other.id)
    .where(same_task(_other, Attempt), _other.ended.is_(None), _other.id != Attempt.id)
    .correlate(Attempt)
    .exists()
)
_LEFT = (
    update(Attempt)
    .where(Attempt.campaign_id == CAMPAIGN, among(Attempt.task_index, "tasks"), Attempt.ended.is_(None))
    .values(copied=_OTHERS_RUN)
    .returning(Attempt.task_index)
)


def _leave(transaction: Transaction, tasks: Collection[int]) -> set[int]:
    """Allow the last attempts that still run at these tasks to be copied again; returns the tasks with any."""
    # Of two transactions that end the last two attempts at a task, the second one sees the change of the first.
    transaction.execute(_LOCKED, tasks=tasks)
    return set(transaction.scalars(_LEFT, tasks=tasks))


@cache
def _setting(state: TaskState, only: TaskState | None) -> Update:
    tasks = update(Task).where(Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"))
    return (tasks if only is None else tasks.where(Task.state == only)).values(state=state)


def set_state(
    transaction: Transaction, indices: list[int], state: TaskState, only: TaskState | None = None
) -> None:
    """With ``only``, of the tasks that are in that state now."""
    transaction.change(_setting(state, only), tasks=indices)


def record(
    transaction: Transaction, kind: EventKind, task: int | None = None, attempt: int | None = None, detail: str = ""
) -> None:
    transaction.connection.execute(
        insert(Event).values(
            campaign_id=transaction.campaign_id,
            task_index=task,
            attempt_id=attempt,
            at=Now(),
            kind=kind,
            detail=detail,
        )
    )


_SETTLEMENTS = select(Ledger.uuid).with_for_update()


def one_at_a_time(transaction: Transaction) -> None:
    """Wait for other transactions that count votes; from then on they wait for this one.

    To be called before anything is changed: a transaction that waits here must not hold locks.
    """
    transaction.connection.execute(_SETTLEMENTS).all()
