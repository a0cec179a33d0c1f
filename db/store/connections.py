"""Engines for the databases that a ledger may live in, and the settings of their connections."""

from __future__ import annotations

import json
import random
import secrets
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import OperationalError

from db.store.silence import Silence

BUSY_SECONDS = 30
"""How long a transaction on SQLite waits for a transaction of another process."""
MAX_PAUSE_SECONDS = 0.1
"""Between two attempts at an operation for which SQLite itself does not wait."""
STATEMENT_SECONDS, LOCK_SECONDS = 600, 60
"""Time limits on Postgres: of a statement or of an idle transaction, and of a wait for a lock."""
SETTINGS = {
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "lock_timeout": f"{LOCK_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{STATEMENT_SECONDS}s",
    "transaction_timeout": "0",
    "idle_session_timeout": "0",
    "random_page_cost": "1.1",
    "default_transaction_isolation": "read committed",
    "extra_float_digits": "1",
    "TimeZone": "UTC",
    "DateStyle": "ISO, MDY",
    "standard_conforming_strings": "on",
}
"""Settings of a connection to Postgres, whatever its server, database or role have set otherwise.

Nothing ends a connection that is idle between two tasks.  Times and numbers are read as text: in UTC, and with all
their digits.  The cost of a random page is relative to that of the next page: a ledger is in memory or on a
solid-state disk, and with its default cost Postgres would read all of a million tasks instead of using an index.
"""
SET = """SELECT set_config(name, setting, false)
FROM unnest(%(names)s::text[], %(settings)s::text[]) AS wanted (name, setting)
WHERE current_setting(name, true) IS NOT NULL"""
"""Gives a connection those settings that the version of its server knows."""
DRIVER = {
    "prepare_threshold": None,  # behind PgBouncer a prepared statement may meet another server connection
    "client_encoding": "utf8",  # a database of encoding SQL_ASCII names none
}
"""Options of the driver for Postgres."""
NETWORK = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 40_000,
}
"""Options by which libpq notices within 40 seconds that the network is gone (the last one is in milliseconds)."""
READ_ONLY = "25006"
"""SQLSTATE of a write in a read-only transaction."""
SNAPSHOT: Mapping[str, Mapping[str, Any]] = {"sqlite": {}, "postgresql": {"isolation_level": "REPEATABLE READ"}}
"""Options of a connection whose transaction sees a single state of the database."""


def new_engine(url: URL, archive: bool) -> Engine:
    """An engine for a database; raises ModuleNotFoundError without the database's driver.

    ``archive``: whether it is a file that does not change, for example in a read-only folder.
    """
    if url.get_backend_name() == "postgresql":
        # Options in the URL take precedence.
        network = {name: value for name, value in NETWORK.items() if name not in url.query}
        engine = create_engine(
            url, connect_args={**network, **DRIVER}, json_serializer=partial(json.dumps, ensure_ascii=False)
        )
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
    silence = Silence(engine.url.render_as_string())
    parameters = {"names": list(SETTINGS), "settings": list(SETTINGS.values())}

    @event.listens_for(engine, "connect", insert=True)  # before SQLAlchemy asks something
    def connect(connection: Any, record: Any) -> None:
        connection.wait = silence.watching(connection.wait)
        # Not as options of the connection, which PgBouncer refuses.
        connection.autocommit = True
        connection.execute("SET statement_timeout = 0")  # that of the role may be too short for the next one
        connection.execute(SET, parameters)
        connection.autocommit = False

    @event.listens_for(engine, "handle_error")
    def handle_error(context: ExceptionContext) -> None:
        """Drop all connections after a write that a read-only session refuses: new ones may not be read-only."""
        reading = context.connection is not None and context.connection.get_execution_options().get("read_only")
        if getattr(context.original_exception, "sqlstate", None) == READ_ONLY and not reading:
            context.is_disconnect = True


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
        statement, raw = "BEGIN" if reading else "BEGIN IMMEDIATE", _sqlite_of(connection)
        try:
            raw.execute(statement)  # not by SQLAlchemy, which takes longer than SQLite
        except sqlite3.Error as error:
            raise OperationalError(statement, None, error) from error
        connection.info["changes"] = raw.total_changes

    @event.listens_for(engine, "commit")
    def commit(connection: Connection) -> None:
        """Number each commit in page 1, beside the number of the one before it: see :mod:`db.store.damage`."""
        raw = _sqlite_of(connection)
        if raw.total_changes != connection.info["changes"]:
            [(before,)] = raw.execute("PRAGMA user_version")
            raw.execute(f"PRAGMA application_id = {before}")
            raw.execute(f"PRAGMA user_version = {secrets.randbits(31) | 1}")


def _sqlite_of(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.driver_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def prepare_new(engine: Engine) -> None:
    """Set what a new database keeps: in SQLite, that readers and the writer do not wait for each other."""
    if engine.dialect.name == "sqlite":
        # Two processes that create a ledger at once may need each other's locks: then SQLite does not wait.
        give_up = time.monotonic() + BUSY_SECONDS
        with closing(engine.raw_connection()) as raw:
            while not _sets_journal(raw.cursor(), give_up):
                time.sleep(random.uniform(0, MAX_PAUSE_SECONDS))


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
