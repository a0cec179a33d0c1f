"""Open a database as a ledger, or say plainly why not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from db.errors import (
    LedgerBusy,
    LedgerError,
    LedgerFull,
    LedgerUnreachable,
    NetworkFileSystem,
    NotALedger,
    WrongSchema,
)

if TYPE_CHECKING:
    from alembic.config import Config

SCHEMA = "0004"
"""Alembic revision that this version reads and writes."""

BUSY_SECONDS = 30
NETWORK_FILE_SYSTEMS = {
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "cifs",
    "smb3",
    "smbfs",
    "afs",
    "ceph",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "orangefs",
    "pvfs2",
    "panfs",
    "wekafs",
}


def ledger_url(where: str) -> URL:
    """A SQLAlchemy URL from a URL or a plain file path; raises LedgerUnreachable."""
    with suppress(ArgumentError):
        url = make_url(where if "://" in where else f"sqlite:///{where}")
        if url.get_backend_name() == "postgresql":
            return url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() == "sqlite":
            return url
    raise LedgerUnreachable(f"{where!r} is no ledger: give a file name, sqlite:///FILE or postgresql://HOST/NAME")


def open_engine(where: str, create: bool, earlier: bool = False) -> Engine:
    """An engine on a ledger with this version's schema.

    Args:
        create: whether an empty or absent database becomes a new ledger.
        earlier: whether a ledger of an earlier version is brought to this version's schema.

    Raises one of the errors in :mod:`db.errors`.
    """
    url = ledger_url(where)
    file = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
    if file is not None:
        refuse_network_file_system(file)
        if not create and not file.exists():
            raise LedgerUnreachable(f"there is no ledger {file}; `langford run` creates one")
        if not file.parent.is_dir():
            raise LedgerUnreachable(f"the folder {file.parent} does not exist; create it first")
    with translated(where):
        try:
            # Behind PgBouncer a prepared statement may meet another server connection.
            postgres = url.get_backend_name() == "postgresql"
            engine = create_engine(url, connect_args={"prepare_threshold": None} if postgres else {})
        except ModuleNotFoundError as error:
            raise LedgerUnreachable(f"{error.name} is missing: pip install 'langford[postgres]'") from error
        if file is not None:
            _configure_sqlite(engine)
        _require_schema(engine, where, create, earlier)
    return engine


def _configure_sqlite(engine: Engine) -> None:
    """Every commit on disk, and transactions that take the write lock first.

    A transaction that reads before it writes would otherwise fail when another process
    writes in between.
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


def _require_schema(engine: Engine, where: str, create: bool, earlier: bool) -> None:
    with engine.connect().execution_options(read_only=True) as connection:
        tables = set(inspect(connection).get_table_names())
        if tables and not {"alembic_version", "campaign", "attempt"} <= tables:
            raise NotALedger(f"{where} is a database, but not a ledger; choose another with --ledger")
        found = connection.scalar(text("SELECT version_num FROM alembic_version")) if tables else None
    if found is None and create:
        if engine.dialect.name == "sqlite":
            # Kept in the file: readers and the writer do not wait for each other.
            with closing(engine.raw_connection()) as raw:
                raw.cursor().execute("PRAGMA journal_mode = WAL")
        upgrade(engine)
    elif found is None:
        raise NotALedger(f"{where} is empty; `langford run` makes it a ledger")
    elif found != SCHEMA and found in _known_revisions():
        if not earlier:
            raise WrongSchema(
                f"{where} has schema {found} of an earlier version: `langford ledger upgrade {where}` brings it to "
                f"{SCHEMA} (copy it first if earlier versions should still read it)"
            )
        upgrade(engine)
    elif found != SCHEMA:
        raise WrongSchema(
            f"{where} has schema {found}, this version of langford needs {SCHEMA}: "
            "use the version that wrote it; the file is left as it is"
        )


def _known_revisions() -> set[str]:
    """All schemas that there are migrations for."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_migrations())
    return {script.revision for script in scripts.walk_revisions()}


def _migrations() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def upgrade(engine: Engine) -> None:
    """Bring the schema to SCHEMA in one transaction."""
    from alembic import command
    from alembic.util import CommandError

    config = _migrations()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, SCHEMA)
        except CommandError as error:
            raise WrongSchema(f"the ledger cannot be upgraded to {SCHEMA}: {error}") from error


def refuse_network_file_system(file: Path, mounts: Path = Path("/proc/self/mountinfo")) -> None:
    """Raises NetworkFileSystem when ``file`` would lie on one (Linux; elsewhere no check)."""
    if not mounts.exists():
        return
    target = file.resolve().parent
    best, kind = Path("/"), ""
    for line in mounts.read_text().splitlines():
        fields = line.split()
        point = Path(fields[4].replace("\\040", " "))
        if target.is_relative_to(point) and len(point.parts) >= len(best.parts):
            best, kind = point, fields[fields.index("-") + 1]
    if kind in NETWORK_FILE_SYSTEMS:
        raise NetworkFileSystem(
            f"{file} is on {kind} ({best}), where SQLite corrupts: put the ledger on a local disk, or use Postgres"
        )


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn database errors into the ledger's own, each with what to do next."""
    try:
        yield
    except LedgerError:
        raise
    except DBAPIError as error:
        reason = str(error.orig).splitlines()[0] if error.orig else str(error)
        raise _translate(where, reason, error) from error


def _translate(where: str, reason: str, error: DBAPIError) -> Exception:
    if "disk is full" in reason or "disk I/O error" in reason or "No space left" in reason:
        return LedgerFull(
            f"no space left for the ledger {where} ({reason}): what was committed is safe; "
            "make room and run the same command again"
        )
    if "not a database" in reason or "malformed" in reason:
        return NotALedger(f"{where} is not a ledger ({reason}); choose another file with --ledger")
    if "locked" in reason:
        return LedgerBusy(f"another process has held {where} for {BUSY_SECONDS} s; try again when it is done")
    if "deadlock" in reason:
        return LedgerBusy(
            f"two transactions on {where} waited for each other and this one was undone; nothing is lost, try again"
        )
    if isinstance(error, OperationalError):
        return LedgerUnreachable(f"cannot use the ledger {where}: {reason}")
    return error
