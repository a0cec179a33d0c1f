"""The SQL that a ledger sends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

NOT_OURS = ("pg_catalog", "sqlite_master", "PRAGMA ", "BEGIN", "standard_conforming_strings", "alembic_version")
"""What SQLAlchemy asks a database about itself, the begin of SQLite's transactions, and Alembic's own table."""


@contextmanager
def statements_of() -> Iterator[list[str]]:
    """What all engines of this process execute in the block."""
    seen: list[str] = []

    def note(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if not any(word in statement for word in NOT_OURS):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)
