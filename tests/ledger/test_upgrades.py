"""Ledgers of another schema: those of 1.x are refused, and a later version brings those of 2.0 to its own."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from db import Database, Ledger
from db.errors import LedgerUnusable
from db.schema import views
from db.schema.models import Base
from db.store import revision
from db.store.revision import MIGRATIONS, SCHEMA
from tests.support import later_schema
from tests.support.campaigns import COUNT, NAME, TASKS, finish, write_used_ledger
from tests.support.cases import exhaustive
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.databases import fresh_database, new_address
from tests.support.enrolling import enrol
from tests.support.later_schema import LATER, write_migrations
from tests.support.preloaded import Command, die_at, preloaded

Rows = dict[str, list[Any]]


def become_later(monkeypatch: pytest.MonkeyPatch) -> str:
    migrations = write_migrations()
    monkeypatch.setattr(revision, "SCHEMA", LATER)
    monkeypatch.setattr(revision, "MIGRATIONS", migrations)
    return str(migrations)


@pytest.fixture(name="ledger_file")
def fixture_ledger_file(tmp_path: Path) -> Path:
    """A used ledger of this version."""
    file = tmp_path / "langford.db"
    write_used_ledger(str(file))
    return file


@pytest.fixture(name="migrations")
def fixture_migrations(ledger_file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make this process one of the later version once there is a ledger; the folder of its migrations."""
    assert ledger_file.exists()
    return become_later(monkeypatch)


def dump(file: Path) -> str:
    """All that is in a SQLite database, as SQL."""
    with closing(sqlite3.connect(file)) as connection:
        return "\n".join(connection.iterdump()) + "\n"


def rows(where: str) -> Rows:
    """All rows of all tables, with the columns that this version knows."""
    with closing(Database(where)) as database, database.reading() as connection:
        return {
            table.name: [
                tuple(row) for row in connection.execute(table.select().order_by(*table.primary_key.columns))
            ]
            for table in Base.metadata.sorted_tables
        }


@pytest.mark.parametrize("schema", ["0007", "0015"])
def test_a_ledger_of_version_1_is_refused_and_left_alone(langford: Run, ledger_file: Path, schema: str) -> None:
    with closing(sqlite3.connect(ledger_file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [schema])
    before = dump(ledger_file)
    for command in ("status", "run 7", "ledger upgrade"):
        refused = langford(*command.split())
        assert refused.returncode == 2
        assert refused.stderr.endswith(
            f"langford.db is a ledger of langford 1.x (schema {schema}): export its campaigns with that version, "
            "then `langford import` the files into a new ledger; nothing was changed\n"
        )
    assert dump(ledger_file) == before


@pytest.mark.parametrize("kind", ["sqlite", *exhaustive(["postgres"])])
def test_a_later_version_upgrades_and_keeps_everything(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = new_address(kind, tmp_path)
    write_used_ledger(where)
    before = rows(where)
    assert all(before.values())
    become_later(monkeypatch)
    with pytest.raises(
        LedgerUnusable, match=f"has schema {SCHEMA} of an earlier version: back it up, then `langford ledger"
    ):
        Ledger(where)
    for _ in range(2):
        Database.upgrade(where)
        assert rows(where) == before
    with closing(Database(where)) as database, database.reading() as connection:
        assert set(connection.scalars(text("SELECT colour FROM task"))) == {7}
        for view in views.VIEWS:
            read = connection.execute(text(f"SELECT * FROM {view.name}"))
            assert list(read.keys()) == list(view.columns)
    with Ledger(where) as ledger:
        campaign = ledger.campaign(NAME)
        for worker in "cde":
            enrol(ledger, worker, f"host-{worker}", "1", "cuda")
            finish(campaign, worker)
        assert campaign.reader.standing().tasks == {"done": TASKS}
        assert campaign.reader.merged().published == COUNT
    monkeypatch.undo()
    with pytest.raises(LedgerUnusable, match=f"has schema {LATER}, .*: use the version that wrote it"):
        Ledger(where)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_new_ledger_has_what_the_models_declare(kind: str, tmp_path: Path) -> None:
    with Database(fresh_database(kind, tmp_path), create=True) as database:
        inspector = inspect(database.engine)
        for table in Base.metadata.sorted_tables:
            columns = {column["name"]: column["nullable"] for column in inspector.get_columns(table.name)}
            assert columns == {column.name: column.nullable for column in table.columns}
            indexes = {index["name"] for index in inspector.get_indexes(table.name)}
            assert indexes >= {index.name for index in table.indexes}
        with database.reading() as connection:
            assert len(connection.execute(text("SELECT uuid, created FROM ledger")).all()) == 1
            assert connection.scalars(text("SELECT version_num FROM alembic_version")).all() == [SCHEMA]
            for view in views.VIEWS:
                assert connection.execute(text(f"SELECT * FROM {view.name}")).all() == []


def test_every_migration_leads_to_the_schema_of_this_version() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_heads() == [SCHEMA]


def later(migrations: str, place: str = "") -> None:
    """Make the process of a command one of the later version; and have it killed at a place."""
    later_schema.be_later(migrations)
    if place:
        die_at(place)


def started(file: Path, command: str, **prepared: str) -> Command:
    prepare = ("tests.ledger.test_upgrades:later", prepared)
    return preloaded().start(
        command.split(), file.parent, ENVIRONMENT, subprocess.PIPE, subprocess.PIPE, prepare=prepare
    )


def test_the_command_that_upgrades(ledger_file: Path, migrations: str) -> None:
    refused = started(ledger_file, "status", migrations=migrations)
    assert "langford ledger upgrade --ledger langford.db" in refused.communicate()[1]
    assert refused.returncode == 2
    upgraded = started(ledger_file, "ledger upgrade", migrations=migrations)
    assert upgraded.communicate()[0].startswith("langford.db has schema ")
    assert started(ledger_file, "status", migrations=migrations).wait() == 0


def test_an_upgrade_that_was_killed_changed_nothing(ledger_file: Path, migrations: str) -> None:
    before = dump(ledger_file)
    killed = started(ledger_file, "ledger upgrade", migrations=migrations, place="db.schema.views:create")
    assert killed.wait() == -signal.SIGKILL
    assert dump(ledger_file) == before
    Database.upgrade(str(ledger_file))
    assert dump(ledger_file) != before
