"""Named questions, and the filters of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select

from db.look.sql.read_only import SECONDS, Answer, BadQuery, ask_select
from db.store.database import Database
from db.work import queries

Query = Select[*tuple[Any, ...]]


@dataclass(frozen=True)
class Filters:
    """Which rows are returned; None: all."""

    campaign: str | None = None
    worker: str | None = None  # first characters of a worker's UUID, or name of its host
    since: float | None = None  # seconds since 1970
    state: str | None = None  # state of tasks, workers, attempts or events, see Question.state
    limit: int | None = None


@dataclass(frozen=True)
class Question:
    """A question with a name."""

    name: str
    summary: str  # what the rows of the answer are
    query: Query
    columns: tuple[str, ...]
    since: str | None = None  # the column with the time for the filter ``since``; None: rows have no time
    state: str | None = None  # the column with the state for the filter ``state``; None: rows have no state
    order: str | None = None
    workers: bool = True  # whether each row belongs to a worker, so that the filter ``worker`` applies
    leading: tuple[str, ...] = ()  # the columns that a table shows first: those that say most


@contextmanager
def ask(database: Database, question: Question, filters: Filters, seconds: float = SECONDS) -> Iterator[Answer]:
    """Ask a named question, as :func:`db.look.sql.read_only.ask_sql` does.

    Raises BadQuery when a filter does not apply to the question, and NoSuchCampaign.
    """
    if filters.campaign is not None:
        with database.reading() as connection:
            queries.required_campaign(connection, filters.campaign, database.where)
    asked = question.query.subquery("asked")
    chosen = select(asked).where(*_conditions(question, asked.c, filters)).limit(filters.limit)
    if question.order is not None:
        chosen = chosen.order_by(asked.c[question.order].desc())
    with ask_select(database, chosen, seconds) as answer:
        yield answer


def _conditions(question: Question, columns: Any, filters: Filters) -> list[ColumnElement[bool]]:
    """Raises BadQuery."""
    conditions: list[ColumnElement[bool]] = []
    if filters.campaign is not None:
        conditions.append(columns.campaign == filters.campaign)
    if filters.worker is not None:
        _require(question, question.workers, "--worker")
        start = func.substr(columns.worker, 1, len(filters.worker))
        conditions.append(or_(columns.host == filters.worker, start == filters.worker))
    if filters.since is not None:
        _require(question, question.since is not None, "--since")
        conditions.append(columns[question.since] >= iso(filters.since))
    if filters.state is not None:
        _require(question, question.state is not None, "--state")
        conditions.append(columns[question.state] == filters.state)
    return conditions


def _require(question: Question, applies: bool, option: str) -> None:
    if not applies:
        raise BadQuery(f"{question.name} has nothing for {option} to look at: leave it out")


def iso(seconds: float) -> str:
    """A time in the format of the views.

    >>> iso(1_700_000_000.25)
    '2023-11-14T22:13:20.250Z'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
