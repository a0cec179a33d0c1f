"""The events of a campaign, for somebody who wants each new one once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection

from sqlalchemy import Connection, bindparam, func, select

from db.records import EventRecord
from db.states import EventKind
from db.store.database import Database
from db.store.models import Event

LATE_SECONDS = 60.0
"""A transaction of this age may still add an event whose number is below those of others."""

_COLUMNS = Event.id, Event.at, Event.kind, Event.task_index, Event.attempt_id, Event.detail
_HERE = Event.id > bindparam("after"), Event.campaign_id == bindparam("campaign")
_LAST = select(func.max(Event.id))


class Horizon:
    """The number of an event up to which none is added any more.

    A database gives out the numbers in order; but transactions end in another order.

    Attributes:
        number: that number.
    """

    def __init__(self, now: Callable[[], float], number: int = 0) -> None:
        """
        Args:
            now: a monotonic clock, in seconds.
            number: see the attribute.
        """
        self._now, self.number = now, number
        # (when, the last number then), oldest first.
        self._last: deque[tuple[float, int]] = deque()

    def move(self, last: int) -> None:
        """Note the number of the last event that can be seen now."""
        now = self._now()
        self._last.append((now, last))
        while self._last[0][0] < now - LATE_SECONDS:
            self.number = max(self.number, self._last.popleft()[1])


class EventReader:
    """Reads the events of a campaign that are recorded from now on."""

    def __init__(self, database: Database, campaign_id: int, kinds: Collection[EventKind]) -> None:
        """
        Args:
            database: where the campaign is kept.
            campaign_id: its number there.
            kinds: of the events that are wanted.
        """
        self._database, self._campaign_id = database, campaign_id
        self._query = select(*_COLUMNS).where(*_HERE, Event.kind.in_(sorted(kinds))).order_by(Event.id)
        with database.reading() as connection:
            self._horizon = Horizon(database.now, last_event(connection))
        # Those after the horizon: they are read again, and are not new.
        self._seen: set[int] = set()

    def new(self) -> list[EventRecord]:
        """The events since the last call, oldest first."""
        chosen = {"after": self._horizon.number, "campaign": self._campaign_id}
        with self._database.reading() as connection:
            last = last_event(connection)
            rows = connection.execute(self._query, chosen).all()
        new = [EventRecord(*row) for row in rows if row.id not in self._seen]
        self._horizon.move(last)
        self._seen = {row.id for row in rows if row.id > self._horizon.number}
        return new


class LatestEvents:
    """The number of the last event of each kind in a campaign, the earlier ones among them."""

    def __init__(self, database: Database, campaign_id: int, kinds: Collection[EventKind]) -> None:
        """The arguments are those of :class:`EventReader`."""
        self._database, self._campaign_id = database, campaign_id
        chosen = (*_HERE, Event.kind.in_(sorted(kinds)))
        self._query = select(Event.kind, func.max(Event.id)).where(*chosen).group_by(Event.kind)
        self._horizon = Horizon(database.now)
        self._latest: dict[EventKind, int] = {}

    def by_kind(self) -> dict[EventKind, int]:
        """The last event of each kind now; a kind without events is left out."""
        chosen = {"after": self._horizon.number, "campaign": self._campaign_id}
        with self._database.reading() as connection:
            last = last_event(connection)
            rows = connection.execute(self._query, chosen).all()
        self._latest |= {EventKind(kind): number for kind, number in rows}
        self._horizon.move(last)
        return dict(self._latest)


_BETWEEN = (
    select(*_COLUMNS)
    .where(*_HERE, Event.id <= bindparam("last"), Event.kind == bindparam("kind"))
    .order_by(Event.id)
)


def between(connection: Connection, campaign_id: int, kind: EventKind, after: int, last: int) -> list[EventRecord]:
    """The events of one kind in a campaign with numbers above ``after``, up to ``last``."""
    chosen = {"campaign": campaign_id, "kind": kind, "after": after, "last": last}
    return [EventRecord(*row) for row in connection.execute(_BETWEEN, chosen)]


def last_event(connection: Connection) -> int:
    """The number of the last event of the ledger; 0: there is none."""
    return connection.scalar(_LAST) or 0
