"""Statements that SQLite's driver executes itself: the same rows, errors and listeners as with SQLAlchemy."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Boolean, bindparam, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from db import Ledger
from db.errors import LedgerUnusable
from db.schema.dialects import Now, among
from db.schema.models import Event, Task
from db.states import TaskState
from db.store.transaction import CAMPAIGN, Transaction
from tests.support.campaigns import KEY, PLAN
from tests.support.database_clock import moved_clock
from tests.support.statements import statements_of

CHOSEN = Task.campaign_id == CAMPAIGN, among(Task.task_index, "tasks"), Task.state.in_(list(TaskState))
SURE, FAILED = literal(True, Boolean).label("sure"), (Task.failures > bindparam("most")).label("failed")
READ = select(Task.task_index.label("class"), Task.work, SURE, FAILED).where(*CHOSEN).order_by(Task.task_index)
CHANGED = update(Task).where(*CHOSEN).values(failures=bindparam("many"))
RETURNED = CHANGED.returning(Task.task_index)
TWICE = insert(Task).values(
    campaign_id=CAMPAIGN, task_index=0, work=1.0, state=TaskState.READY, failures=0, deaths=0, retried=0
)
TIME, EVENTS = select(Now().label("now")), select(Event.id).where(Event.campaign_id == CAMPAIGN)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(str(tmp_path / "ledger.db"), create=True)
    made.create_campaign("one", KEY, PLAN.work.tolist())
    return made


def test_rows_are_those_of_sqlalchemy(ledger: Ledger) -> None:
    with ledger.campaign("one").writing() as transaction:
        assert transaction.change(CHANGED, tasks=[1, 2], many=3) == 2
        assert list(transaction.rows(RETURNED, tasks=[2], many=5)) == [(2,)]
        for most in (3, 1):  # the values of one execution are not those of the next
            rows = transaction.rows(READ, tasks=[0, 1, 2], most=most)
            assert rows == [tuple(row) for row in transaction.execute(READ, tasks=[0, 1, 2], most=most)]
            assert [row.failed for row in rows] == [False, most < 3, True]
            assert all(row.sure is True and row.failed in (True, False) for row in rows)


@pytest.mark.parametrize("by", [Transaction.change, Transaction.execute])
def test_errors_are_those_of_sqlalchemy(ledger: Ledger, by: object) -> None:
    with ledger.campaign("one").writing() as transaction, pytest.raises(IntegrityError) as raised:
        by(transaction, TWICE)  # type: ignore[operator]
    assert str(raised.value.orig) == "UNIQUE constraint failed: task.campaign_id, task.task_index"


def test_errors_are_translated(ledger: Ledger) -> None:
    with ledger.campaign("one").writing() as transaction:
        transaction.connection.exec_driver_sql("DROP TABLE event")
    with pytest.raises(LedgerUnusable, match="no such table"), ledger.campaign("one").writing() as transaction:
        transaction.rows(EVENTS)


def test_listeners_hear_and_may_change_them(ledger: Ledger) -> None:
    with statements_of() as seen, ledger.campaign("one").writing() as transaction:
        transaction.change(CHANGED, tasks=[1], many=1)
    assert [text for text in seen if text.startswith("UPDATE task")]
    with moved_clock() as clock, ledger.campaign("one").writing() as transaction:
        before = transaction.rows(TIME)[0].now
        clock.move(1_000.0)
        assert transaction.rows(TIME)[0].now >= before + 1_000.0
