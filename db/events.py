"""The events of a campaign, for somebody who wants each new one once."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Collection

from sqlalchemy import Connection, bindparam, func, select

from db.database import Database
from db.models import Event
from db.records import EventRecord
from db.states import EventKind

LATE_SECONDS = 60.0
"""A transaction of this age may still add an event whose number is below those of others."""

_AFTER = (
    select(Event.id, Event.at, Event.kind, Event.task_index, Event.attempt_id, Event.detail)
    .where(Event.id > bindparam("floor"), Event.campaign_id == bindparam("campaign"))
    .order_by(Event.id)
)
_LAST = select(func.max(Event.id))


class EventReader:
    """Reads the events of a campaign that are recorded from now on.

    They are found by their numbers, which a database gives out in order; but transactions end in another order.  So
    the numbers of the last minute are looked at again, and the reader knows which of them it has seen.
    """

    def __init__(self, database: Database, campaign_id: int, kinds: Collection[EventKind]) -> None:
        """
        Args:
            database: where the campaign is kept.
            campaign_id: its number there.
            kinds: of the events that are wanted.
        """
        self._database, self._campaign_id = database, campaign_id
        self._query = _AFTER.where(Event.kind.in_(sorted(kinds)))
        with database.reading() as connection:
            self._floor = last_event(connection)
        # (when, the last number then), oldest first.
        self._last: deque[tuple[float, int]] = deque()
        self._seen: set[int] = set()

    def new(self) -> list[EventRecord]:
        """The events since the last call, oldest first."""
        with self._database.reading() as connection:
            now, last = time.monotonic(), last_event(connection)
            rows = connection.execute(self._query, {"floor": self._floor, "campaign": self._campaign_id}).all()
        new = [EventRecord(*row) for row in rows if row.id not in self._seen]
        self._last.append((now, last))
        while self._last and self._last[0][0] < now - LATE_SECONDS:
            self._floor = self._last.popleft()[1]
        self._seen = {row.id for row in rows if row.id > self._floor}
        return new


def last_event(connection: Connection) -> int:
    """The number of the last event of the ledger; 0: there is none."""
    return connection.scalar(_LAST) or 0
