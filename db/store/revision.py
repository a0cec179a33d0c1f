"""The schema of a ledger: its revision, and whether a database has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine

from db.errors import LedgerUnusable, NoLedger
from db.schema import creation
from db.store import connections

SCHEMA = BASELINE = "0016"
"""The Alembic revision that this version reads and writes, and the one of 2.0, with which upgrades begin."""

MIGRATIONS = Path(__file__).parent / "migrations"


def require_schema(engine: Engine, where: str, create: bool = False) -> None:
    """Make sure that a database is a ledger with the schema of this version.

    Raises NoLedger when the database is empty, unless it is to become one, or LedgerUnusable when it belongs to
    another program or has another schema.
    """
    revision = _revision(engine, where)
    if revision is None and create:
        with filling(engine, where):
            pass
        revision = _revision(engine, where)  # another process may have made one of another version
    if _known(revision, where) != SCHEMA:
        raise LedgerUnusable(
            f"{where} has schema {revision} of an earlier version: back it up, then `langford ledger upgrade "
            f"--ledger {where}` brings it to {SCHEMA}"
        )


def upgrade(engine: Engine, where: str) -> None:
    """See :func:`db.schema.upgrading.upgrade`; a ledger that has the schema of this version stays as it is."""
    if _known(_revision(engine, where), where) != SCHEMA:
        from db.schema import upgrading

        upgrading.upgrade(engine, MIGRATIONS, SCHEMA)


def _known(revision: str | None, where: str) -> str:
    """Raises NoLedger or LedgerUnusable."""
    if revision is None:
        raise NoLedger(f"{where} is an empty database; `langford run` makes it a ledger")
    if revision < BASELINE:
        raise LedgerUnusable(
            f"{where} is a ledger of langford 1.x (schema {revision}): export its campaigns with that version, "
            "then `langford import` the files into a new ledger; nothing was changed"
        )
    # The names of the migrations' files start with their revisions.
    if not any(file.name.startswith(f"{revision}_") for file in (MIGRATIONS / "versions").iterdir()):
        raise LedgerUnusable(
            f"{where} has schema {revision}, this version of langford needs {SCHEMA}: "
            "use the version that wrote it; nothing was changed"
        )
    return revision


@contextmanager
def filling(engine: Engine, where: str) -> Iterator[Connection]:
    """One transaction in which an empty database becomes a ledger, or a ledger is written to.

    ``where``: the database's name in messages.  Raises LedgerUnusable where it can be no ledger of this version.
    """
    if _revision(engine, where) is None:
        with engine.connect().execution_options(read_only=True) as connection:
            creation.require_room(connection, where)
        connections.prepare_new(engine)
    else:
        require_schema(engine, where)
    with engine.begin() as connection:
        creation.create(connection, SCHEMA)
        yield connection


def _revision(engine: Engine, where: str) -> str | None:
    """None: the database is empty."""
    with engine.connect().execution_options(read_only=True) as connection:
        if not creation.has_ledger(connection):
            if creation.is_empty(connection, where):
                return None
            raise LedgerUnusable(f"{where} is a database, but not a ledger; choose another with --ledger")
        revision = creation.revision_of(connection)
        if revision is None:
            raise LedgerUnusable(f"{where} has lost the number of its schema: restore a backup")
        return revision
