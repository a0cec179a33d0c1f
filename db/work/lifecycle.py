"""Cancelling, reopening, renaming and deleting a campaign; each function is one change within a transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, select, text, update

from db.errors import BadName, LeasesRunning
from db.schema.dialects import close_to_writers
from db.schema.models import Attempt, Campaign, Event, Result, Task, Token, Witness
from db.states import EventKind, Outcome, TaskState, require_new_name
from db.store.transaction import CAMPAIGN, Transaction
from db.work import transitions
from langford.words import several

TABLES: tuple[Any, ...] = (Witness, Result, Attempt, Task, Event, Token)
"""The tables of a campaign, in an order in which their rows may be deleted."""
NOTE = "cancelled by the operator"


def cancel(transaction: Transaction) -> tuple[int, int]:
    """End all leases of a campaign, and set aside all tasks that are not done; returns (leases, tasks)."""
    ended = len(transitions.end(transaction, transitions.OF_CAMPAIGN, Outcome.RELEASED, NOTE))
    waiting = Task.campaign_id == CAMPAIGN, Task.state == TaskState.READY
    set_aside = transaction.execute(update(Task).where(*waiting).values(state=TaskState.SET_ASIDE)).rowcount
    if ended or set_aside:
        transitions.record(transaction, EventKind.SET_ASIDE, detail=f"{several(set_aside, 'task')}: {NOTE}")
    return ended, set_aside


def reopen(transaction: Transaction) -> int:
    """Make the tasks that were set aside ready again; returns their number."""
    set_aside = Task.campaign_id == CAMPAIGN, Task.state == TaskState.SET_ASIDE
    last = select(func.coalesce(func.max(Attempt.id), 0)).scalar_subquery()
    fresh = update(Task).where(*set_aside).values(state=TaskState.READY, failures=0, deaths=0, retried=last)
    return transaction.execute(fresh).rowcount


def rename(transaction: Transaction, name: str, where: str) -> None:
    """Raises BadName."""
    require_new_name(name)
    close_to_writers(transaction.connection, Campaign)
    holder = transaction.connection.scalar(select(Campaign.id).where(Campaign.name == name))
    if holder not in (None, transaction.campaign_id):
        raise BadName(f"{where} has a campaign {name!r} already: choose another name")
    transaction.execute(update(Campaign).where(Campaign.id == CAMPAIGN).values(name=name))


def close(transaction: Transaction, name: str) -> None:
    """Lock a campaign until this transaction ends; raises LeasesRunning when workers hold its tasks.

    ``name``: the campaign's name in the message.
    """
    for table in (Attempt, Result):
        close_to_writers(transaction.connection, table)
    own = Attempt.campaign_id == CAMPAIGN, Attempt.ended.is_(None)
    running = transaction.scalar(select(func.count()).select_from(Attempt).where(*own))
    if running:
        raise LeasesRunning(
            f"{several(running, f'task of {name} is', f'tasks of {name} are')} with workers: first stop these, or "
            f"`langford cancel {name}`"
        )


def remove(transaction: Transaction) -> None:
    """Delete a closed campaign with all its rows, except its workers."""
    # For the foreign keys each deleted attempt is looked up among all results; only this needs the indices.
    for pointing in ("result", "witness"):
        transaction.connection.execute(text(f"CREATE INDEX leaving_{pointing} ON {pointing} (attempt_id)"))
    for table in TABLES:
        transaction.execute(delete(table).where(table.campaign_id == CAMPAIGN))
    for pointing in ("result", "witness"):
        transaction.connection.execute(text(f"DROP INDEX leaving_{pointing}"))
    transaction.execute(delete(Campaign).where(Campaign.id == CAMPAIGN))
