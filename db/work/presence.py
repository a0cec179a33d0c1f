"""When workers were last seen, and how their work ended."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Collection

from sqlalchemy import ColumnElement, Connection, String, and_, bindparam, func, null, or_, select, update

from db.machines import worker_name
from db.schema.dialects import Now
from db.schema.models import Attempt, Token, Voter, Worker
from db.states import Ending, VoterKind
from db.store.transaction import CAMPAIGN, Transaction

NOTE_SECONDS = 5.0
"""Time between two records that a worker was seen: each is a write, and thousands of workers ask constantly.

Whoever makes a request this long before it is called late, see :mod:`jobs.show.wording`, is recorded in time.
"""
MAX_REMEMBERED = 10_000
RESTING_SECONDS = 300.0
"""A worker renews its leases and reports its steps every minute: one not seen for longer makes no steps."""
PRESENCE_SECONDS = 600.0
"""How long a worker counts as present after its last request, unless it ends."""
SHORT_NAME = re.compile("[0-9a-f]{8}[0-9a-f-]{0,27}")
"""The start of a worker's UUID, as tables show it."""

_WORKER = Worker.id == bindparam("worker", type_=String)
# A worker whose leases have expired may come back.
_SEEN = update(Worker).where(_WORKER).values(last_seen=Now(), ended=null(), ending=null())
_LEFT = update(Worker).where(_WORKER).values(last_seen=Now(), ended=Now(), ending=bindparam("how", type_=String))
_HOLDS_LEASES = (
    select(Attempt.id).where(Attempt.worker_id == Worker.id, Attempt.ended.is_(None)).correlate(Worker).exists()
)
_LOST = (
    update(Worker).where(_WORKER, Worker.ended.is_(None), ~_HOLDS_LEASES).values(ended=Now(), ending=Ending.LOST)
)

# A worker that was seen later than now died, or asks again soon: the clock was ahead and has been set back.
IS_PRESENT = and_(
    Worker.last_seen > Now() - PRESENCE_SECONDS,
    Worker.last_seen <= Now() + NOTE_SECONDS,
    Worker.ended.is_(None),
)
AT_CAMPAIGN = or_(
    Voter.token.in_(select(Token.digest).where(Token.campaign_id == CAMPAIGN)),
    and_(
        Voter.token == "",
        select(Attempt.id)
        .where(Attempt.worker_id == Worker.id, Attempt.campaign_id == CAMPAIGN)
        .correlate(Worker)
        .exists(),
    ),
)
_VOTERS = (
    select(Voter.host, Voter.token)
    .join(Worker, Worker.voter_id == Voter.id)
    .where(IS_PRESENT, Voter.kind == VoterKind.WORKER, Voter.distrusted.is_(None), AT_CAMPAIGN)
    .distinct()
)


def voters(transaction: Transaction) -> set[tuple[str, str]]:
    """(host, token) of the trusted voters that are present at a campaign."""
    return {(row.host, row.token) for row in transaction.execute(_VOTERS)}


_PROCESSES = (
    select(Voter.token, func.sum(Worker.processes), func.count() - func.count(Worker.processes))
    .join(Worker, Worker.voter_id == Voter.id)
    .where(IS_PRESENT, Voter.kind == VoterKind.WORKER, Voter.distrusted.is_(None), AT_CAMPAIGN)
    .group_by(Voter.token)
)


def processes(transaction: Transaction) -> dict[str, int | None]:
    """How many processes the workers that are present state, by the digest of their token; None: not all do."""
    return {token: None if unknown else number for token, number, unknown in transaction.execute(_PROCESSES)}


_MAY_READ = select(func.has_column_privilege("token", "digest", "SELECT"))
_TOKENS = select(Token.digest, Token.id, Token.label).where(Token.campaign_id == CAMPAIGN)


def called(name: str) -> ColumnElement[bool]:
    """Whether an operator means a worker by this name: its UUID, the start of it that tables show, or its host."""
    named = [Worker.id == name, Worker.host == name]
    if SHORT_NAME.fullmatch(name):
        named.append(Worker.id.startswith(name, autoescape=True))
    return or_(*named)


class Names:
    """How workers of a campaign are named, with their tokens."""

    def __init__(self, transaction: Transaction) -> None:
        hidden = transaction.dialect == "postgresql" and not transaction.connection.scalar(_MAY_READ)
        rows = [] if hidden else transaction.execute(_TOKENS).all()
        self.numbers = {row.digest: row.id for row in rows}
        self._labels = {row.digest: f" {row.label!r}" if row.label else "" for row in rows}

    def name(self, worker: str, host: str, token: str) -> str:
        named = f", token {self.numbers[token]}{self._labels[token]}" if token in self.numbers else ""
        return f"{worker_name(worker, host)}{named}"


class Presence:
    """Records that workers were seen, each worker at most every NOTE_SECONDS; threads may share it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """``now``: a monotonic clock, in seconds."""
        self._now = now
        self._due: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def remembered(self) -> int:
        return len(self._due)

    def note(self, connection: Connection, workers: Collection[str]) -> None:
        """Record that these workers make a request now."""
        now = self._now()
        with self._lock:
            due = sorted(worker for worker in workers if self._due.get(worker, now) <= now)
            if len(self._due) >= MAX_REMEMBERED:
                self._due = {worker: then for worker, then in self._due.items() if then > now}
            self._due |= dict.fromkeys(due, now + NOTE_SECONDS)
        if due:
            connection.execute(_SEEN, [{"worker": worker} for worker in due])


def leave(connection: Connection, worker_id: str, ending: Ending) -> None:
    connection.execute(_LEFT, {"worker": worker_id, "how": ending})


def lose(connection: Connection, workers: Collection[str]) -> None:
    """Record as lost those of these workers that hold no lease and have not said that they ended."""
    for worker in sorted(workers):
        connection.execute(_LOST, {"worker": worker})
