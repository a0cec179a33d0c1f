"""Leases: tasks are granted to workers, and deadlines are moved.

As in :mod:`db.work.transitions`, each function is one change within a transaction, and its statements are composed
only once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import inf
from statistics import median_high

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Integer,
    String,
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
from db.messages import MAX_SECONDS
from db.schema.declaring import aliased
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Result, Task, Voter, Worker, same_task
from db.states import COMPLAINTS, FAILURES_BEFORE_SET_ASIDE, Outcome, TaskState
from db.store.transaction import CAMPAIGN, Transaction
from db.work import queries, transitions
from db.work.transitions import SECONDS, Claimant
from langford.methods.observed import credible

CLOCK_SECONDS = 60.0
"""Time between two checks whether the database's clock was ahead and was set back, or how long tasks take."""
CLOCK_STEP_SECONDS = 1.0
"""How far a clock may be set back without consequences."""
LAST_ATTEMPTS = 1_000
"""Number of attempts whose results show how fast tasks are evaluated."""
COPY_SECONDS = 60.0
"""How long a worker must have held a task before another worker may get a copy of it."""
MIN_TOKENS = 3
"""With fewer tokens, one that lies could decide how long the tasks of another are expected to take."""
TIMES_EXPECTED = 20.0
"""A lease from a server lasts up to this multiple of the time that the largest task is expected to take."""
MIN_LEASE_SECONDS, UNKNOWN_SECONDS, MAX_LEASE_SECONDS = 900.0, 3_600.0, 86_400.0
"""At least for this time, since a worker may compile kernels first; while nothing is known; and at most."""


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
    """Lease up to ``count`` ready tasks, largest first; one that killed a process here is last, alone."""
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
# A part of the next statement: tasks that have a copy (about as many as there are idle devices) or were held
# before.
_HELD = (
    select(
        Attempt.task_index,
        Attempt.granted,
        func.coalesce(Attempt.steps, 0).label("steps"),
        Voter.token,
        queries.held_since(Voter).label("since"),
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
    have made no steps, or are older than tasks warrant: otherwise whoever holds both would keep the task from all
    others.  Whoever gives a task back and gets it again has held it since the first time.
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
    work = queries.work(transaction, attempts)
    return [Lease(attempt, claimant.nonce, index, work[index], is_copy=True) for index, attempt in attempts.items()]


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
    extended: Collection[int],
    seconds: float,
    steps: Mapping[int, int],
) -> set[int]:
    """Move the deadlines of ``extended`` to ``seconds`` from now; returns the attempts that run.

    ``steps``: steps that were made in some of them, by attempt.
    """
    transaction.connection.execute(_RENEW, {"attempts": extended, "seconds": seconds})
    running = set(transaction.connection.scalars(_RENEWED, {"attempts": attempts}))
    notes = [{"attempt": attempt, "made": made} for attempt, made in sorted(steps.items()) if attempt in running]
    if notes:
        transaction.connection.execute(_NOTE_STEPS, notes)
    return running


_CUT = (
    update(Attempt)
    .where(Attempt.ended.is_(None), Attempt.deadline > Now() + Attempt.seconds + CLOCK_STEP_SECONDS)
    .values(
        deadline=Now() + Attempt.seconds,
        granted=case((Attempt.granted > Now(), Now()), else_=Attempt.granted),  # or nobody would get a copy
    )
)


# By their ids alone: otherwise SQLite might read all attempts of the campaign.
_LAST_RESULTS = (
    select(Attempt.campaign_id, Worker.device_kind, Voter.token, Result.seconds, Task.work)
    .select_from(Attempt)
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Voter, Voter.id == Worker.voter_id)
    .join(Result, same_task(Result, Attempt))
    .join(Task, same_task(Task, Attempt))
    .where(
        Attempt.id > select(func.max(Attempt.id)).scalar_subquery() - LAST_ATTEMPTS,
        Attempt.outcome == Outcome.DONE,
        Task.work > 0,
        Result.seconds <= MAX_SECONDS,
    )
)


def pace(transaction: Transaction, device_kind: str | None = None, token: str = "") -> float | None:
    """Seconds per unit of work at the slowest credible one of the last results with a token; None: unknown.

    If it has none, the median of those of other tokens counts, if there are MIN_TOKENS: what a single one claims
    decides nothing for others.  ``device_kind``: None: any; ``token``: digest, "" for workers that open the ledger.
    """
    told: dict[str, list[tuple[float, float]]] = {}
    for row in transaction.connection.execute(_LAST_RESULTS).all():
        if row.campaign_id == transaction.campaign_id and device_kind in (None, row.device_kind):
            told.setdefault(row.token, []).append((row.work, row.seconds))
    slowest = {of: max(seconds / work for work, seconds in credible(tasks)) for of, tasks in told.items()}
    if token in slowest:
        return slowest[token]
    return median_high(slowest.values()) if len(slowest) >= MIN_TOKENS else None


_LARGEST = select(func.max(Task.work)).where(Task.campaign_id == CAMPAIGN)


def warranted(transaction: Transaction, token: str) -> float:
    """The longest lease of a token (its digest) that the tasks of the campaign warrant, in seconds."""
    seconds = pace(transaction, token=token)
    if seconds is None:
        return UNKNOWN_SECONDS
    expected = seconds * float(transaction.scalar(_LARGEST) or 0.0)
    return min(max(MIN_LEASE_SECONDS, TIMES_EXPECTED * expected), MAX_LEASE_SECONDS)


class Deadlines:
    """The deadlines of a campaign's leases; looked at every CLOCK_SECONDS, by this process's clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        """``now``: a monotonic clock, in seconds."""
        self._now, self._next_look = now, 0.0
        # By the digest of a token: until when it is valid, and the seconds.
        self._longest: dict[str, tuple[float, float]] = {}

    def cut(self, connection: Connection) -> None:
        """Shorten leases whose deadlines are later than they last: the clock was ahead and has been set back."""
        if self._now() >= self._next_look:
            connection.execute(_CUT)
            self._next_look = self._now() + CLOCK_SECONDS

    def warranted(self, transaction: Transaction, token: str) -> float:
        """See :func:`warranted`."""
        until, longest = self._longest.get(token, (-inf, 0.0))
        if self._now() >= until:
            longest = warranted(transaction, token)
            self._longest[token] = self._now() + CLOCK_SECONDS, longest
        return longest
