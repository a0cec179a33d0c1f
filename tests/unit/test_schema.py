"""Ledgers of an earlier schema: refused until they are upgraded, and then complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text

from db import Database, Ledger
from db.errors import WrongSchema
from db.models import Base
from db.schema import MIGRATIONS, SCHEMA
from jobs.run import result
from tests.campaigns import COUNT, NAME, TASKS, finish, write_used_ledger
from tests.databases import fresh_database
from tests.earlier_schemas import LAST, UNDONE


def rows(database: Database) -> dict[str, list[Any]]:
    """All rows of all tables, by table."""
    with database.reading() as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(
                    text(f"SELECT * FROM {table.name} ORDER BY {', '.join(table.primary_key.columns.keys())}")
                )
            ]
            for table in Base.metadata.sorted_tables
        }


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_upgrade_keeps_everything(kind: str, tmp_path: Path) -> None:
    where = fresh_database(kind, tmp_path)
    write_used_ledger(where)
    with Database(where) as database:
        before = rows(database)
        with database.writing() as connection:
            for statement in UNDONE[LAST]:
                connection.execute(text(statement))
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{LAST}'"))
    with pytest.raises(WrongSchema, match=f"has schema {LAST} of an earlier version: `langford ledger upgrade"):
        Ledger(where)
    with Database(where, upgrade=True) as database:
        assert rows(database) == before
        assert all(before.values())
    with Ledger(where) as ledger:
        campaign = ledger.campaign(NAME)
        assert campaign.recheck_share == 1.0
        for worker in "cde":
            ledger.enrol(worker, "host", "1", "cuda")
            finish(campaign, worker)
        assert campaign.progress().tasks == {"done": TASKS}
        assert result(campaign).published == COUNT


def test_the_schema_before_this_one_is_known() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS))
    assert scripts.get_revision(SCHEMA).down_revision == LAST
    assert scripts.get_heads() == [SCHEMA]
