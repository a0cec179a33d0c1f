"""The clock of the database, which tests move: leases expire without a wait."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, event

DAY = 86_400.0
NOW = {
    "((julianday('now') - 2440587.5) * 86400.0)": "DOUBLE PRECISION",
    "extract(epoch from clock_timestamp())": "NUMERIC",
}
"""How statements ask for the time, and the type of the answer.  What reads answers is kept with a statement."""


@dataclass
class DatabaseClock:
    """How far ahead the clock of all databases is, for the statements of this process.

    Attributes:
        ahead: seconds.
        stopped: the time at which it was stopped, from which it is moved; None: it goes on.
    """

    ahead: float = 0.0
    stopped: float | None = None

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.ahead += seconds

    def stop(self) -> None:
        """Let no time pass but by :meth:`move`."""
        self.stopped = time.time()


@contextmanager
def moved_clock() -> Iterator[DatabaseClock]:
    """Let the databases of this process have a clock that can be moved.

    Every statement takes the time from :class:`db.schema.dialects.Now`, whose text is changed on its way.
    """
    clock = DatabaseClock()

    def change(
        connection: Connection, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> tuple[str, Any]:
        if clock.stopped is not None:
            for now, kind in NOW.items():
                statement = statement.replace(now, f"CAST({clock.stopped + clock.ahead!r} AS {kind})")
        statement = statement.replace("julianday('now')", f"(julianday('now') + {clock.ahead / DAY!r})")
        statement = statement.replace(
            "clock_timestamp()", f"(clock_timestamp() + interval '{clock.ahead!r} seconds')"
        )
        return statement, parameters

    event.listen(Engine, "before_cursor_execute", change, retval=True)
    try:
        yield clock
    finally:
        event.remove(Engine, "before_cursor_execute", change)
