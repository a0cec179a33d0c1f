"""Leases: tasks are granted to workers, and deadlines are moved.

As in :mod:`db.work.transitions`, each function is one change within a transaction, and its statements are composed
only once.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import ColumnElement, Connection, Integer, String, bindparam, func, select, update
from sqlalchemy.sql.dml import ReturningInsert

from db.attempts import Lease
from db.messages import LONGEST_SECONDS
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Result, Task, Worker
from db.states import DEATHS_BEFORE_SET_ASIDE, Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction
from db.work import nonces, queries, transitions
from db.work.transitions import SECONDS

CLOCK_STEP_SECONDS = 1.0
"""How far a clock may be set back without consequences."""
LAST_ATTEMPTS = 1_000
"""Number of attempts whose results show how fast tasks are evaluated."""
COPY_SECONDS = 60.0
"""How long a worker must have held a task before another worker may get a copy of it."""


_WORKER: ColumnElement[str] = bindparam("worker", type_=String)


def _starting_ready(condition: ColumnElement[bool]) -> ReturningInsert[int, int]:
    """A statement that starts attempts at up to ``count`` ready tasks that meet a condition, largest first."""
    return transitions.starting(
        select(Task.campaign_id, Task.task_index)
        .where(Task.campaign_id == CAMPAIGN, Task.state == TaskState.READY, condition)
        .order_by(Task.work.desc())
        .limit(bindparam("count", type_=Integer))
        .with_for_update(skip_locked=True, of=Task)
    )


_HOST = select(Worker.host).where(Worker.id == _WORKER).scalar_subquery()
_DIED_ON_THIS_HOST = (
    select(Attempt.id)
    .join(Worker, Worker.id == Attempt.worker_id)
    .where(
        Attempt.campaign_id == Task.campaign_id,
        Attempt.task_index == Task.task_index,
        Attempt.outcome == Outcome.DIED,
        Worker.host == _HOST,
    )
    .correlate(Task)
)
_START_READY = _starting_ready((Task.deaths == 0) | ~_DIED_ON_THIS_HOST.exists())
_START_AGAIN = _starting_ready((Task.deaths > 0) & (Task.deaths < DEATHS_BEFORE_SET_ASIDE))
_LEASE = (
    update(Task)
    .where(Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"))
    .values(state=TaskState.LEASED)
    .returning(Task.task_index, Task.work)
)


def _granting(worker_id: str, nonce: str, count: int, seconds: float) -> dict[str, object]:
    """The parameters of a statement that starts attempts."""
    return {
        "worker": worker_id,
        "nonce": nonces.digest(nonce),
        "count": count,
        "seconds": seconds,
    }


def claim(transaction: Transaction, worker_id: str, nonce: str, count: int, seconds: float) -> list[Lease]:
    """Lease up to ``count`` ready tasks, largest first; one that killed a process of this host is last, alone."""
    if not count:
        return []
    parameters = _granting(worker_id, nonce, count, seconds)
    attempts = transitions.grant(transaction, _START_READY, **parameters)
    if not attempts:
        attempts = transitions.grant(transaction, _START_AGAIN, **{**parameters, "count": 1})
    if not attempts:
        return []
    leased = transaction.execute(_LEASE, tasks=attempts).all()
    leases = [Lease(attempts[index], nonce, index, work, is_copy=False) for index, work in leased]
    return sorted(leases, key=lambda lease: -lease.work)


_START_COPIES = transitions.starting(
    select(Task.campaign_id, Task.task_index)
    .join(Attempt, (Attempt.campaign_id == Task.campaign_id) & (Attempt.task_index == Task.task_index))
    .where(
        Attempt.campaign_id == CAMPAIGN,
        Attempt.ended.is_(None),
        ~Attempt.copied,
        Attempt.granted < Now() - COPY_SECONDS,
        Attempt.worker_id != _WORKER,
        Task.state == TaskState.LEASED,
    )
    .order_by(Attempt.granted)
    .limit(bindparam("count", type_=Integer))
    .with_for_update(skip_locked=True, of=Task),
    copied=True,
)
_COPIED = (
    update(Attempt)
    .where(Attempt.campaign_id == CAMPAIGN, among(Attempt.task_index, "tasks"), Attempt.ended.is_(None))
    .values(copied=True)
)


def copy(transaction: Transaction, worker_id: str, nonce: str, count: int, seconds: float) -> list[Lease]:
    """Lease up to ``count`` tasks that other workers hold, those held longest first.

    The first result of such a task counts, the other confirms it.  Each task is copied once, and again when one of
    its two attempts ends without a result.
    """
    if count <= 0:
        return []
    parameters = _granting(worker_id, nonce, count, seconds)
    attempts = transitions.grant(transaction, _START_COPIES, **parameters)
    if not attempts:
        return []
    transaction.execute(_COPIED, tasks=attempts)
    work = queries.work(transaction, attempts)
    return [Lease(attempt, nonce, index, work[index], is_copy=True) for index, attempt in attempts.items()]


_RUNNING = transitions.CHOSEN, Attempt.ended.is_(None)
_RENEW = update(Attempt).where(*_RUNNING).values(deadline=Now() + SECONDS, seconds=SECONDS)
_RENEWED = select(Attempt.id).where(*_RUNNING)
_NOTE_STEPS = update(Attempt).where(Attempt.id == bindparam("attempt")).values(steps=bindparam("made"))


def renew(transaction: Transaction, attempts: list[int], seconds: float, steps: Mapping[int, int]) -> set[int]:
    """Move the deadlines of running attempts to ``seconds`` from now; returns the attempts that run.

    ``steps``: steps that were made in some of them, by attempt.
    """
    transaction.connection.execute(_RENEW, {"attempts": attempts, "seconds": seconds})
    running = set(transaction.connection.scalars(_RENEWED, {"attempts": attempts}))
    notes = [{"attempt": attempt, "made": made} for attempt, made in sorted(steps.items()) if attempt in running]
    if notes:
        transaction.connection.execute(_NOTE_STEPS, notes)
    return running


_CUT = (
    update(Attempt)
    .where(Attempt.ended.is_(None), Attempt.deadline > Now() + Attempt.seconds + CLOCK_STEP_SECONDS)
    .values(deadline=Now() + Attempt.seconds)
)


def cut(connection: Connection) -> int:
    """Shorten deadlines that are later than their leases last: the clock was ahead and has been set back."""
    return connection.execute(_CUT).rowcount


# By their ids alone: otherwise SQLite might read all attempts of the campaign.
_LAST_RESULTS = (
    select(Attempt.campaign_id, Worker.device_kind, Result.seconds, Task.work)
    .select_from(Attempt)
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Result, (Result.campaign_id == Attempt.campaign_id) & (Result.task_index == Attempt.task_index))
    .join(Task, (Task.campaign_id == Attempt.campaign_id) & (Task.task_index == Attempt.task_index))
    .where(
        Attempt.id > select(func.max(Attempt.id)).scalar_subquery() - LAST_ATTEMPTS,
        Attempt.outcome == Outcome.DONE,
        Task.work > 0,
        Result.seconds <= LONGEST_SECONDS,
    )
)


def pace(transaction: Transaction, device_kind: str) -> float | None:
    """Seconds per unit of work of the slowest of the last results of a kind of device; None: there are none."""
    rows = transaction.connection.execute(_LAST_RESULTS).all()
    ours = [row for row in rows if (row.campaign_id, row.device_kind) == (transaction.campaign_id, device_kind)]
    return max((row.seconds / row.work for row in ours), default=None)
