"""Which campaigns of a ledger have new events or attempts, or running ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sqlalchemy import Connection, bindparam, func, select, union

from db.schema.models import Attempt, Event
from db.store.database import Database

LATE_SECONDS = 60.0
"""Until this age, a transaction may add an event with a smaller number than events that are visible."""

_LAST = select(func.max(Event.id))


class Horizon:
    """The number up to which no event will be added any more.

    A database assigns the numbers in order, but transactions end in another order.
    """

    def __init__(self, now: Callable[[], float], number: int = 0) -> None:
        """``now``: a monotonic clock, in seconds."""
        self._now, self.number = now, number
        # (time, last number at that time), oldest first.
        self._last: deque[tuple[float, int]] = deque()

    def move(self, last: int) -> None:
        now = self._now()
        self._last.append((now, last))
        while self._last[0][0] < now - LATE_SECONDS:
            self.number = max(self.number, self._last.popleft()[1])


_ACTIVE = union(
    select(Event.campaign_id).where(Event.id > bindparam("event")),
    select(Attempt.campaign_id).where(Attempt.id > bindparam("attempt")),
    # Use the index on deadlines.
    select(Attempt.campaign_id).where(Attempt.ended.is_(None), Attempt.deadline > 0),
)
_LAST_ATTEMPT = select(func.max(Attempt.id))


class Activity:
    """Which campaigns of a ledger are active, asked for all of them at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.reading() as connection:
            self._events = Horizon(database.now, last_event(connection))
            self._attempts = Horizon(database.now, last_attempt(connection))
        self._before: set[int] = set()

    def campaigns(self) -> set[int]:
        """The numbers of those with running attempts, now or at the last call, or with new attempts or events."""
        after = {"event": self._events.number, "attempt": self._attempts.number}
        with self._database.reading() as connection:
            last = last_event(connection), last_attempt(connection)
            now = set(connection.scalars(_ACTIVE, after))
        self._events.move(last[0])
        self._attempts.move(last[1])
        active, self._before = now | self._before, now
        return active


def last_event(connection: Connection) -> int:
    """0: there is none."""
    return connection.scalar(_LAST) or 0


def last_attempt(connection: Connection) -> int:
    """0: there is none."""
    return connection.scalar(_LAST_ATTEMPT) or 0
