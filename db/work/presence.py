"""When workers were last seen, and how their work ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection

from sqlalchemy import Connection, String, bindparam, null, select, update

from db.schema.dialects import Now
from db.schema.models import Attempt, Worker
from db.states import Ending

NOTE_SECONDS = 30.0
"""Time between two records that a worker was seen: each is a write, and thousands of workers ask constantly."""
MOST_REMEMBERED = 10_000

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


class Presence:
    """Records that workers were seen, each worker at most every NOTE_SECONDS; threads may share it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """``now``: a monotonic clock, in seconds."""
        self._now = now
        self._due: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def remembered(self) -> int:
        """Number of workers whose last record it remembers."""
        return len(self._due)

    def note(self, connection: Connection, workers: Collection[str]) -> None:
        """Record that these workers make a request now."""
        now = self._now()
        with self._lock:
            due = sorted(worker for worker in workers if self._due.get(worker, now) <= now)
            if len(self._due) >= MOST_REMEMBERED:
                self._due = {worker: then for worker, then in self._due.items() if then > now}
            self._due |= dict.fromkeys(due, now + NOTE_SECONDS)
        if due:
            connection.execute(_SEEN, [{"worker": worker} for worker in due])


def leave(connection: Connection, worker_id: str, ending: Ending) -> None:
    """Record how the work of a worker ended."""
    connection.execute(_LEFT, {"worker": worker_id, "how": ending})


def lose(connection: Connection, workers: Collection[str]) -> None:
    """Record as lost those of these workers that hold no lease and have not said that they ended."""
    for worker in sorted(workers):
        connection.execute(_LOST, {"worker": worker})
