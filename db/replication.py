"""Replication: another worker evaluates a task again, and votes decide when results disagree.

A task is queued for a recheck when it is drawn at random, when its result is the first of a worker, when two
of its results disagree, or when its worker is no longer trusted.  Each value that a worker found is a vote for
that value.  The votes of a distrusted worker do not count, nor those of a worker that found two values for the
same task.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Integer, String, bindparam, delete, insert, select, update

from db import nonces, queries, transitions
from db.dialects import Now, among, insert_new
from db.errors import UnknownWorker, WorkerDistrusted
from db.models import Attempt, Recheck, Result, Task, Witness, Worker
from db.records import AttemptRecord, CampaignRecord, Delivery, Lease
from db.states import EventKind, Outcome
from db.transitions import CAMPAIGN

CONTENT = ("attempt_id", "value", "residue", "evaluated", "seconds", "provenance", "accepted")
"""Columns that a result and a witness share."""


def is_drawn(campaign: CampaignRecord, index: int) -> bool:
    """Whether a task belongs to the random share that is rechecked; the answer never changes."""
    if not campaign.recheck_share:
        return False
    digest = hashlib.sha256(f"{campaign.name} {index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < campaign.recheck_share * 2**64


def queue(connection: Connection, campaign_id: int, tasks: Iterable[int]) -> None:
    """Queue tasks for a recheck, unless they are queued already."""
    rows = [{"campaign_id": campaign_id, "task_index": index} for index in sorted(set(tasks))]
    if rows:
        connection.execute(insert_new(connection.dialect.name, Recheck), rows)


_WORKER: ColumnElement[str] = bindparam("worker", type_=String)
_CLAIMANT = select(
    Worker.device_kind,
    Worker.distrusted,
    select(Recheck.task_index).where(Recheck.campaign_id == CAMPAIGN).exists().label("waiting"),
).where(Worker.id == _WORKER)
_EVALUATED_BY_CLAIMANT = (
    select(Witness.id)
    .join(Attempt, Attempt.id == Witness.attempt_id)
    .where(
        Witness.campaign_id == Recheck.campaign_id,
        Witness.task_index == Recheck.task_index,
        Attempt.worker_id == _WORKER,
    )
    .correlate(Recheck)
)
_START_RECHECKS = transitions.starting(
    select(Recheck.campaign_id, Recheck.task_index)
    .join(Result, (Result.campaign_id == Recheck.campaign_id) & (Result.task_index == Recheck.task_index))
    .join(Attempt, Attempt.id == Result.attempt_id)
    .join(Worker, Worker.id == Attempt.worker_id)
    .where(
        Recheck.campaign_id == CAMPAIGN,
        Recheck.attempt_id.is_(None),
        Attempt.worker_id != _WORKER,
        ~_EVALUATED_BY_CLAIMANT.exists(),
    )
    .order_by(Worker.device_kind == bindparam("own_device_kind"), Recheck.task_index)
    .limit(bindparam("count", type_=Integer))
    .with_for_update(skip_locked=True, of=Recheck)
)


def claim(
    connection: Connection, campaign_id: int, worker_id: str, nonce: str, count: int, seconds: float
) -> list[Lease]:
    """Lease up to ``count`` rechecks of tasks that the worker has not evaluated itself.

    Results from another kind of device come first.  Raises UnknownWorker or WorkerDistrusted.
    """
    claimant = connection.execute(_CLAIMANT, {"campaign": campaign_id, "worker": worker_id}).one_or_none()
    if claimant is None:
        raise UnknownWorker("this ledger does not know the worker: enrol it first")
    if claimant.distrusted is not None:
        raise WorkerDistrusted(
            "others found a result of this worker wrong: it gets no more tasks; check this machine's memory and "
            "GPU, and its version of langford"
        )
    if not claimant.waiting:
        return []
    parameters: dict[str, object] = {
        "campaign": campaign_id,
        "worker": worker_id,
        "nonce": nonces.digest(nonce),
        "own_device_kind": claimant.device_kind,
        "count": count,
        "seconds": seconds,
    }
    attempts = transitions.grant(connection, _START_RECHECKS, parameters)
    if not attempts:
        return []
    for index, attempt in attempts.items():
        key = Recheck.campaign_id == campaign_id, Recheck.task_index == index
        connection.execute(update(Recheck).where(*key).values(attempt_id=attempt))
    work = queries.work(connection, campaign_id, attempts)
    return [Lease(attempt, nonce, index, work[index]) for index, attempt in attempts.items()]


def suspects(
    connection: Connection, campaign: CampaignRecord, finished: Sequence[tuple[int, AttemptRecord]]
) -> list[int]:
    """The tasks to be rechecked among those that are about to be done.

    Args:
        finished: (task, attempt) of each of them.
    """
    unproven: set[str] = set()
    if campaign.recheck_share:
        worker_ids = {attempt.worker_id for _, attempt in finished}
        unproven = {
            worker_id for worker_id in worker_ids if not _has_result(connection, campaign.campaign_id, worker_id)
        }
    suspected = []
    for index, attempt in finished:
        if not attempt.trusted or attempt.worker_id in unproven or is_drawn(campaign, index):
            suspected.append(index)
            unproven.discard(attempt.worker_id)
    return suspected


def _has_result(connection: Connection, campaign_id: int, worker_id: str) -> bool:
    done_attempts = select(Attempt.id).where(
        Attempt.campaign_id == campaign_id, Attempt.worker_id == worker_id, Attempt.outcome == Outcome.DONE
    )
    return connection.scalar(done_attempts.limit(1)) is not None


def testify(connection: Connection, campaign_id: int, deliveries: Sequence[Delivery]) -> None:
    """Keep further results of tasks that have one, and let the votes decide.

    The same attempt and value count once.
    """
    attempts = [delivery.attempt for delivery in deliveries]
    testified = select(Witness.attempt_id, Witness.value).where(among(Witness.attempt_id, "attempts"))
    known = {tuple(row) for row in connection.execute(testified, {"attempts": attempts})}
    by_testimony = {(delivery.attempt, str(delivery.evaluation.result.value)): delivery for delivery in deliveries}
    rows = [
        transitions.result_row(campaign_id, delivery)
        for testimony, delivery in by_testimony.items()
        if testimony not in known
    ]
    if rows:
        connection.execute(insert(Witness).values(accepted=Now()), rows)
    tasks = sorted({delivery.evaluation.result.index for delivery in deliveries})
    # Other transactions with witnesses of these tasks wait here, and count these witnesses too when they go on.
    connection.execute(
        select(Task.task_index)
        .where(Task.campaign_id == campaign_id, among(Task.task_index, "tasks"))
        .order_by(Task.task_index)
        .with_for_update(key_share=True),  # new results and attempts refer to these rows, and need not wait
        {"tasks": tasks},
    )
    for index in tasks:
        settle(connection, campaign_id, index)


@dataclass(frozen=True)
class Vote:
    """A value that a worker found for a task.

    Attributes:
        witness_id: the row of the table ``witness``; None for the accepted result.
        value: as decimal text.
        worker_id: the worker.
        trusted: whether the worker is trusted.
    """

    witness_id: int | None
    value: str
    worker_id: str
    trusted: bool


def settle(connection: Connection, campaign_id: int, index: int) -> None:
    """Let the votes on a task decide, or ask for one more."""
    votes = _votes(connection, campaign_id, index)
    if len({vote.value for vote in votes}) == 1:
        # Two workers agree and one of them is trusted: no further witness is needed.
        if len({vote.worker_id for vote in votes}) > 1 and any(vote.trusted for vote in votes):
            _unqueue(connection, campaign_id, index)
        return
    inconsistent = {
        vote.worker_id
        for vote in votes
        for other in votes
        if other.worker_id == vote.worker_id and other.value != vote.value
    }
    voters: dict[str, set[str]] = {vote.value: set() for vote in votes}
    for vote in votes:
        if vote.trusted and vote.worker_id not in inconsistent:
            voters[vote.value].add(vote.worker_id)
    best, *others = sorted(voters, key=lambda value: -len(voters[value]))
    runner_up = max(len(voters[value]) for value in others)
    if len(voters[best]) <= runner_up:
        queue(connection, campaign_id, [index])
        return
    refuted = {vote.worker_id for vote in votes if vote.value != best and vote.trusted}
    accepted = next(vote for vote in votes if vote.witness_id is None)
    if accepted.value != best:
        _exchange(connection, campaign_id, index, next(vote.witness_id for vote in votes if vote.value == best))
    _unqueue(connection, campaign_id, index)
    detail = f"{best} by {len(voters[best])} trusted workers"
    transitions.record(connection, campaign_id, EventKind.SETTLED, index, None, detail)
    for worker_id in sorted(refuted):
        distrust(connection, campaign_id, worker_id, index)


def distrust(connection: Connection, campaign_id: int, worker_id: str, index: int) -> None:
    """Stop trusting a worker: its leases end, and others evaluate its results of all campaigns again.

    Args:
        campaign_id: where the votes on task ``index`` went against the worker.
    """
    connection.execute(update(Worker).where(Worker.id == worker_id).values(distrusted=Now()))
    transitions.record(connection, campaign_id, EventKind.DISTRUSTED, index, None, f"worker {worker_id}")
    note = "its worker is distrusted"
    transitions.end(connection, transitions.OF_WORKER, Outcome.EXPIRED, note, worker=worker_id)
    concerned = select(Attempt.campaign_id).where(Attempt.worker_id == worker_id).distinct()
    for concerned_id in connection.scalars(concerned).all():
        queue(connection, concerned_id, queries.untrusted(connection, concerned_id, worker_id))


def _votes(connection: Connection, campaign_id: int, index: int) -> list[Vote]:
    """The votes on a task, first the accepted value."""
    votes = []
    for table in (Result, Witness):
        rows = connection.execute(
            select(table, Attempt.worker_id, Worker.distrusted)
            .join(Attempt, Attempt.id == table.attempt_id)
            .join(Worker, Worker.id == Attempt.worker_id)
            .where(table.campaign_id == campaign_id, table.task_index == index)
            .order_by(table.accepted)
        ).mappings()
        for row in rows:
            votes.append(Vote(row.get("id"), row["value"], row["worker_id"], row["distrusted"] is None))
    return votes


def _exchange(connection: Connection, campaign_id: int, index: int, witness_id: int | None) -> None:
    """Make a witness the accepted result, and the accepted result a witness."""
    key = Result.campaign_id == campaign_id, Result.task_index == index
    old = connection.execute(select(*(getattr(Result, name) for name in CONTENT)).where(*key)).mappings().one()
    new = (
        connection.execute(select(*(getattr(Witness, name) for name in CONTENT)).where(Witness.id == witness_id))
        .mappings()
        .one()
    )
    connection.execute(update(Result).where(*key).values(**new))
    connection.execute(update(Witness).where(Witness.id == witness_id).values(**old))


def _unqueue(connection: Connection, campaign_id: int, index: int) -> None:
    connection.execute(delete(Recheck).where(Recheck.campaign_id == campaign_id, Recheck.task_index == index))
