"""SQL by users on a connection that cannot write, with a time limit.

On SQLite, an authorizer and "query_only" let the connection refuse everything except reading: other statements,
PRAGMA and ATTACH; columns that a role that only reads may not see are null (:mod:`db.schema.views`).  On Postgres
the transaction is read-only; the statement must be a single SELECT, VALUES or TABLE, as a cursor requires, and must
not name functions that the database calls volatile: these may act outside of the transaction.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, CursorResult, Select, text
from sqlalchemy.exc import DBAPIError

from db.errors import LedgerError
from db.schema.models import Base
from db.schema.views import HIDDEN, VIEWS
from db.store.database import Database

SECONDS = 60.0
"""Time limit of a question, unless another one is given."""
BATCH = 2_000
TICKS = 20_000
"""Instructions of SQLite's virtual machine between two checks of the time limit."""
READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
ACTING = {"load_extension", "fts3_tokenizer", "writefile", "edit"}
"""Functions of SQLite with side effects, if they are compiled in."""
MAX_VALUE, MAX_PATTERN = 16 * 2**20, 1_000
"""Maximum bytes of a value and of a pattern of LIKE, whose evaluation the time limit would not interrupt."""
HARMLESS = {"random", "clock_timestamp", "timeofday", "gen_random_uuid"}
"""Functions that Postgres calls volatile although they change nothing."""
WORD = re.compile(r"[^\W\d][\w$]*")
SPELLED = re.compile(r"u&\s*[\"']", re.IGNORECASE)
TOO_SLOW, NO_TABLE = "57014", "42P01"


_VOLATILE = text("SELECT DISTINCT proname FROM pg_catalog.pg_proc WHERE provolatile = 'v'")


class BadQuery(LedgerError):
    """A question that the ledger does not answer: it would change something, takes too long, or is not SQL."""


@dataclass(frozen=True)
class QueryResult:
    """Its rows are read as they are iterated."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[object, ...]]


@contextmanager
def ask_sql(database: Database, sql: str, seconds: float = SECONDS) -> Iterator[QueryResult]:
    """Raises BadQuery, or another LedgerError; ``seconds``: time limit, including the reading of the rows."""
    with answering(database, seconds) as connection:
        if connection.dialect.name == "postgresql":
            _require_no_acting_function(connection, sql)
        streaming = _streaming(connection).execution_options(no_parameters=True)
        yield _answer(streaming.exec_driver_sql(sql), seconds)


@contextmanager
def ask_select(database: Database, query: Select[*tuple[Any, ...]], seconds: float) -> Iterator[QueryResult]:
    """As :func:`ask_sql`, with a query of this program."""
    with answering(database, seconds) as connection:
        yield _answer(_streaming(connection).execute(query), seconds)


def _streaming(connection: Connection) -> Connection:
    # SQLite streams without the option, with which SQLAlchemy would read a row before _rows does.
    on_server = connection.dialect.name != "sqlite"
    return connection.execution_options(stream_results=on_server, max_row_buffer=BATCH)


@contextmanager
def answering(database: Database, seconds: float) -> Iterator[Connection]:
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
    bounds = {
        sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE,
        sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: MAX_PATTERN,
        sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    }
    before = {limit: raw.setlimit(limit, value) for limit, value in bounds.items()}
    raw.execute("PRAGMA query_only = ON")
    refused: list[object] = []
    raw.create_aggregate("exact_sum", 1, partial(_ExactSum, refused))  # type: ignore[arg-type]  # it returns text
    raw.set_progress_handler(lambda: int(time.monotonic() > deadline), TICKS)
    raw.set_authorizer(_authorized)
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        # SQLite reports only that the function failed.
        if not refused:
            raise
        raise BadQuery(
            f"exact_sum adds whole numbers in decimal text, not {refused[0]!r:.40}: give it a column of such "
            "numbers, or exclude other rows with WHERE"
        ) from error
    finally:
        raw.set_authorizer(None)
        raw.set_progress_handler(None, 0)
        raw.execute("PRAGMA query_only = OFF")
        for limit, value in before.items():
            raw.setlimit(limit, value)


def _authorized(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """The authorizer, which SQLite calls while it prepares a statement."""
    if action == sqlite3.SQLITE_READ and (first, second) in HIDDEN:
        return sqlite3.SQLITE_IGNORE  # it reads null
    if action in READING or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in ACTING):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class _ExactSum:
    """The sum of integers in decimal text, as decimal text: SQLite's own sum would round it.

    A value that is not an integer is appended to the list ``refused``.
    """

    def __init__(self, refused: list[object]) -> None:
        self._sum: int | None = None
        self._refused = refused

    def step(self, value: object) -> None:
        if value is None:
            return
        try:
            self._sum = (self._sum or 0) + int(str(value))
        except ValueError:
            self._refused.append(value)
            raise

    def finalize(self) -> str | None:
        return None if self._sum is None else str(self._sum)


def _require_no_acting_function(connection: Connection, sql: str) -> None:
    """Raises BadQuery when the text contains the name of a function that may have side effects.

    The name is refused anywhere, even in a string or a comment, so that no unusual notation can hide it.
    """
    if SPELLED.search(sql):
        raise BadQuery("U& hides names and strings behind numbers: write them plainly")
    acting = set(connection.scalars(_VOLATILE)) - HARMLESS
    written = {word.casefold() for word in WORD.findall(sql)}
    named = sorted(
        name
        for name in acting
        if (name.casefold() in written if WORD.fullmatch(name) else name.replace('"', '""') in sql)
    )
    if named:
        raise BadQuery(
            f"the query names {named[0]}, a function that may change something: leave it out, even in text"
        )


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


SLOW = "the query took too long: select less, or raise --seconds"


def _translated(error: BaseException) -> LedgerError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".;")
    state = getattr(error, "sqlstate", None)
    if state == TOO_SLOW or reason == "interrupted":
        return BadQuery(SLOW)
    if state == NO_TABLE or reason.startswith("no such table"):
        known = ", ".join([*(view.name for view in VIEWS), *Base.metadata.tables])
        return BadQuery(f"{reason}: the views and tables are {known} (docs/ledger.md has their columns)")
    return BadQuery(f"the query failed ({reason}): give one SELECT that changes nothing")
