"""Ledgers that SQLite opens, with a value that cannot be: every command says so in one line."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from db import Ledger
from db.errors import LedgerUnusable
from tests.support.campaigns import write_used_ledger
from tests.support.command_line import Run

REMEDY = "restore a backup, or save the results that can be read with `langford export NAME --damaged`"


def damage(file: Path, *statements: str) -> None:
    """Change a ledger as flipped bits would, whatever its schema demands."""
    write_used_ledger(str(file))
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize(
    ("statement", "command", "reason"),
    [
        ("UPDATE attempt SET ended = 'q7' WHERE ended IS NOT NULL", "status", "attempt.ended is 'q7'"),
        ("UPDATE campaign SET problem = x'80'", "status", r"campaign.problem is b'\x80'"),
        ("UPDATE campaign SET work = 9e999", "status", "campaign.work is inf"),
        ("UPDATE campaign SET problem = 7.5 || x'ff'", "status", "Could not decode to UTF-8 column 'problem'"),
        (
            "UPDATE worker SET host = CAST(x'ff' AS TEXT)",
            "query worker_overview",
            "Could not decode to UTF-8 column",
        ),
        ("UPDATE attempt SET nonce = CAST(x'ff' AS TEXT)", "ledger copy langford.db copy.db", "column 'nonce'"),
        ("UPDATE attempt SET worker_id = 'nobody'", "ledger copy langford.db copy.db", "belongs to one of worker"),
        (
            "UPDATE sqlite_schema SET sql = replace(sql, 'host', 'hosu') WHERE name = 'worker_overview'",
            "query worker_overview",
            "no such column",
        ),
        (
            "UPDATE sqlite_schema SET sql = replace(sql, 'AS slurm', 'AS tlurm') WHERE name = 'worker_overview'",
            "query worker_overview",
            "no such column: slurm",
        ),
        (
            "UPDATE sqlite_schema SET sql = replace(sql, 'outcome', 'outcomf') WHERE name = 'attempt'",
            "status",
            "no such column: outcome",
        ),
    ],
)
def test_a_damaged_value_is_called_damage(
    langford: Run, tmp_path: Path, statement: str, command: str, reason: str
) -> None:
    damage(tmp_path / "langford.db", statement)
    done = langford(*command.split())
    assert done.returncode == 2, done.stderr
    assert reason in done.stderr
    assert "langford.db is damaged (" in done.stderr
    assert done.stderr.endswith(f"{REMEDY}\n")
    assert done.stderr.count("\n") == 1


def _damage_of(where: str, between: str = "") -> str:
    """What a process that has opened a ledger finds wrong with it, after some statements of Python."""
    program = f"""
from contextlib import suppress
from db import Ledger
from db.errors import LedgerUnusable
with suppress(LedgerUnusable):
    Ledger({where!r}).close()
{between}
from db.store import damage, soundness
print(damage.opened(), soundness.damage())
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_a_sound_ledger_hides_no_error(tmp_path: Path) -> None:
    write_used_ledger(str(tmp_path / "langford.db"))
    assert _damage_of(str(tmp_path / "langford.db")) == f"{[tmp_path / 'langford.db']} None\n"


def test_a_text_that_begins_like_a_huge_number_is_no_damage(tmp_path: Path) -> None:
    """As one of a hundred UUIDs and digests does."""
    where = str(tmp_path / "langford.db")
    write_used_ledger(where)
    with Ledger(where) as ledger:
        ledger.enrol("7e999123-4567-4abc-8def-0123456789ab", "host", "1")
    assert _damage_of(where).endswith(" None\n")


def test_a_ledger_of_an_earlier_version_is_not_damaged(tmp_path: Path) -> None:
    file = tmp_path / "langford.db"
    damage(
        file,
        "ALTER TABLE campaign RENAME COLUMN seed TO choice",
        "UPDATE alembic_version SET version_num = '0015'",
    )
    assert _damage_of(str(file)).endswith(" None\n")


def test_a_ledger_that_cannot_be_opened_any_more_is_not_damaged(tmp_path: Path) -> None:
    where = str(tmp_path / "langford.db")
    write_used_ledger(where)
    assert _damage_of(where, f"import os; os.mkdir({where + '-wal'!r})").endswith(" None\n")


def test_a_ledger_that_was_upgraded_in_use_may_be_sound(tmp_path: Path) -> None:
    """A later version may have removed what this one asks for."""
    where = str(tmp_path / "langford.db")
    write_used_ledger(where)
    with Ledger(where) as ledger:
        with closing(sqlite3.connect(where)) as upgraded:
            upgraded.execute("ALTER TABLE campaign RENAME COLUMN seed TO choice")
        with pytest.raises(LedgerUnusable, match="unless another version of langford has upgraded it meanwhile"):
            ledger.campaigns()
