"""Replication: results evaluated again by another worker, and what follows when they disagree.

A task is queued for a recheck when it is drawn by lot, when its result is a worker's first, when two results
of it disagree, or when its worker has lost trust.  Votes are the values that workers found; a worker that
found two values for one task has none, nor has a distrusted one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Integer, String, bindparam, delete, insert, select, update

from db import queries, transitions
from db.dialects import Now, among, insert_new
from db.errors import WorkerDistrusted
from db.models import Attempt, Recheck, Result, Task, Witness, Worker
from db.records import CampaignRecord, Delivery, Lease, OwnAttempt
from db.states import EventKind, Outcome
from db.transitions import CAMPAIGN

CONTENT = ("attempt_id", "value", "residue", "evaluated", "seconds", "provenance", "accepted")


def is_drawn(campaign: CampaignRecord, index: int) -> bool:
    """Whether the lot falls on a task: the same answer whenever it is asked."""
    if not campaign.recheck_share:
        return False
    digest = hashlib.sha256(f"{campaign.name} {index}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < campaign.recheck_share * 2**64


def queue(connection: Connection, campaign_id: int, tasks: Iterable[int]) -> None:
    """Queue tasks for a recheck, if they are not."""
    rows = [{"campaign_id": campaign_id, "task_index": index} for index in sorted(set(tasks))]
    if rows:
        connection.execute(insert_new(connection.dialect.name, Recheck), rows)


_WORKER: ColumnElement[str] = bindparam("worker", type_=String)
_ME = select(
    Worker.device_kind,
    Worker.distrusted,
    select(Recheck.task_index).where(Recheck.campaign_id == CAMPAIGN).exists().label("waiting"),
).where(Worker.id == _WORKER)
_OWN = (
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
        ~_OWN.exists(),
    )
    .order_by(Worker.device_kind == bindparam("own_device_kind"), Recheck.task_index)
    .limit(bindparam("count", type_=Integer))
    .with_for_update(skip_locked=True, of=Recheck)
)


def claim(connection: Connection, campaign_id: int, worker: str, count: int, seconds: float) -> list[Lease]:
    """Lease up to ``count`` rechecks of what the worker has not evaluated itself, those first
    whose result another kind of device found.  Raises WorkerDistrusted."""
    me = connection.execute(_ME, {"campaign": campaign_id, "worker": worker}).one_or_none()
    if me is not None and me.distrusted is not None:
        raise WorkerDistrusted(
            "others found a result of this worker wrong: it gets no more tasks; check this machine's memory and "
            "GPU, and its version of langford"
        )
    if me is None or not me.waiting:
        return []
    parameters: dict[str, object] = {
        "campaign": campaign_id,
        "worker": worker,
        "own_device_kind": me.device_kind,
        "count": count,
        "seconds": seconds,
    }
    attempts = transitions.grant(connection, _START_RECHECKS, parameters)
    if not attempts:
        return []
    for index, attempt in attempts.items():
        row = Recheck.campaign_id == campaign_id, Recheck.task_index == index
        connection.execute(update(Recheck).where(*row).values(attempt_id=attempt))
    work = queries.work(connection, campaign_id, attempts)
    return [Lease(attempt, index, work[index]) for index, attempt in attempts.items()]


def suspects(
    connection: Connection, campaign: CampaignRecord, fresh: Sequence[tuple[int, OwnAttempt]]
) -> list[int]:
    """Tasks to be rechecked among those about to be done: (task, attempt) of each."""
    unproven: set[str] = set()
    if campaign.recheck_share:
        workers = {attempt.worker for _, attempt in fresh}
        unproven = {worker for worker in workers if not _has_result(connection, campaign.campaign_id, worker)}
    chosen = []
    for index, attempt in fresh:
        if not attempt.trusted or attempt.worker in unproven or is_drawn(campaign, index):
            chosen.append(index)
            unproven.discard(attempt.worker)
    return chosen


def _has_result(connection: Connection, campaign_id: int, worker: str) -> bool:
    done = select(Attempt.id).where(
        Attempt.campaign_id == campaign_id, Attempt.worker_id == worker, Attempt.outcome == Outcome.DONE
    )
    return connection.scalar(done.limit(1)) is not None


def testify(connection: Connection, campaign_id: int, deliveries: Sequence[Delivery]) -> None:
    """Keep further results of tasks that have one; the same attempt and value count once."""
    attempts = [each.attempt for each in deliveries]
    testified = select(Witness.attempt_id, Witness.value).where(among(Witness.attempt_id, "attempts"))
    rows = connection.execute(testified, {"attempts": attempts})
    known = {tuple(row) for row in rows}
    fresh = {(each.attempt, str(each.evaluation.result.value)): each for each in deliveries}
    new = [transitions.result_row(campaign_id, each) for key, each in fresh.items() if key not in known]
    if new:
        connection.execute(insert(Witness).values(accepted=Now()), new)
    tasks = sorted({each.evaluation.result.index for each in deliveries})
    # Others who testify to these tasks wait here, and see these witnesses when they let the votes decide.
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
    """A value that a worker found for a task; ``witness`` is None for the accepted one."""

    witness: int | None
    value: str
    worker: str
    trusted: bool


def settle(connection: Connection, campaign_id: int, index: int) -> None:
    """Let the votes on a task decide, or ask for one more."""
    votes = _votes(connection, campaign_id, index)
    if len({vote.value for vote in votes}) == 1:
        # Agreement of two workers, one of whom is trusted, needs no further witness.
        if len({vote.worker for vote in votes}) > 1 and any(vote.trusted for vote in votes):
            _unqueue(connection, campaign_id, index)
        return
    turncoats = {
        vote.worker
        for vote in votes
        for other in votes
        if other.worker == vote.worker and other.value != vote.value
    }
    voters: dict[str, set[str]] = {vote.value: set() for vote in votes}
    for vote in votes:
        if vote.trusted and vote.worker not in turncoats:
            voters[vote.value].add(vote.worker)
    best, *others = sorted(voters, key=lambda value: -len(voters[value]))
    opposed = max(len(voters[value]) for value in others)
    if len(voters[best]) <= opposed:
        queue(connection, campaign_id, [index])
        return
    doubters = {vote.worker for vote in votes if vote.value != best and vote.trusted}
    accepted = next(vote for vote in votes if vote.witness is None)
    if accepted.value != best:
        _exchange(connection, campaign_id, index, next(vote.witness for vote in votes if vote.value == best))
    _unqueue(connection, campaign_id, index)
    detail = f"{best} by {len(voters[best])} trusted workers"
    transitions.record(connection, campaign_id, EventKind.SETTLED, index, None, detail)
    for worker in sorted(doubters):
        distrust(connection, campaign_id, worker, index)


def distrust(connection: Connection, campaign_id: int, worker: str, index: int) -> None:
    """Trust a worker no more: its leases end, its results are evaluated again by others."""
    connection.execute(update(Worker).where(Worker.id == worker).values(distrusted=Now()))
    transitions.record(connection, campaign_id, EventKind.DISTRUSTED, index, None, f"worker {worker}")
    note = "its worker is distrusted"
    transitions.end(connection, transitions.OF_WORKER, Outcome.EXPIRED, note, worker=worker)
    concerned = select(Attempt.campaign_id).where(Attempt.worker_id == worker).distinct()
    for own in connection.scalars(concerned).all():
        queue(connection, own, queries.untrusted(connection, own, worker))


def _votes(connection: Connection, campaign_id: int, index: int) -> list[Vote]:
    """The accepted value first."""
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


def _exchange(connection: Connection, campaign_id: int, index: int, witness: int | None) -> None:
    """Make a witness the accepted result, and that a witness."""
    key = Result.campaign_id == campaign_id, Result.task_index == index
    old = connection.execute(select(*(getattr(Result, name) for name in CONTENT)).where(*key)).mappings().one()
    new = (
        connection.execute(select(*(getattr(Witness, name) for name in CONTENT)).where(Witness.id == witness))
        .mappings()
        .one()
    )
    connection.execute(update(Result).where(*key).values(**new))
    connection.execute(update(Witness).where(Witness.id == witness).values(**old))


def _unqueue(connection: Connection, campaign_id: int, index: int) -> None:
    connection.execute(delete(Recheck).where(Recheck.campaign_id == campaign_id, Recheck.task_index == index))
