"""The events of a campaign: the last of each kind, those between two, and which campaigns have any that are new."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection

from sqlalchemy import Connection, bindparam, func, select, union

from db.records import EventRecord
from db.schema.models import Attempt, Event
from db.states import EventKind
from db.store.database import Database

LATE_SECONDS = 60.0
"""Until this age, a transaction may add an event with a smaller number than events that are visible."""

COLUMNS = Event.id, Event.at, Event.kind, Event.task_index, Event.attempt_id, Event.detail
_HERE = Event.id > bindparam("after"), Event.campaign_id == bindparam("campaign")
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


class LatestEvents:
    """The number of the last event of each kind in a campaign, including earlier events."""

    def __init__(self, database: Database, campaign_id: int, kinds: Collection[EventKind]) -> None:
        self._database, self._campaign_id = database, campaign_id
        chosen = (*_HERE, Event.kind.in_(sorted(kinds)))
        self._query = select(Event.kind, func.max(Event.id)).where(*chosen).group_by(Event.kind)
        self._horizon = Horizon(database.now)
        self._latest: dict[EventKind, int] = {}

    def by_kind(self) -> dict[EventKind, int]:
        """Kinds without events are omitted."""
        chosen = {"after": self._horizon.number, "campaign": self._campaign_id}
        with self._database.reading() as connection:
            last = last_event(connection)
            rows = connection.execute(self._query, chosen).all()
        self._latest |= {EventKind(kind): number for kind, number in rows}
        self._horizon.move(last)
        return dict(self._latest)


_BETWEEN = (
    select(*COLUMNS)
    .where(*_HERE, Event.id <= bindparam("last"), Event.kind == bindparam("kind"))
    .order_by(Event.id)
)


def between(connection: Connection, campaign_id: int, kind: EventKind, after: int, last: int) -> list[EventRecord]:
    """Those with numbers above ``after``, up to ``last``."""
    chosen = {"campaign": campaign_id, "kind": kind, "after": after, "last": last}
    return [EventRecord(*row) for row in connection.execute(_BETWEEN, chosen)]


def last_event(connection: Connection) -> int:
    """0: there is none."""
    return connection.scalar(_LAST) or 0


def last_attempt(connection: Connection) -> int:
    """0: there is none."""
    return connection.scalar(_LAST_ATTEMPT) or 0
