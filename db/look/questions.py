"""Named questions, and the filters of their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Float, Select, TableClause, case, cast, column, func, or_, select, table

from db.look.read_only import SECONDS, BadQuery, QueryResult, ask_select
from db.messages import MIN_SECONDS, iso
from db.schema import measures, views
from db.schema.dialects import Iso
from db.schema.models import Attempt, Campaign, Event, Result, Worker
from db.schema.view_queries import View
from db.store.database import Database
from db.work import catalogue

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
    name: str
    summary: str  # what the rows of the answer are
    query: Query
    since: str | None = None  # the column with the time for the filter ``since``; None: rows have no time
    state: str | None = None  # the column with the state for the filter ``state``; None: rows have no state
    order: str | None = None
    workers: bool = True  # whether each row belongs to a worker, so that the filter ``worker`` applies
    leading: str = ""  # the columns that a table shows first: those that say most

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.query.selected_columns.keys())


@contextmanager
def ask(
    database: Database, question: Question, filters: Filters, seconds: float = SECONDS, leading: bool = False
) -> Iterator[QueryResult]:
    """Ask a named question, as :func:`db.look.read_only.ask_sql` does.

    ``leading``: whether the columns that say most are the first of its answer.  Raises BadQuery when a filter does
    not apply to the question, and NoSuchCampaign.
    """
    if filters.campaign is not None:
        with database.reading() as connection:
            catalogue.required_campaign(connection, filters.campaign, database.where)
    asked = question.query.subquery("asked")
    names = dict.fromkeys([*(question.leading.split() if leading else ()), *question.columns])
    chosen = select(*(asked.c[name] for name in names)).limit(filters.limit)
    chosen = chosen.where(*_conditions(question, asked.c, filters))
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
        conditions.append(columns[question.since] >= iso(filters.since, milliseconds=True))
    if filters.state is not None:
        _require(question, question.state is not None, "--state")
        conditions.append(columns[question.state] == filters.state)
    return conditions


def _require(question: Question, applies: bool, option: str) -> None:
    if not applies:
        raise BadQuery(f"{question.name} takes no {option}: leave it out")


def _table(view: View) -> TableClause:
    return table(view.name, *(column(name, each.type) for name, (each, _) in view.selected.items()))


_VIEWS = {view.name: _table(view) for view in views.VIEWS}
_OF_VIEWS: Mapping[str, dict[str, Any]] = {
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
_TASKS = _VIEWS["task_overview"]
_SLOWEST = "campaign", "task", "seconds", "work", "attempts", "ended", "worker", "host", "device_model", "slurm"
_ATTEMPTS = (
    select(
        Campaign.name.label("campaign"),
        Attempt.task_index.label("task"),
        Attempt.id.label("attempt"),
        Attempt.outcome,
        Attempt.note,
        Iso(Attempt.granted).label("granted"),
        Iso(Attempt.began).label("began"),
        Iso(Attempt.ended).label("ended"),
        Iso(Attempt.deadline).label("deadline"),
        Attempt.worker_id.label("worker"),
        Worker.host,
        Worker.slurm_job,
        Worker.slurm_index,
    )
    .join(Campaign, Campaign.id == Attempt.campaign_id)
    .join(Worker, Worker.id == Attempt.worker_id)
)
_DEVICE = _TASKS.c.campaign, _TASKS.c.device_kind, _TASKS.c.device_model
_SECONDS = func.sum(_TASKS.c.seconds)
_DEVICES = (
    select(
        *_DEVICE,
        func.count().label("tasks"),
        _SECONDS.label("seconds"),
        func.avg(_TASKS.c.seconds, type_=Float(53)).label("mean_seconds"),
        func.min(_TASKS.c.seconds).label("shortest"),
        func.max(_TASKS.c.seconds).label("longest"),
        case((_SECONDS >= MIN_SECONDS, func.sum(_TASKS.c.work) / _SECONDS)).label("work_per_second"),
        func.avg(cast(Result.evaluated, Float), type_=Float(53)).label("mean_evaluated"),
    )
    .join(Campaign, Campaign.name == _TASKS.c.campaign)
    .join(Result, (Result.campaign_id == Campaign.id) & (Result.task_index == _TASKS.c.task))
    .where(_TASKS.c.seconds.is_not(None))
    .group_by(*_DEVICE)
)
_cut = measures.cut_short()
_LOST_ATTEMPTS = (
    _ATTEMPTS.add_columns(measures.seconds(_cut).label("seconds"))
    .join(_cut, _cut.c.id == Attempt.id)
    .where(measures.lost(_cut))
)
_HOSTS = (
    select(
        Campaign.name.label("campaign"),
        Worker.host,
        func.count(Worker.id.distinct()).label("workers"),
        func.count().label("attempts"),
        func.count().filter(Attempt.outcome.in_(measures.DELIVERED) | (_cut.c.late == 1)).label("results"),
        func.count().filter(measures.lost(_cut)).label("lost"),
        Iso(func.max(Attempt.ended)).label("last_ended"),
    )
    .join(Campaign, Campaign.id == Attempt.campaign_id)
    .join(Worker, Worker.id == Attempt.worker_id)
    .outerjoin(_cut, _cut.c.id == Attempt.id)
    .group_by(Campaign.name, Worker.host)
)
_EVENTS = select(
    Campaign.name.label("campaign"),
    Iso(Event.at).label("at"),
    Event.kind,
    Event.task_index.label("task"),
    Event.attempt_id.label("attempt"),
    Event.detail,
).join(Campaign, Campaign.id == Event.campaign_id)

_ALL = (
    *(Question(v.name, v.summary, select(_VIEWS[v.name]), **_OF_VIEWS[v.name]) for v in views.VIEWS),
    Question(
        "slowest_tasks",
        "A row for each result, the longest computing time first.",
        select(*(_TASKS.c[name] for name in _SLOWEST)).where(_TASKS.c.seconds.is_not(None)),
        since="ended",
        order="seconds",
        leading="campaign task seconds worker host ended",
    ),
    Question(
        "lost_attempts",
        "A row for each attempt that began and brought no result: the reason, and the worker whose log says more.",
        _LOST_ATTEMPTS,
        since="ended",
        state="outcome",
        order="attempt",
        leading="campaign task outcome worker host ended note",
    ),
    Question(
        "running",
        "A row for each running attempt: its task, its worker and its deadline.",
        _ATTEMPTS.where(Attempt.ended.is_(None)),
        since="granted",
        order="attempt",
        leading="campaign task worker host granted deadline",
    ),
    Question(
        "devices",
        "A row for each kind of device: tasks, times, and work per second of computation, which compares where "
        "mean_evaluated is alike.",
        _DEVICES,
        order="seconds",
        workers=False,
        leading="campaign device_model tasks work_per_second mean_evaluated mean_seconds",
    ),
    Question(
        "hosts",
        "A row for each host: its workers, attempts, results and losses.",
        _HOSTS,
        since="last_ended",
        order="results",
        workers=False,
    ),
    Question(
        "events",
        "A row for each event of a campaign, the last one first.",
        _EVENTS,
        since="at",
        state="kind",
        order="at",
        workers=False,
        leading="campaign at kind task detail",
    ),
)
QUESTIONS: Mapping[str, Question] = {question.name: question for question in _ALL}
"""All questions by name, the views of the ledger first."""
