"""Ledgers that SQLite opens, with a value that cannot be: every command says so in one line."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from db import Ledger
from db.errors import LedgerUnusable
from db.store import damage, soundness
from tests.support.campaigns import write_used_ledger
from tests.support.command_line import Run
from tests.support.enrolling import enrol

DamageOf = Callable[..., LedgerUnusable | None]
REMEDY = "restore a backup, or save the results that can be read with `langford export NAME --damaged`"


def damage_file(file: Path, *statements: str) -> None:
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
            "query SELECT/**/*FROM/**/worker_overview",
            "Could not decode to UTF-8 column",
        ),
        ("UPDATE attempt SET nonce = CAST(x'ff' AS TEXT)", "ledger copy langford.db copy.db", "column 'nonce'"),
        ("UPDATE attempt SET worker_id = 'nobody'", "ledger copy langford.db copy.db", "belongs to one of worker"),
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
    damage_file(tmp_path / "langford.db", statement)
    done = langford(*command.split())
    assert done.returncode == 2, done.stderr
    assert reason in done.stderr
    assert "langford.db is damaged (" in done.stderr
    assert done.stderr.endswith(f"{REMEDY}\n")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def damage_of(monkeypatch: pytest.MonkeyPatch) -> DamageOf:
    """What a process that has opened a ledger finds wrong with it; the tests have opened no other."""

    def found(file: Path, afterwards: Callable[[], object] = lambda: None) -> LedgerUnusable | None:
        monkeypatch.setattr(damage, "_OPEN", Counter())
        with suppress(LedgerUnusable):
            Ledger(str(file)).close()
        assert damage.opened() == [file]
        afterwards()
        return soundness.damage()

    return found


def test_a_sound_ledger_hides_no_error(tmp_path: Path, damage_of: DamageOf) -> None:
    """Nor one with a text that begins like a huge number, as one of a hundred UUIDs and digests does."""
    file = tmp_path / "langford.db"
    write_used_ledger(str(file))
    assert damage_of(file) is None
    with Ledger(str(file)) as ledger:
        enrol(ledger, "7e999123-4567-4abc-8def-0123456789ab", "host", "1")
    assert damage_of(file) is None


def test_a_ledger_of_an_earlier_version_is_not_damaged(tmp_path: Path, damage_of: DamageOf) -> None:
    file = tmp_path / "langford.db"
    damage_file(
        file,
        "ALTER TABLE campaign RENAME COLUMN seed TO choice",
        "UPDATE alembic_version SET version_num = '0015'",
    )
    assert damage_of(file) is None


def test_a_ledger_that_cannot_be_opened_any_more_is_not_damaged(tmp_path: Path, damage_of: DamageOf) -> None:
    file = tmp_path / "langford.db"
    write_used_ledger(str(file))
    assert damage_of(file, Path(f"{file}-wal").mkdir) is None


def test_a_ledger_that_was_upgraded_in_use_may_be_sound(tmp_path: Path) -> None:
    """A later version may have removed what this one asks for."""
    where = str(tmp_path / "langford.db")
    write_used_ledger(where)
    with Ledger(where) as ledger:
        with closing(sqlite3.connect(where)) as upgraded:
            upgraded.execute("ALTER TABLE campaign RENAME COLUMN seed TO choice")
        with pytest.raises(LedgerUnusable, match="unless another version of langford has upgraded it meanwhile"):
            ledger.campaigns()
