"""Copies of ledgers between SQLite and a real Postgres: all rows, the same rows, nothing half."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from db import Delivery, Ledger, copying
from db.errors import CopyFailed, LeasesRunning, LedgerUnreachable, NotEmpty
from db.models import Task
from db.states import Outcome, Role
from jobs.campaign import result
from langford.cli.main import cli
from tests.databases import fresh_database
from tests.unit.test_ledger import PLAN, TASKS, TRUE, new_campaign

WAYS = [
    ("sqlite", "postgres"),
    ("postgres", "sqlite"),
    ("sqlite", "sqlite"),
    ("postgres", "postgres"),
    ("pgbouncer", "sqlite"),
]


def used(where: str) -> None:
    """A ledger with a bit of everything, and one task left."""
    ledger = Ledger(where, create=True)
    campaign = ledger.replicate(new_campaign(ledger), 1.0)
    ledger.new_token(campaign, Role.WORKER)
    first, *rest = ledger.lease(campaign, "a", TASKS, 60)
    ledger.fail(campaign, rest[0].attempt, "an error with 'quotes' and ünïcode")
    ledger.release([first.attempt], Outcome.PREEMPTED, "SIGTERM")
    done = [Delivery(lease.attempt, TRUE[lease.index], 1 / 3, "{}") for lease in rest[1:]]
    ledger.accept(campaign, PLAN, done)
    [again] = ledger.lease(campaign, "b", 1, 60)
    ledger.accept(campaign, PLAN, [Delivery(again.attempt, TRUE[again.index], 0.1, "{}")])
    ledger.close()


def finish(where: str) -> int:
    ledger = Ledger(where)
    campaign = ledger.campaign("seven")
    ledger.enrol("c", "host", "1")
    for lease in ledger.lease(campaign, "c", TASKS, 60):
        ledger.accept(campaign, PLAN, [Delivery(lease.attempt, TRUE[lease.index], 0.1, "{}")])
    count = result(ledger, campaign).published
    ledger.close()
    return count


@pytest.mark.parametrize(("kind", "other"), WAYS)
def test_a_copy_is_the_same_and_goes_on(tmp_path: Path, kind: str, other: str) -> None:
    (tmp_path / "other").mkdir()
    source, target = fresh_database(kind, tmp_path), fresh_database(other, tmp_path / "other")
    used(source)
    tables = copying.copy(source, target)
    assert {table.name: table.rows for table in tables}["task"] == TASKS
    assert all(table.rows for table in tables)
    for where in (source, target):
        assert finish(where) == 26


def test_a_copy_of_a_copy_has_the_same_checksums(tmp_path: Path) -> None:
    names = [str(tmp_path / "a.db"), fresh_database("postgres", tmp_path), str(tmp_path / "c.db")]
    used(names[0])
    first = copying.copy(names[0], names[1])
    assert copying.copy(names[1], names[2]) == first


def test_running_leases_are_not_copied(tmp_path: Path) -> None:
    source = str(tmp_path / "a.db")
    ledger = Ledger(source, create=True)
    ledger.lease(new_campaign(ledger), "a", 2, 60)
    with pytest.raises(LeasesRunning, match="2 leases"):
        copying.copy(source, str(tmp_path / "b.db"))


def test_nothing_is_written_over(tmp_path: Path) -> None:
    source, target = str(tmp_path / "a.db"), str(tmp_path / "b.db")
    used(source)
    used(target)
    with pytest.raises(NotEmpty):
        copying.copy(source, target)
    with pytest.raises(LedgerUnreachable):
        copying.copy(str(tmp_path / "absent.db"), str(tmp_path / "c.db"))


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_copy_that_differs_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    source, target = str(tmp_path / "a.db"), fresh_database(kind, tmp_path)
    used(source)
    summary = copying._summary

    def spoiling(connection: object, table: object) -> object:
        if table is Task.__table__:  # a row that changes on the way
            connection.execute(update(Task).where(Task.task_index == 1).values(failures=9))  # type: ignore[attr-defined]
        return summary(connection, table)  # type: ignore[arg-type]

    original = copying._copy_table

    def copy_table(reading: object, writing: object, table: object) -> object:
        def only_writing(connection: object, other: object) -> object:
            return spoiling(connection, other) if connection is writing else summary(connection, other)  # type: ignore[arg-type]

        monkeypatch.setattr(copying, "_summary", only_writing)
        return original(reading, writing, table)  # type: ignore[arg-type]

    monkeypatch.setattr(copying, "_copy_table", copy_table)
    with pytest.raises(CopyFailed, match="table task"):
        copying.copy(source, target)
    assert Ledger(target).campaigns() == []


def test_the_command(tmp_path: Path) -> None:
    used(str(tmp_path / "a.db"))
    done = CliRunner().invoke(cli, ["ledger", "copy", str(tmp_path / "a.db"), str(tmp_path / "b.db")])
    assert done.exit_code == 0
    assert "result" in done.output
