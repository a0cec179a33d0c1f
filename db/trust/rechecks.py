"""Rechecks: leases of tasks whose results wait to be evaluated again, for workers that may vote on them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Float, Integer, Row, Select, String, and_, bindparam, or_, select

from db.attempts import Lease
from db.schema.declaring import aliased
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Result, Voter, Witness, Worker, same_task
from db.states import COMPLAINTS, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from db.work import holders, leases, transitions
from db.work.identities import is_same
from db.work.transitions import Claimant

_DEVICE: ColumnElement[str] = bindparam("device", type_=String)
_KERNELS: ColumnElement[str] = bindparam("kernels", type_=String)
_COUNT: ColumnElement[int] = bindparam("count", type_=Integer)

_other_worker, _other = aliased(Worker), aliased(Voter)
# Whoever holds a recheck for longer than tasks warrant keeps it from no other voter.
_IS_RECENT = Attempt.ended.is_(None) & (holders.held_since(_other) > Now() - bindparam("longest", type_=Float(53)))
# Not by its outcome: an expired attempt may have delivered a late result.  By a join: Postgres copies a condition
# with a subquery, to filter attempts early, and one copy keeps the hashed witnesses of one task.
_HAS_RESULT = or_(Attempt.id == Result.attempt_id, Witness.id.is_not(None))
_COUNTS = and_(Attempt.questioned.is_(None), _other.distrusted.is_(None), _other.kind == VoterKind.WORKER)
_HAS_FAILED = and_(Attempt.outcome.in_(COMPLAINTS), Attempt.worker_id == bindparam("worker", type_=String))
_BARRED = (
    select(Attempt.id)
    .join(_other_worker, _other_worker.id == Attempt.worker_id)
    .join(_other, _other.id == _other_worker.voter_id)
    .outerjoin(Witness, same_task(Witness, Attempt) & (Witness.attempt_id == Attempt.id))
    .where(
        same_task(Attempt, Result),
        or_(
            _IS_RECENT,
            is_same(_other) & (Attempt.ended.is_(None) | and_(_HAS_RESULT, _COUNTS)),
            _HAS_FAILED,
        ),
    )
    .correlate(Result)
    .exists()
)
"""Whether a result is being evaluated again now, or the claimant must not do it: it has voted on the task or holds
it, or its worker has failed at it."""


def _available(results: Select[int, int]) -> Select[int, int]:
    """Up to ``count`` of some results that the claimant may evaluate again, locked."""
    return results.where(~_BARRED).limit(_COUNT).with_for_update(skip_locked=True, of=Result)


_URGENT = tuple(map(_available, (waiting.DOUBTED, waiting.SUSPECT)))
_HAS_DRAWN = waiting.DRAWN.where(Result.voter_id == Voter.id).correlate(Voter).exists()
_IS_ANOTHER = or_(Voter.kind != VoterKind.WORKER, Voter.distrusted.is_not(None), ~is_same(Voter))
_DRAWN_OF = (
    select(Voter.id)
    .where(_IS_ANOTHER, _HAS_DRAWN)
    .order_by(and_(Voter.device_kind == _DEVICE, Voter.kernels == _KERNELS), Voter.device_kind == _DEVICE, Voter.id)
)
"""The voters of drawn results that the claimant may confirm; those with other kernels come first."""
_DRAWN = _available(waiting.DRAWN.where(Result.voter_id == bindparam("voter", type_=Integer)))
_IS_RUNNING = (
    select(Attempt.id)
    .join(_other_worker, _other_worker.id == Attempt.worker_id)
    .join(_other, _other.id == _other_worker.voter_id)
    .where(same_task(Attempt, Result), _IS_RECENT)
    .correlate(Result)
    .exists()
)
# A separate statement: another transaction may have started the same recheck while this one waited for a row.
_START = transitions.starting(
    select(Result.campaign_id, Result.task_index).where(
        Result.campaign_id == CAMPAIGN, among(Result.task_index, "tasks"), ~_IS_RUNNING
    )
)


def claim(transaction: Transaction, claimant: Claimant, known: Row[*tuple[Any, ...]], count: int) -> list[Lease]:
    """Lease up to ``count`` rechecks to a worker that is independent of the earlier voters.

    Results in doubt come first, then results of other kernels.  ``known``: see :func:`db.trust.enrolment.known`.
    """
    if not known.may_wait:
        return []
    tasks = _rechecks(transaction, claimant, known, count)
    if not tasks:
        return []
    attempts = transitions.grant(transaction, _START, claimant, tasks=tasks, longest=claimant.longest)
    work = leases.task_work(transaction, attempts)
    return [
        Lease(attempts[index], claimant.nonce, index, work[index], is_copy=False)
        for index in tasks
        if index in attempts
    ]


def _rechecks(transaction: Transaction, claimant: Claimant, known: Row[*tuple[Any, ...]], count: int) -> list[int]:
    chosen = {"worker": claimant.worker_id, **claimant.voter, "longest": claimant.longest}
    tasks: dict[int, None] = {}
    for urgent in _URGENT:
        rows = transaction.execute(urgent, **chosen, count=count)
        tasks |= dict.fromkeys(row.task_index for row in rows)
    own = {"device": known.device_kind, "kernels": known.kernels}
    for voter_id in transaction.scalars(_DRAWN_OF, **claimant.voter, **own).all() if len(tasks) < count else ():
        rows = transaction.execute(_DRAWN, **chosen, voter=voter_id, count=count - len(tasks))
        tasks |= dict.fromkeys(row.task_index for row in rows)
        if len(tasks) >= count:
            break
    return list(tasks)[:count]
