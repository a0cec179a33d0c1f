"""The views of a ledger as questions, and the filters of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, column, func, or_, select, table

from db.look.read_only import SECONDS, BadQuery, QueryResult, ask_select
from db.messages import iso
from db.schema import views
from db.schema.view_queries import View
from db.store.database import Database
from db.work import catalogue


@dataclass(frozen=True)
class Filters:
    """Which rows are returned; None: all."""

    campaign: str | None = None
    worker: str | None = None  # first characters of a worker's UUID, or name of its host
    since: float | None = None  # seconds since 1970
    state: str | None = None  # state of tasks, outcome of attempts or ending of workers, see Question.state
    limit: int | None = None


@dataclass(frozen=True)
class Question:
    """A view, and which of its columns the filters use."""

    view: View
    since: str | None = None  # the column with the time for the filter ``since``; None: rows have no time
    state: str | None = None  # the column with the state for the filter ``state``; None: rows have no state
    workers: bool = True  # whether each row belongs to a worker, so that the filter ``worker`` applies
    leading: str = ""  # the columns that a table shows first: those that say most

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.view.columns)


@contextmanager
def ask(
    database: Database, question: Question, filters: Filters, seconds: float = SECONDS, leading: bool = False
) -> Iterator[QueryResult]:
    """Read a view, as :func:`db.look.read_only.ask_sql` does.

    ``leading``: whether the columns that say most are the first of its answer.  Raises BadQuery when a filter does
    not apply to the question, and NoSuchCampaign.
    """
    if filters.campaign is not None:
        with database.reading() as connection:
            catalogue.required_campaign(connection, filters.campaign, database.where)
    view = question.view
    asked = table(view.name, *(column(name, each.type) for name, (each, _) in view.selected.items()))
    names = dict.fromkeys([*(question.leading.split() if leading else ()), *question.columns])
    chosen = select(*(asked.c[name] for name in names)).limit(filters.limit)
    chosen = chosen.where(*_conditions(question, asked.c, filters))
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
        conditions.append(columns[question.since] >= iso(filters.since, milliseconds=True))
    if filters.state is not None:
        _require(question, question.state is not None, "--state")
        conditions.append(columns[question.state] == filters.state)
    return conditions


def _require(question: Question, applies: bool, option: str) -> None:
    if not applies:
        raise BadQuery(f"{question.view.name} takes no {option}: leave it out")


_FILTERS: Mapping[str, dict[str, Any]] = {
    "task_overview": {
        "since": "ended",
        "state": "state",
        "leading": "campaign task state seconds worker host ended outcome doubt",
    },
    "worker_overview": {
        "since": "last_seen",
        "state": "ending",
        "leading": "worker host campaign done leased last_seen ending",
    },
    "throughput": {"since": "minute", "workers": False},
    "lost_time": {"since": "last", "state": "outcome", "workers": False},
    "disagreements": {
        "since": "other_at",
        "state": "doubt",
        "workers": False,
        "leading": "campaign task doubt accepted_host other_host",
    },
}
QUESTIONS: Mapping[str, Question] = {view.name: Question(view, **_FILTERS[view.name]) for view in views.VIEWS}
"""By the names of the views."""
