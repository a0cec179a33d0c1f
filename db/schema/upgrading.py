"""Upgrades of a ledger by Alembic; a separate module, because Alembic takes long to load and is rarely needed."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing, suppress
from filecmp import cmp
from itertools import count
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine

from db.errors import LedgerUnusable
from db.schema import creation, views
from db.schema.dialects import Purpose, alone
from langford.machine.durable import sync_folder, take_name


def upgrade(engine: Engine, migrations: Path, schema: str) -> Path | None:
    """Bring a database to a schema in one transaction.

    Returns the copy of a ledger in a file as it was before; a server's databases have backups of their own.
    Raises LedgerUnusable when there is no way from its schema, or no room for the copy.
    """
    config = Config()
    config.set_main_option("script_location", str(migrations))
    with engine.begin() as connection:
        # Of two processes that upgrade a ledger at the same time, one does it, and the other finds it done.
        alone(connection, Purpose.MAKE_LEDGER)
        config.attributes["connection"] = connection
        copied = None
        revision = creation.revision_of(connection)
        if engine.dialect.name == "sqlite" and revision not in (None, schema):
            copied = _copy_beside(Path(str(engine.url.database)), revision)
        views.drop(connection)
        try:
            command.upgrade(config, schema)
        except CommandError as error:
            raise LedgerUnusable(
                f"the ledger cannot be upgraded to {schema} ({error}); nothing was changed: "
                "use the version that wrote it"
            ) from error
        views.create(connection)
    return copied


def _copy_beside(file: Path, revision: str) -> Path:
    """Copy a ledger, which no one writes now, into a new file beside it; returns the copy.

    It has its name when it is whole and on disk, and replaces nothing, not even a link that leads nowhere.
    """
    unfinished = file.with_name(f".{file.name}.schema-{revision}")
    try:
        unfinished.unlink(missing_ok=True)  # left by an upgrade that was killed
        try:
            _copy(file, unfinished)
            return _named(unfinished, f"{file.name}.schema-{revision}")
        finally:
            unfinished.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise LedgerUnusable(
            f"cannot copy {file} to {file}.schema-{revision} before it is upgraded ({error}); nothing was changed: "
            "free some space"
        ) from error


def _copy(file: Path, copy: Path) -> None:
    """As private as the ledger from its first byte on."""
    descriptor = os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, stat.S_IMODE(file.stat().st_mode))
    try:
        with (
            closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            target.execute("PRAGMA journal_mode = OFF")  # its journal would outlive it, and spoil the next copy
            source.backup(target)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _named(unfinished: Path, name: str) -> Path:
    """Give a file the first of the names NAME, NAME-2, NAME-3, … that is free; returns its path.

    What an upgrade left there that was killed is used: the same content, or nothing yet.
    """
    for number in count(1):
        path = unfinished.with_name(name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            take_name(path)
            break
        if path.is_file() and not path.is_symlink():
            if cmp(unfinished, path, shallow=False):
                return path
            if not path.stat().st_size:
                break
    unfinished.replace(path)
    sync_folder(path.parent)
    return path
