"""How long leases may last: a multiple of what the largest task is expected to take, judged by the last results.

Workers that open the ledger hold a task for as long as they renew its lease; for them this limit only tells when
others may get a copy or a recheck of a task that was held for longer.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from statistics import median_high
from typing import TypeVar, cast

from sqlalchemy import Connection, case, func, select, update

from db.messages import MAX_SECONDS
from db.schema.dialects import Now
from db.schema.models import Attempt, Result, Task, Voter, Worker, same_task
from db.states import Outcome
from db.store.transaction import CAMPAIGN, Transaction
from langford.methods.observed import credible

T = TypeVar("T")
CLOCK_SECONDS = 60.0
"""Time between two checks whether the database's clock was ahead and was set back, or how long tasks take."""
CLOCK_STEP_SECONDS = 1.0
"""How far a clock may be set back without consequences."""
LAST_ATTEMPTS = 1_000
"""Number of attempts whose results show how fast tasks are evaluated."""
MIN_TOKENS = 3
"""With fewer tokens, one that lies could decide how long the tasks of another are expected to take."""
TIMES_EXPECTED = 20.0
"""A lease from a server lasts up to this multiple of the time that the largest task is expected to take."""
MIN_LEASE_SECONDS, UNKNOWN_SECONDS, MAX_LEASE_SECONDS = 900.0, 3_600.0, 86_400.0
"""The shortest such lease, since a worker may compile kernels first; that while no time is known; the longest."""

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
    """Seconds per unit of work of the slowest credible result among the last ones; None: unknown.

    The results of a token decide for its own workers.  While there are none, the median over the other tokens
    decides, if there are MIN_TOKENS of them: no single token decides for others.

    Args:
        device_kind: only results of such devices; None: of all.
        token: its digest; "": of the workers that open the ledger.
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
    """The longest lease of a token (its digest) that the largest task of the campaign warrants, in seconds."""
    seconds = pace(transaction, token=token)
    if seconds is None:
        return UNKNOWN_SECONDS
    expected = seconds * float(transaction.scalar(_LARGEST) or 0.0)
    return min(max(MIN_LEASE_SECONDS, TIMES_EXPECTED * expected), MAX_LEASE_SECONDS)


class Deadlines:
    """What each lease asks of a campaign's deadlines, looked up every CLOCK_SECONDS by a clock of this process."""

    def __init__(self, now: Callable[[], float]) -> None:
        """``now``: a monotonic clock, in seconds."""
        self._now, self._next_look = now, 0.0
        # By what is asked, the digest of a token first: until when the answer is valid, and the answer.
        self._known: dict[tuple[str, ...], tuple[float, object]] = {}

    def cut(self, connection: Connection) -> None:
        """Shorten leases whose deadlines are later than they last: the clock was ahead and has been set back."""
        if self._now() >= self._next_look:
            connection.execute(_CUT)
            self._next_look = self._now() + CLOCK_SECONDS

    def warranted(self, transaction: Transaction, token: str) -> float:
        """See :func:`warranted`."""
        return self._once((token,), lambda: warranted(transaction, token))

    def pace(self, transaction: Transaction, device_kind: str, token: str) -> float | None:
        """See :func:`pace`."""
        return self._once((token, device_kind), lambda: pace(transaction, device_kind, token))

    def _once(self, asked: tuple[str, ...], look: Callable[[], T]) -> T:
        until, known = self._known.get(asked, (-inf, None))
        if self._now() >= until:
            known = look()
            self._known[asked] = self._now() + CLOCK_SECONDS, known
        return cast(T, known)
