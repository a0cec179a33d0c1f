"""Copies of ledgers between SQLite and a real Postgres: all rows, the same rows, nothing half."""

from __future__ import annotations

import signal
import sqlite3
from collections import Counter
from contextlib import ExitStack, closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from sqlalchemy import Connection, Table, text

from db import Campaign, Database, Ledger
from db.errors import ConnectionLost, LedgerError, LedgerUnusable, NoLedger
from db.schema.models import Base
from db.store import copying
from langford.cli.main import cli
from tests.support.campaigns import (
    COUNT,
    NAME,
    TASKS,
    new_campaign,
    task_records,
    true_deliveries,
    write_used_ledger,
)
from tests.support.command_line import ENVIRONMENT
from tests.support.databases import fresh_database
from tests.support.enrolling import enrol
from tests.support.preloaded import preloaded


def finish(where: str) -> int:
    with Ledger(where) as ledger:
        campaign = ledger.campaign(NAME)
        for worker in "cd":
            enrol(ledger, worker, f"host-{worker}", "1")
            campaign.worker.deliver(true_deliveries(campaign.worker.lease(worker, TASKS, 60), 0.1))
        return campaign.reader.merged().published


def test_a_copy_is_the_same_and_goes_on(tmp_path: Path) -> None:
    """And a copy of a copy."""
    places = [str(tmp_path / "a.db"), fresh_database("postgres", tmp_path), str(tmp_path / "c.db")]
    write_used_ledger(places[0])
    tables = copying.copy(places[0], places[1])
    assert {table.name: table.rows for table in tables}["task"] == TASKS
    assert all(table.rows for table in tables)
    assert copying.copy(places[1], places[2]) == tables
    for where in places:
        assert finish(where) == COUNT


def states(campaign: Campaign) -> Counter[str]:
    return Counter(task.state for task in task_records(campaign))


def test_a_ledger_that_works_is_copied(tmp_path: Path) -> None:
    """Its leases are ready tasks of the copy, which takes the late results of their workers, too."""
    source, target = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    with Ledger(source, create=True) as ledger:
        campaign = new_campaign(ledger)
        done, held = campaign.worker.lease("a", 1, 60), campaign.worker.lease("a", 2, 60)
        campaign.worker.deliver(true_deliveries(done, 0.1))
        copying.copy(source, target)
        assert states(campaign) == {"done": 1, "leased": 2, "ready": TASKS - 3}
        campaign.worker.deliver(true_deliveries(held[:1], 0.1))
    with Ledger(target) as copied:
        campaign = copied.campaign(NAME)
        assert states(campaign) == {"done": 1, "ready": TASKS - 1}
        outcomes = campaign.reader.overview().attempts
        assert {outcome: number for outcome, number in outcomes.items() if number} == {"done": 1, "released": 2}
        [receipt] = campaign.worker.deliver(true_deliveries(held[1:], 0.1))
        assert receipt.verdict == "accepted"
    assert finish(target) == COUNT


def test_nothing_is_written_over(tmp_path: Path) -> None:
    source, target = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    write_used_ledger(source)
    write_used_ledger(target)
    with pytest.raises(LedgerError, match="has campaigns"):
        copying.copy(source, target)
    with pytest.raises(LedgerUnusable, match="there is no ledger"):
        copying.copy(str(tmp_path / "absent.db"), str(tmp_path / "c.db"))


SPOILED_ON_ARRIVAL = [
    "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN IF new.task_index = 1 THEN new.failures := 9; END IF; RETURN new; END $$",
    "CREATE TRIGGER spoil BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION spoil()",
]
"""What makes a database change one row that it is given."""


def test_a_copy_that_differs_leaves_nothing(tmp_path: Path) -> None:
    source, target = str(tmp_path / "a.db"), fresh_database("postgres", tmp_path)
    write_used_ledger(source)
    with Database(target, create=True) as database, database.writing() as connection:
        for statement in SPOILED_ON_ARRIVAL:
            connection.execute(text(statement))
    with pytest.raises(LedgerError, match="table task"):
        copying.copy(source, target)
    with Ledger(target) as ledger:
        assert ledger.campaigns() == []


