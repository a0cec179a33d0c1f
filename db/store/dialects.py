"""The differences between SQLite and Postgres; everything else is written once, for both.

A statement takes many values as one parameter: an array or a JSON text.  One parameter per value would cost more
than the statement itself, because its text is rendered, sent and parsed again for each number of values.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from enum import IntEnum
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    ARRAY,
    JSON,
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Engine,
    Float,
    Select,
    String,
    Table,
    bindparam,
    column,
    create_engine,
    event,
    func,
    select,
    text,
    true,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeDecorator

from db.store.models import Base

BUSY_SECONDS = 30
"""How long a transaction on SQLite waits for a transaction of another process."""
LONGEST_PAUSE_SECONDS = 0.1
"""Between two attempts at an operation for which SQLite itself does not wait."""
STATEMENT_SECONDS, LOCK_SECONDS = 600, 60
"""Time limits on Postgres: of a statement or of an idle transaction, and of a wait for a lock."""
RANDOM_PAGE_COST = 1.1
"""Cost of a random page on Postgres, relative to that of the next page."""
NETWORK = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 40_000,
}
"""Options by which libpq notices within 40 seconds that the network is gone (the last one is in milliseconds)."""
SNAPSHOT: Mapping[str, Mapping[str, Any]] = {
    "sqlite": {},
    "postgresql": {"isolation_level": "REPEATABLE READ"},
}
"""Options of a connection whose transaction sees a single state of the database."""


# -- connections ------------------------------------------------------------------------------


def new_engine(url: URL, archive: bool = False) -> Engine:
    """An engine for a database; raises ModuleNotFoundError without the database's driver.

    ``archive``: whether it is a file that does not change, for example in a read-only folder.
    """
    if url.get_backend_name() == "postgresql":
        # Behind PgBouncer a prepared statement may meet another server connection.
        # Options in the URL take precedence.
        network = {name: value for name, value in NETWORK.items() if name not in url.query}
        engine = create_engine(url, connect_args={"prepare_threshold": None, **network})
        _configure_postgres(engine)
        return engine
    if archive:
        # Otherwise SQLite would try to create a file for its locks in the folder.
        name = f"file:{quote(str(url.database))}"
        url = url.set(database=name, query={**url.query, "mode": "ro", "immutable": "1", "uri": "true"})
    engine = create_engine(url)
    if url.database:
        _configure_sqlite(engine)
    return engine


def _configure_postgres(engine: Engine) -> None:
    """Limit the time of statements, locks and idle transactions, and set the cost of a page.

    A ledger is in memory or on a solid-state disk.  With its default cost of a random page, Postgres would read all
    of a million tasks instead of using an index.
    """
    settings = {
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "lock_timeout": f"{LOCK_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{STATEMENT_SECONDS}s",
        "random_page_cost": RANDOM_PAGE_COST,
    }

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        # Not as options of the connection, which PgBouncer refuses.
        connection.autocommit = True
        connection.execute("; ".join(f"SET {name} = '{value}'" for name, value in settings.items()))
        connection.autocommit = False


def _configure_sqlite(engine: Engine) -> None:
    """Write every commit to disk, and let writing transactions take the write lock at their start.

    Otherwise a transaction that reads before it writes would fail when another process writes in between.
    """

    @event.listens_for(engine, "connect")
    def connect(connection: sqlite3.Connection, record: Any) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("read_only")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def prepare_new(engine: Engine) -> None:
    """Set what a new database keeps: in SQLite, that readers and the writer do not wait for each other."""
    if engine.dialect.name == "sqlite":
        # Two processes that create a ledger at once may need each other's locks: then SQLite does not wait.
        give_up = time.monotonic() + BUSY_SECONDS
        with closing(engine.raw_connection()) as raw:
            while not _sets_journal(raw.cursor(), give_up):
                time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS))


def _sets_journal(cursor: Any, give_up: float) -> bool:
    """Whether it could be set; raises OperationalError after a time, or at once if the reason is not a lock."""
    statement = "PRAGMA journal_mode = WAL"
    try:
        cursor.execute(statement)
    except sqlite3.OperationalError as error:
        if "locked" not in str(error) or time.monotonic() > give_up:
            raise OperationalError(statement, None, error) from error
        return False
    return True


# -- the clock --------------------------------------------------------------------------------


class Now(FunctionElement[float]):
    """Seconds since 1970 as an SQL expression: leases use the clock of the database, and no other."""

    type = Float(53)
    inherit_cache = True


@compiles(Now, "sqlite")
def _now_sqlite(element: Any, compiler: Any, **options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Now, "postgresql")
def _now_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    # Not now(), which is the time at the start of the transaction.
    return "extract(epoch from clock_timestamp())"


# -- many values as one parameter -------------------------------------------------------------


class Integers(TypeDecorator[Collection[int]]):
    """Integers of up to 64 bits as one parameter."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> Any:
        return dialect.type_descriptor(ARRAY(BigInteger) if dialect.name == "postgresql" else JSON())

    def process_bind_param(self, value: Collection[int] | None, dialect: Any) -> list[int]:
        return list(value or ())


