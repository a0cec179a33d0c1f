"""How many workers one token may have.

Idle workers that never held a lease are deleted: otherwise the bearer of a token could fill the ledger with
invented workers.  Workers that open the ledger themselves show no token; they could write anything into it anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import inf

from sqlalchemy import ColumnElement, Connection, String, bindparam, delete, func, or_, select

from db.errors import TooManyWorkers
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Result, Voter, Worker
from db.states import VoterKind
from db.store.database import Database

MAX_WORKERS = 4_096
"""Workers of a token that were seen recently, without those that have ended after an attempt."""
IDLE_SECONDS = 3_600.0
"""Time after which a worker without attempts is deleted; a running worker is seen at least every minute."""
COUNT_SECONDS = 60.0
"""Time between two counts of the workers of a token, which read all of them."""
MAX_AT_ONCE = 100
"""Workers that one enrolment deletes at most."""

_KNOWN = select(Worker.id).where(Worker.id == bindparam("worker"))
_LAST_SEEN: ColumnElement[float] = func.coalesce(Worker.last_seen, Worker.started)
_AWAY = Now() - IDLE_SECONDS > _LAST_SEEN
_WORKED = select(Attempt.id).where(Attempt.worker_id == Worker.id).correlate(Worker).exists()
_OF_TOKEN = Voter.token == bindparam("token", type_=String), Voter.kind == VoterKind.WORKER
_LIVING = (
    select(func.count())
    .select_from(Voter)
    .join(Worker, Worker.voter_id == Voter.id)
    .where(*_OF_TOKEN, ~_AWAY, or_(Worker.ended.is_(None), ~_WORKED))
)
_IDLE = (
    select(Worker.id)
    .select_from(Voter)
    .join(Worker, Worker.voter_id == Voter.id)
    .where(*_OF_TOKEN, _AWAY, ~_WORKED)
    .limit(MAX_AT_ONCE)
)


class Living:
    """How many workers of each token live: counted once a minute, and when there seems to be no room for another.

    Threads may share it.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """``now``: a monotonic clock, in seconds."""
        self._now = now
        # By the digest of a token: until when the count is taken for true, and the count.
        self._counted: dict[str, tuple[float, int]] = {}

    def admit(self, database: Database, worker_id: str, token: str) -> Collection[str]:
        """Workers to delete before one of a token (its digest) is registered; raises TooManyWorkers."""
        until, number = self._counted.get(token, (-inf, 0))
        forget: Collection[str] = ()
        if self._now() >= until or number >= MAX_WORKERS:
            # Not in the transaction that writes: a worker that is refused must not delay others.
            with database.reading() as connection:
                if is_known(connection, worker_id):
                    return ()
                number, forget = require_room(connection, token), idle(connection, token)
                until = self._now() + COUNT_SECONDS
        self._counted[token] = until, number + 1
        return forget


def is_known(connection: Connection, worker_id: str) -> bool:
    """Whether the worker has enrolled."""
    return connection.scalar(_KNOWN, {"worker": worker_id}) is not None


def idle(connection: Connection, token: str) -> list[str]:
    """Some workers of a token (its digest) that were not seen for IDLE_SECONDS and have never held a lease."""
    return list(connection.scalars(_IDLE, {"token": token}))


def require_room(connection: Connection, token: str) -> int:
    """How many workers of a token live; raises TooManyWorkers."""
    number = int(connection.execute(_LIVING, {"token": token}).scalar_one())
    if number >= MAX_WORKERS:
        raise TooManyWorkers(
            f"this token has {MAX_WORKERS:,} workers that were seen within the last hour: end some of them, or "
            "start this one with another token"
        )
    return number


# Rows are locked by one statement and checked by the next, which sees what was committed in between.
_LOCK = (
    select(Worker.id, Worker.voter_id)
    .where(among(Worker.id, "workers"))
    .order_by(Worker.id)
    .with_for_update(skip_locked=True)
)
_FORGET = delete(Worker).where(among(Worker.id, "workers"), _AWAY, ~_WORKED)
_LOCK_VOTERS = (
    select(Voter.id).where(among(Voter.id, "voters")).order_by(Voter.id).with_for_update(skip_locked=True)
)
_FORGET_VOTERS = delete(Voter).where(
    among(Voter.id, "voters"),
    Voter.kind == VoterKind.WORKER,
    Voter.distrusted.is_(None),
    ~select(Worker.id).where(Worker.voter_id == Voter.id).correlate(Voter).exists(),
    ~select(Result.voter_id).where(Result.voter_id == Voter.id).correlate(Voter).exists(),
    ~select(Result.confirmed_by).where(Result.confirmed_by == Voter.id).correlate(Voter).exists(),
)


def prune(connection: Connection, workers: Collection[str]) -> None:
    """Delete those of some workers that are still idle, and voters that are no longer referred to.

    A distrusted voter is never deleted: its machine would be trusted again.
    """
    if not workers:
        return
    locked = connection.execute(_LOCK, {"workers": sorted(workers)}).all()
    connection.execute(_FORGET, {"workers": [row.id for row in locked]})
    voters = sorted({row.voter_id for row in locked if row.voter_id is not None})
    free = list(connection.scalars(_LOCK_VOTERS, {"voters": voters}))
    connection.execute(_FORGET_VOTERS, {"voters": free})
