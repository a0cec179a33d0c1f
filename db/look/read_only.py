"""SQL by users on a connection that only reads, with a time limit.

On SQLite only a SELECT is authorized, and what views hide is null; on Postgres the transaction is read-only, and a
cursor takes only a single SELECT, VALUES or TABLE.  That prevents mistakes: whoever may open a ledger may change it
by other programs anyway.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import DBAPIError

from db.errors import LedgerError
from db.schema.models import Base
from db.schema.views import HIDDEN, VIEWS
from db.store import soundness
from db.store.database import Database
from db.store.translation import DAMAGED, NO_SUCH, TOO_SLOW

SECONDS = 60.0
"""Time limit of a question, unless another one is given."""
BATCH = 2_000
MOST = 2**24
"""Bytes of one value in SQLite: no function makes longer ones, in time that is not limited."""
UNLIMITED = {"printf", "format"}
"""Functions that heed no limit, as printf('%.*c', 2000000000, 'x') does not."""
AUTHORIZED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
TICKS = 20_000
"""Instructions of SQLite's virtual machine between two checks of the time limit."""


class BadQuery(LedgerError):
    """A question that the ledger does not answer: it would change something, takes too long, or is not SQL."""


@dataclass(frozen=True)
class QueryResult:
    """Its rows are read as they are iterated."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[object, ...]]


def views() -> list[tuple[str, str]]:
    """Those of every ledger: their names, and what their rows are."""
    return [(view.name, view.summary) for view in VIEWS]


@contextmanager
def ask_sql(database: Database, sql: str, seconds: float = SECONDS) -> Iterator[QueryResult]:
    """Raises BadQuery, or another LedgerError; ``seconds``: time limit, including the reading of the rows."""
    with _answering(database, seconds) as connection:
        # SQLite streams without the option, with which SQLAlchemy would read a row before _rows does.
        on_server = connection.dialect.name != "sqlite"
        streaming = connection.execution_options(stream_results=on_server, max_row_buffer=BATCH, no_parameters=True)
        yield _answer(streaming.exec_driver_sql(sql), seconds)


@contextmanager
def _answering(database: Database, seconds: float) -> Iterator[Connection]:
    """A transaction on a connection that cannot write, with a time limit; raises as :func:`ask_sql`."""
    options = {} if database.engine.dialect.name == "sqlite" else {"postgresql_readonly": True}
    with database.reading(snapshot=True, options=options) as connection:
        try:
            with _limited(connection, seconds):
                yield connection
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise _translated(error) from error
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
            raise _translated(error.orig or error) from error


@contextmanager
def _limited(connection: Connection, seconds: float) -> Iterator[None]:
    if connection.dialect.name == "sqlite":
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        with _sqlite_reading(raw, seconds):
            yield
        return
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = {max(1, round(1000 * seconds))}")
    yield


@contextmanager
def _sqlite_reading(raw: sqlite3.Connection, seconds: float) -> Iterator[None]:
    deadline = time.monotonic() + seconds
    raw.execute("PRAGMA query_only = ON")
    longest = raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST)
    raw.set_authorizer(_authorized)
    raw.set_progress_handler(lambda: int(time.monotonic() > deadline), TICKS)
    try:
        yield
    finally:
        raw.set_progress_handler(None, 0)
        raw.set_authorizer(None)
        raw.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        raw.execute("PRAGMA query_only = OFF")


def _authorized(action: int, table: str | None, name: str | None, *_: object) -> int:
    """What SQLite asks when it compiles a statement."""
    if action not in AUTHORIZED or (action == sqlite3.SQLITE_FUNCTION and name in UNLIMITED):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_IGNORE if (table, name) in HIDDEN else sqlite3.SQLITE_OK


def _answer(result: CursorResult[Any], seconds: float) -> QueryResult:
    if not result.returns_rows:
        raise BadQuery("this is not a query: give one SELECT")
    return QueryResult(tuple(result.keys()), _rows(result, time.monotonic() + seconds))


def _rows(result: CursorResult[Any], deadline: float) -> Iterator[tuple[object, ...]]:
    cursor = result.cursor
    if isinstance(cursor, sqlite3.Cursor):
        # SQLAlchemy's rows would take a sixth of the time of a million of them.
        batches = iter(partial(cursor.fetchmany, BATCH), [])
    else:
        batches = (map(tuple, batch) for batch in result.partitions(BATCH))
    for batch in batches:
        # The limit of Postgres applies to each batch.
        if time.monotonic() > deadline:
            raise BadQuery(SLOW)
        yield from batch


EXAMPLE = f"'SELECT * FROM {VIEWS[0].name} LIMIT 3'"
SLOW = "the query took too long: select less, or raise --seconds"


def _translated(error: BaseException) -> LedgerError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".;")
    state = getattr(error, "sqlstate", None)
    if state in TOO_SLOW or reason == "interrupted":
        return BadQuery(SLOW)
    damage = soundness.damage() if DAMAGED.search(reason) else None
    if damage is not None:
        return damage
    if state in NO_SUCH or reason.startswith(("no such table", "no such column")):
        known = ", ".join([*(view.name for view in VIEWS), *Base.metadata.tables])
        return BadQuery(f"{reason}: the views and tables are {known} (SELECT * FROM one of them has its columns)")
    return BadQuery(f"the query failed ({reason}): give one SELECT that changes nothing, like {EXAMPLE}")
