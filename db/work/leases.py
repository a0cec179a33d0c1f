"""Leases: tasks are granted to workers, copied and renewed.

As in :mod:`db.work.transitions`, each function is one change within a transaction, and its statements are composed
only once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache

from sqlalchemy import (
    ColumnElement,
    Float,
    Integer,
    String,
    Update,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.sql.dml import ReturningInsert

from db.attempts import Lease
from db.schema.declaring import aliased
from db.schema.dialects import Now, among, given
from db.schema.models import Attempt, Task, Voter, Worker, same_task
from db.states import COMPLAINTS, FAILURES_BEFORE_SET_ASIDE, Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction
from db.work import holders, transitions
from db.work.transitions import SECONDS, Claimant

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


# Few tables and one subquery: Postgres plans this for each request.
_MY_COMPLAINTS = (
    select(func.count())
    .select_from(Attempt)
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Voter, Voter.id == Worker.voter_id)
    .where(same_task(Attempt, Task), Attempt.outcome.in_(COMPLAINTS), Attempt.id > Task.retried)
    .where(Voter.host == bindparam("host", type_=String), Voter.token == bindparam("token", type_=String))
    .correlate(Task)
    .scalar_subquery()
)
"""How often attempts by the same host with the same token failed at a task, or died."""
_MAY_TRY = _MY_COMPLAINTS < FAILURES_BEFORE_SET_ASIDE
_ALLOWED = case((Task.deaths > 0, 1), else_=FAILURES_BEFORE_SET_ASIDE)
_START_READY = _starting_ready(case((Task.deaths + Task.failures > 0, _MY_COMPLAINTS < _ALLOWED), else_=true()))
_START_AGAIN = _starting_ready(and_(Task.deaths > 0, _MAY_TRY))
_MAY_COPY = case((Task.deaths + Task.failures > 0, _MAY_TRY), else_=true())
_LEASE = (
    update(Task)
    .where(Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"))
    .values(state=TaskState.LEASED)
    .returning(Task.task_index, Task.work)
)


def claim(transaction: Transaction, claimant: Claimant, count: int) -> list[Lease]:
    """Lease up to ``count`` ready tasks, largest first.

    A task that killed a process of this host is leased last, and alone.
    """
    if not count:
        return []
    attempts = transitions.grant(transaction, _START_READY, claimant, count=count, **claimant.voter)
    if not attempts:
        attempts = transitions.grant(transaction, _START_AGAIN, claimant, count=1, **claimant.voter)
    if not attempts:
        return []
    leased = transaction.rows(_LEASE, tasks=attempts)
    leases = [Lease(attempts[index], claimant.nonce, index, work, is_copy=False) for index, work in leased]
    return sorted(leases, key=lambda lease: -lease.work)


_ANY_READY = select(
    select(Task.task_index).where(Task.campaign_id == CAMPAIGN, Task.state == TaskState.READY).exists()
)


def any_ready(transaction: Transaction) -> bool:
    """Whether any task waits for a worker."""
    return bool(transaction.scalar(_ANY_READY))


_START_COPIES = transitions.starting(
    select(Task.campaign_id, Task.task_index)
    .join(Attempt, same_task(Attempt, Task))
    .where(
        Attempt.campaign_id == CAMPAIGN,
        Attempt.ended.is_(None),
        ~Attempt.copied,
        Attempt.granted < Now() - COPY_SECONDS,
        Attempt.worker_id != _WORKER,
        Task.state == TaskState.LEASED,
        _MAY_COPY,
    )
    .order_by(Attempt.granted)
    .limit(bindparam("count", type_=Integer))
    .with_for_update(skip_locked=True, of=Task),
    copied=True,
)
_earlier = aliased(Attempt)
_GOT_AGAIN = (
    select(_earlier.id)
    .where(same_task(_earlier, Attempt), _earlier.id < Attempt.id, _earlier.granted < Now() - COPY_SECONDS)
    .correlate(Attempt)
    .exists()
)
# The running attempts at tasks that have a copy, about as many as there are idle devices, or were held before.
_HELD = (
    select(
        Attempt.task_index,
        Attempt.granted,
        func.coalesce(Attempt.steps, 0).label("steps"),
        Voter.token,
        holders.held_since(Voter).label("since"),
    )
    .join(Task, same_task(Task, Attempt))
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Voter, Voter.id == Worker.voter_id)
    .where(
        Attempt.campaign_id == CAMPAIGN,
        Attempt.ended.is_(None),
        or_(Attempt.copied, _GOT_AGAIN),
        Attempt.deadline > 0,
        Task.state == TaskState.LEASED,
    )
    .subquery("held")
    .c
)
_HELD_IN_VAIN = (
    select(_HELD.task_index)
    .group_by(_HELD.task_index)
    .having(
        func.min(_HELD.since) < Now() - COPY_SECONDS,
        func.sum(case((_HELD.token == bindparam("token", type_=String), 1), else_=0)) == 0,
        or_(
            and_(func.count(_HELD.token.distinct()) == 1, func.min(_HELD.token) != ""),
            and_(func.max(_HELD.since) < Now() - COPY_SECONDS, func.max(_HELD.steps) == 0),
            func.max(_HELD.since) < Now() - bindparam("longest", type_=Float(53)),
        ),
    )
    .order_by(func.min(_HELD.granted))
    .limit(bindparam("count", type_=Integer))
)
_START_SECOND_COPIES = transitions.starting(
    select(Task.campaign_id, Task.task_index)
    .where(Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"), Task.state == TaskState.LEASED, _MAY_COPY)
    .with_for_update(skip_locked=True, of=Task),
    copied=True,
)
_COPIED = (
    update(Attempt)
    .where(Attempt.campaign_id == CAMPAIGN, among(Attempt.task_index, "tasks"), Attempt.ended.is_(None))
    .values(copied=True)
)


def copy(transaction: Transaction, claimant: Claimant, count: int) -> list[Lease]:
    """Lease up to ``count`` tasks that other workers hold, those held longest first.

    The first result of such a task counts, the other confirms it.  Each task is copied once, and again when one of
    its two attempts ends without a result, or for a worker with another token when both are held with one token,
    have made no steps, or are older than tasks warrant (:func:`db.work.holders.held_since`): otherwise whoever
    holds both would keep the task from all others.
    """
    if count <= 0:
        return []
    attempts = transitions.grant(transaction, _START_COPIES, claimant, count=count, **claimant.voter)
    if len(attempts) < count:
        left = count - len(attempts)
        chosen = {"token": claimant.token, "count": left, "longest": claimant.longest}
        tasks = transaction.scalars(_HELD_IN_VAIN, **chosen).all()
        tasks = [task for task in tasks if task not in attempts]
        if tasks:
            attempts |= transitions.grant(
                transaction, _START_SECOND_COPIES, claimant, tasks=tasks, **claimant.voter
            )
    if not attempts:
        return []
    transaction.execute(_COPIED, tasks=attempts)
    work = task_work(transaction, attempts)
    return [Lease(attempt, claimant.nonce, index, work[index], is_copy=True) for index, attempt in attempts.items()]


def task_work(transaction: Transaction, tasks: Collection[int]) -> dict[int, float]:
    """The estimated work of some tasks, by task."""
    keys = Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks")
    rows = transaction.execute(select(Task.task_index, Task.work).where(*keys), tasks=tasks)
    return {row.task_index: row.work for row in rows}


def release_lost(transaction: Transaction, running: Collection[int], held: Collection[int]) -> None:
    """Release those running attempts of a worker that it does not hold: the answer that granted them was lost."""
    lost = set(running).difference(held)
    if lost:
        note = "its worker does not know of it"
        transitions.end(transaction, transitions.CHOSEN, Outcome.RELEASED, note, attempts=list(lost))


_RUNNING = transitions.CHOSEN, Attempt.ended.is_(None)
_RENEW = update(Attempt).where(*_RUNNING).values(deadline=Now() + SECONDS, seconds=SECONDS)
_RENEWED = select(Attempt.id).where(*_RUNNING)
_NOTE_STEPS = update(Attempt).where(Attempt.id == bindparam("attempt")).values(steps=bindparam("made"))


def renew(
    transaction: Transaction,
    attempts: Collection[int],
    extended: Mapping[float, Collection[int]],
    steps: Mapping[int, int],
    computed: Mapping[int, float],
) -> set[int]:
    """Move deadlines; returns those of some attempts that run.

    Args:
        extended: some of the attempts, by the seconds from now to their new deadlines.
        steps, computed: steps that were made in some of them, and seconds for which they were computed.
    """
    for seconds, later in extended.items():
        transaction.change(_RENEW, attempts=later, seconds=seconds)
    running = {row.id for row in transaction.rows(_RENEWED, attempts=attempts)}
    notes = [{"attempt": attempt, "made": made} for attempt, made in sorted(steps.items()) if attempt in running]
    if notes:
        transaction.connection.execute(_NOTE_STEPS, notes)
    note(transaction, {attempt: computed[attempt] for attempt in computed if attempt in running})
    return running


@cache
def _noting(dialect: str) -> Update:
    attempt, said = given(dialect, [Attempt.id, Attempt.computed]).subquery("said").c
    age = Now() - Attempt.granted
    # A worker may say anything, and messages may overtake each other.
    return (
        update(Attempt)
        .where(Attempt.id == attempt, Attempt.ended.is_(None))
        .where(or_(Attempt.computed.is_(None), Attempt.computed < said))
        .values(computed=case((said <= age, said), (age > 0, age), else_=0.0))
    )


def note(transaction: Transaction, computed: Mapping[int, float]) -> None:
    """Note for how many seconds some running attempts were computed, at most since their leases began."""
    if computed:
        rows = [{"id": attempt, "computed": seconds} for attempt, seconds in sorted(computed.items())]
        transaction.change(_noting(transaction.dialect), rows=rows)