def nothing_is_at(target: str, folder: Path) -> bool:
    """Whether no new ledger can be opened, and nothing of one lies around."""
    with pytest.raises(NoLedger):
        Ledger(target)
    return not list(folder.glob("*ledger.db*"))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_copy_that_breaks_off_leaves_no_ledger(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = str(tmp_path / "a.db"), fresh_database(kind, tmp_path)
    write_used_ledger(source)
    monkeypatch.setattr(copying, "_summary", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        copying.copy(source, target)
    assert nothing_is_at(target, tmp_path)


@pytest.mark.parametrize("is_compared", [False, True])
def test_a_source_that_fails_at_the_end_is_named_and_nothing_kept(
    tmp_path: Path, is_compared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection ends before the last table is compared, or after that."""
    source, target = fresh_database("postgres", tmp_path), str(tmp_path / "ledger.db")
    write_used_ledger(source)
    summary, tables = vars(copying)["_summary"], list(Base.metadata.sorted_tables)

    def ending(connection: Connection, table: Table) -> copying.CopiedTable:
        ends = connection.dialect.name == "postgresql" and table is tables[-1]
        found = summary(connection, table) if not ends or is_compared else None
        if ends:
            connection.connection.driver_connection.pgconn.finish()
        return found or summary(connection, table)

    monkeypatch.setattr(copying, "_summary", ending)
    with pytest.raises(ConnectionLost, match="cannot use the ledger postgresql"):
        copying.copy(source, target)
    assert nothing_is_at(target, tmp_path)


@pytest.mark.exhaustive
def test_a_copy_that_is_killed_leaves_no_ledger_and_can_be_made_again(tmp_path: Path) -> None:
    source, target = str(tmp_path / "a.db"), str(tmp_path / "ledger.db")
    write_used_ledger(source)
    killed = ("tests.support.preloaded:die_at", {"place": "db.store.copying:advance_ids"})
    process = preloaded().start(["ledger", "copy", source, target], tmp_path, ENVIRONMENT, prepare=killed)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "ledger.db").exists()
    with pytest.raises(NoLedger):
        Ledger(target)
    copying.copy(source, target)
    assert finish(target) == COUNT
    assert not list(tmp_path.glob(".*"))


def test_a_copy_whose_last_commits_stay_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So they do where the disk is full, and where another program reads it."""
    source, target = str(tmp_path / "a.db"), tmp_path / "copy.db"
    write_used_ledger(source)
    with ExitStack() as readers:

        def read(connection: Connection, table: Table) -> None:
            [unfinished] = tmp_path.glob(".copy.db.*[0-9]")
            reader = readers.enter_context(closing(sqlite3.connect(unfinished)))
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()

        monkeypatch.setattr(copying, "advance_ids", read)
        with pytest.raises(LedgerUnusable, match="no space is left, or another program"):
            copying.copy(source, str(target))
    assert not list(tmp_path.glob("*copy.db*"))


def test_a_copy_replaces_no_file_that_was_made_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = str(tmp_path / "a.db"), tmp_path / "copy.db"
    write_used_ledger(source)

    def meanwhile(connection: Connection, table: Table) -> int:
        return target.write_text("mine")

    monkeypatch.setattr(copying, "advance_ids", meanwhile)
    with pytest.raises(LedgerUnusable, match="File exists"):
        copying.copy(source, str(target))
    assert [file.name for file in tmp_path.glob("*copy.db*")] == ["copy.db"]
    assert target.read_text() == "mine"


def test_who_asks_for_a_backup_is_told_of_copy() -> None:
    done = CliRunner().invoke(cli, ["ledger", "backup"])
    assert done.exit_code == 2
    assert "Did you mean 'copy'?" in done.output