class Texts(TypeDecorator[Collection[str]]):
    """Texts as one parameter."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> Any:
        return dialect.type_descriptor(ARRAY(String) if dialect.name == "postgresql" else JSON())

    def process_bind_param(self, value: Collection[str] | None, dialect: Any) -> list[str]:
        return list(value or ())


class Among(FunctionElement[bool]):
    """Whether a column is one of some integers or texts."""

    type = Boolean()
    inherit_cache = True

    def self_group(self, against: Any = None) -> Among:
        """The condition without "= 1", with which SQLite would not use an index."""
        return self


def among(column: Any, parameter: str) -> ColumnElement[bool]:
    """Whether a column is one of the integers of a parameter, as an SQL expression."""
    return Among(column, bindparam(parameter, type_=Integers()))


def among_texts(column: Any, parameter: str) -> ColumnElement[bool]:
    """Whether a column is one of the texts of a parameter, as an SQL expression."""
    return Among(column, bindparam(parameter, type_=Texts()))


@compiles(Among, "sqlite")
def _among_sqlite(element: Any, compiler: Any, **options: Any) -> str:
    column_text, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column_text} IN (SELECT value FROM json_each({values})))"


@compiles(Among, "postgresql")
def _among_postgresql(element: Any, compiler: Any, **options: Any) -> str:
    column_text, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column_text} = ANY ({values}))"


def given(dialect: str, columns: Sequence[InstrumentedAttribute[Any]]) -> Select[Any]:
    """A query that returns its parameter "rows", a list of mappings from the names of these columns."""
    rows = bindparam("rows", type_=JSON)
    if dialect == "postgresql":
        fields = (column(attribute.key, attribute.type) for attribute in columns)
        records = func.json_to_recordset(rows).table_valued(*fields)
        return select(records.render_derived(with_types=True)).where(true())
    row = func.json_each(rows).table_valued("value").c.value
    # Without a condition, SQLite would parse a following "ON CONFLICT" as the condition of a join.
    return select(*(func.json_extract(row, f"$.{attribute.key}") for attribute in columns)).where(true())


# -- insertions -------------------------------------------------------------------------------


def insert_new(dialect: str, table: type[Base]) -> Any:
    """An insertion that skips rows whose key exists, even if another transaction has just inserted it."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table).on_conflict_do_nothing()


class Purpose(IntEnum):
    """What only one transaction at a time may do; the values are numbers of locks on Postgres."""

    MAKE_LEDGER = 0x1A46F04D
    MAKE_VOTER = 0x1A46F04E
    CLAIM_NOTICE = 0x1A46F04F


def alone(connection: Connection, purpose: Purpose) -> None:
    """Wait for other transactions with this purpose, and exclude them until this one ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(purpose.value)))


def update_statistics(connection: Connection, table: type[Base]) -> None:
    """Let Postgres measure a table that has grown: otherwise it reads the whole table to find a few rows."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"ANALYZE {table.__tablename__}"))


def close_to_writers(connection: Connection, table: type[Base]) -> None:
    """Wait for other transactions that write to a table, and let new ones wait for this one.

    SQLite has only one writing transaction at a time anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"LOCK TABLE {table.__tablename__} IN SHARE ROW EXCLUSIVE MODE"))


def advance_ids(connection: Connection, table: Table) -> None:
    """Let the next id follow ids that were inserted explicitly; SQLite does that by itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                f"(SELECT coalesce(max(id), 0) + 1 FROM {table.name}), false)"
            )
        )
