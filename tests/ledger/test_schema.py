"""Ledgers of an earlier schema: refused until they are upgraded, and then complete."""

from __future__ import annotations

import uuid
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, inspect, text

from db import Database, Ledger
from db.errors import LedgerUnusable
from db.schema import views
from db.schema.models import Base
from db.store.revision import MIGRATIONS, SCHEMA
from tests.support.campaigns import COUNT, NAME, TASKS, finish, write_used_ledger
from tests.support.cases import exhaustive
from tests.support.databases import fresh_database, new_address
from tests.support.earlier_schemas import LAST, UNDONE

Columns = dict[str, list[str]]


def columns(database: Database) -> Columns:
    """The columns of each table as it is now."""
    inspector = inspect(database.engine)
    return {
        table.name: [str(column["name"]) for column in inspector.get_columns(table.name)]
        for table in Base.metadata.sorted_tables
        if inspector.has_table(table.name)
    }


def rows(database: Database, chosen: Columns) -> dict[str, list[Any]]:
    """All rows of these tables with these columns, by table."""
    keys = {table.name: list(table.primary_key.columns.keys()) for table in Base.metadata.sorted_tables}
    with database.reading() as connection:
        return {
            table: [
                tuple(row)
                for row in connection.execute(
                    text(f"SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(keys[table])}")
                )
            ]
            for table, names in chosen.items()
        }


@pytest.mark.parametrize("version", UNDONE)
@pytest.mark.parametrize("kind", ["sqlite", *exhaustive(["postgres"])])
def test_an_upgrade_keeps_everything(kind: str, version: str, tmp_path: Path) -> None:
    where = new_address(kind, tmp_path)
    write_used_ledger(where)
    with Database(where) as database:
        with database.writing() as connection:
            undone = [changes for since, changes in UNDONE.items() if since >= version]
            for statement in chain.from_iterable(undone):
                connection.execute(text(statement))
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
        earlier = columns(database)
        before = rows(database, earlier)
    with pytest.raises(
        LedgerUnusable, match=f"has schema {version} of an earlier version: `langford ledger upgrade"
    ):
        Ledger(where)
    Database.upgrade(where)
    with Database(where) as database:
        assert rows(database, earlier) == before
        assert all(before.values())
        now = {table: set(names) for table, names in columns(database).items()}
        assert now == {table.name: set(table.columns.keys()) for table in Base.metadata.sorted_tables}
        for view in views.VIEWS:
            with database.reading() as connection:
                read = connection.execute(text(f"SELECT * FROM {view.name}"))
                assert list(read.keys()) == list(view.columns)
    with Ledger(where) as ledger:
        campaign = ledger.campaign(NAME)
        assert str(uuid.UUID(campaign.uuid)) == campaign.uuid != ledger.uuid
        assert campaign.recheck_share == 1.0
        for worker in "cde":
            ledger.enrol(worker, f"host-{worker}", "1", "cuda")
            finish(campaign, worker)
        assert campaign.progress().tasks == {"done": TASKS}
        assert campaign.merged().published == COUNT


def schema_of(engine: Engine) -> dict[str, Any]:
    """All tables: columns, constraints, indexes; without the defaults that migrations gave to rows of before."""
    inspector = inspect(engine)
    return {
        name: (
            {
                str(column["name"]): (str(column["type"]), column["nullable"])
                for column in inspector.get_columns(name)
            },
            inspector.get_pk_constraint(name)["constrained_columns"],
            sorted(map(str, inspector.get_foreign_keys(name))),
            sorted(map(str, inspector.get_unique_constraints(name))),
            sorted(map(str, inspector.get_check_constraints(name))),
            sorted(definitions(engine, name)),
        )
        for name in inspector.get_table_names()
    }


def definitions(engine: Engine, table: str) -> list[str]:
    """The statements that made the indexes of a table, and their conditions."""
    where = {
        "sqlite": "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = :table",
        "postgresql": "SELECT indexdef FROM pg_indexes WHERE tablename = :table",
    }[engine.dialect.name]
    with engine.connect() as connection:
        return [" ".join(str(sql).split()) for sql in connection.scalars(text(where), {"table": table})]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_new_ledger_is_what_migrations_make_of_one_of_version_1(kind: str, tmp_path: Path) -> None:
    where = fresh_database(kind, tmp_path)
    with Database(where, create=True) as database:
        new = schema_of(database.engine)
        with database.writing() as connection:
            for statement in chain.from_iterable(UNDONE.values()):
                connection.execute(text(statement))
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{min(UNDONE)}'"))
        assert schema_of(database.engine) != new
    Database.upgrade(where)
    with Database(where) as database:
        assert schema_of(database.engine) == new
        with database.reading() as connection:
            assert len(connection.execute(text("SELECT uuid, created FROM ledger")).all()) == 1
            assert connection.scalars(text("SELECT version_num FROM alembic_version")).all() == [SCHEMA]
            for view in views.VIEWS:
                assert connection.execute(text(f"SELECT * FROM {view.name}")).all() == []


def test_the_schema_before_this_one_is_known() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS))
    assert scripts.get_revision(SCHEMA).down_revision == LAST
    assert scripts.get_heads() == [SCHEMA]
