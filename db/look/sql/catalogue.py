"""The named questions: the views of the ledger, and some more."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Float, case, cast, column, func, select, table

from db.look.sql.named import Query, Question
from db.messages import MIN_SECONDS
from db.schema import views
from db.schema.models import Attempt, Campaign, Event, Result, Worker
from db.schema.view_queries import Iso, is_lost

# -- views ------------------------------------------------------------------------------------


def _of_view(name: str, since: str | None, state: str | None, workers: bool, leading: str = "") -> Question:
    view = next(view for view in views.VIEWS if view.name == name)
    columns = tuple(view.columns)
    query = select(table(name, *map(column, columns)))
    return Question(name, view.summary, query, columns, since, state, None, workers, tuple(leading.split()))


# -- further questions ------------------------------------------------------------------------


def _named(
    name: str,
    summary: str,
    query: Query,
    since: str | None = None,
    state: str | None = None,
    order: str | None = None,
    workers: bool = True,
    leading: str = "",
) -> Question:
    columns = tuple(query.selected_columns.keys())
    return Question(name, summary, query, columns, since, state, order, workers, tuple(leading.split()))


_TASKS = table("task_overview", *map(column, next(v for v in views.VIEWS if v.name == "task_overview").columns))


def _slowest() -> Query:
    names = "campaign", "task", "seconds", "work", "attempts", "ended", "worker", "host", "device_model", "slurm"
    return select(*(_TASKS.c[name] for name in names)).where(_TASKS.c.seconds.is_not(None))


def _attempts() -> Query:
    return (
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


def _lost() -> Query:
    return _attempts().where(is_lost())


def _running() -> Query:
    return _attempts().where(Attempt.ended.is_(None))


def _devices() -> Query:
    keys = _TASKS.c.campaign, _TASKS.c.device_kind, _TASKS.c.device_model
    seconds = func.sum(_TASKS.c.seconds)
    return (
        select(
            *keys,
            func.count().label("tasks"),
            seconds.label("seconds"),
            func.avg(_TASKS.c.seconds).label("mean_seconds"),
            func.min(_TASKS.c.seconds).label("shortest"),
            func.max(_TASKS.c.seconds).label("longest"),
            case((seconds >= MIN_SECONDS, func.sum(_TASKS.c.work) / seconds)).label("work_per_second"),
            func.avg(cast(Result.evaluated, Float)).label("mean_evaluated"),
        )
        .join(Campaign, Campaign.name == _TASKS.c.campaign)
        .join(Result, (Result.campaign_id == Campaign.id) & (Result.task_index == _TASKS.c.task))
        .where(_TASKS.c.seconds.is_not(None))
        .group_by(*keys)
    )


def _hosts() -> Query:
    attempts = func.count()
    results = func.count().filter(Attempt.outcome.is_not(None) & ~is_lost())
    return (
        select(
            Campaign.name.label("campaign"),
            Worker.host,
            func.count(Worker.id.distinct()).label("workers"),
            attempts.label("attempts"),
            results.label("results"),
            func.count().filter(is_lost()).label("lost"),
            Iso(func.max(Attempt.ended)).label("last_ended"),
        )
        .join(Campaign, Campaign.id == Attempt.campaign_id)
        .join(Worker, Worker.id == Attempt.worker_id)
        .group_by(Campaign.name, Worker.host)
    )


def _events() -> Query:
    return select(
        Campaign.name.label("campaign"),
        Iso(Event.at).label("at"),
        Event.kind,
        Event.task_index.label("task"),
        Event.attempt_id.label("attempt"),
        Event.detail,
    ).join(Campaign, Campaign.id == Event.campaign_id)


_ALL = (
    _of_view(
        "task_overview", "ended", "state", True, "campaign task state seconds worker host ended outcome doubt"
    ),
    _of_view("worker_overview", "last_seen", "ending", True, "worker host campaign done leased last_seen ending"),
    _of_view("throughput", "minute", None, False),
    _of_view("lost_time", "last", "outcome", False),
    _of_view("disagreements", "other_at", "doubt", False, "campaign task doubt accepted_host other_host"),
    _named(
        "slowest_tasks",
        "A row for each result, the longest computing time first.",
        _slowest(),
        "ended",
        None,
        "seconds",
        leading="campaign task seconds worker host ended",
    ),
    _named(
        "lost_attempts",
        "A row for each attempt that ended without a result: the reason, and the worker whose log says more.",
        _lost(),
        "ended",
        "outcome",
        "attempt",
        leading="campaign task outcome worker host ended note",
    ),
    _named(
        "running",
        "A row for each running attempt: its task, its worker and its deadline.",
        _running(),
        "granted",
        None,
        "attempt",
        leading="campaign task worker host granted deadline",
    ),
    _named(
        "devices",
        "A row for each kind of device: tasks, times, and work per second of computation, which compares where "
        "mean_evaluated is alike.",
        _devices(),
        None,
        None,
        "seconds",
        False,
        leading="campaign device_model tasks work_per_second mean_evaluated mean_seconds",
    ),
    _named(
        "hosts",
        "A row for each host: its workers, attempts, results and losses.",
        _hosts(),
        "last_ended",
        None,
        "results",
        False,
    ),
    _named(
        "events",
        "A row for each event of a campaign, the last one first.",
        _events(),
        "at",
        "kind",
        "at",
        False,
        leading="campaign at kind task detail",
    ),
)
QUESTIONS: Mapping[str, Question] = {question.name: question for question in _ALL}
"""All questions by name, the views of the ledger first."""
