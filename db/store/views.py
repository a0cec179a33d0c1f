"""SQL views of a ledger, for people with sqlite3, psql or datasette, and what stands in them.

They are made anew after every migration: whoever changes one adds a migration, even an empty one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Dialect, Select

from db.store import view_queries


@dataclass(frozen=True)
class View:
    """A view with what stands in it.

    Attributes:
        name: of the view.
        summary: what it shows, in a sentence or two.
        columns: what stands in each column, by its name, in their order.
        query: which makes it.
    """

    name: str
    summary: str
    columns: dict[str, str]
    query: Select[*tuple[Any, ...]]


CAMPAIGN = "Name of the campaign."
SLURM = 'Job in SLURM as its log is named, "1234" or "1234_7" for index 7 of an array; null outside of SLURM.'
TIMES = "ISO 8601, UTC."
VIEWS = (
    View(
        "task_overview",
        "A row for each task: how far it is, and the attempt that brought its result, or else its last one.",
        {
            "campaign": CAMPAIGN,
            "task": "Index of the task.",
            "state": "ready, leased, done or set-aside.",
            "work": "Estimated work, in the method's unit.",
            "failures": "How often it failed by itself.",
            "deaths": "How often it ended the process that evaluated it.",
            "attempts": "How many attempts were made.",
            "outcome": "How that attempt ended; null while it runs. One that expired may have brought a result.",
            "granted": f"When its lease began. {TIMES}",
            "began": f"When its computing began, by the worker's clock; null: unknown. {TIMES}",
            "ended": f"When it ended. {TIMES}",
            "seconds": "Computing time of the result.",
            "value": "The partial result as decimal text: it exceeds 64 bits, never sum it in SQL.",
            "confirmed": "1 when an independent voter found the same value, else 0; null without a result.",
            "doubt": "Why the result is in doubt: conflict, tie or question; null when it is not.",
            "worker": "The worker of the attempt.",
            "host": "Name of its machine.",
            "device_kind": "cpu or cuda.",
            "device_model": "What the maker calls its device.",
            "slurm": SLURM,
        },
        view_queries.tasks(),
    ),
    View(
        "worker_overview",
        "A row for each worker: what it is, when it was seen, how it ended, and what became of its attempts.",
        {
            "worker": "Its UUID.",
            "campaign": "Name of a campaign for which it works; null before its first lease.",
            "host": "Name of its machine.",
            "process": "Its process on that machine: number@start@boot.",
            "device_kind": "cpu or cuda.",
            "device_model": "What the maker calls its device.",
            "cores": "Cores of the processor that it may use.",
            "processes": "How many processes compute for it.",
            "kernels": "Hash of the code that computes there.",
            "slurm": SLURM,
            "started": f"When it enrolled. {TIMES}",
            "last_seen": f"When it last asked for something, to about half a minute. {TIMES}",
            "ended": f"When its work ended; null while it works, and when nobody knows. {TIMES}",
            "ending": "How: finished, preempted, stopped, replaced or lost.",
            "distrusted": f"When others found one of its results wrong; null while it is trusted. {TIMES}",
            "leased": "Attempts that run.",
            "done": "Attempts that brought the first result of their task.",
            "released": "Attempts that were given back.",
            "preempted": "Attempts that a signal ended.",
            "expired": "Attempts whose lease expired.",
            "failed": "Attempts that raised an error.",
            "died": "Attempts whose process died.",
            "superseded": "Attempts that brought a further result of their task.",
            "busy_seconds": "How long the attempts lasted that are done or superseded, from the begin of the "
            "computing, or from the grant where nobody said when it began.",
            "lost_seconds": "The same of those that ended in another way.",
        },
        view_queries.workers(),
    ),
    View(
        "throughput",
        "A row for each minute in which results of workers were accepted; results of imports are left out.",
        {
            "campaign": CAMPAIGN,
            "minute": f"Its begin. {TIMES}",
            "tasks": "Number of accepted results.",
            "work": "Work of their tasks, in the method's unit.",
            "seconds": "Computing time of these results.",
        },
        view_queries.throughput(),
    ),
    View(
        "lost_time",
        "A row for each way in which attempts ended without a result.",
        {
            "campaign": CAMPAIGN,
            "outcome": "preempted, expired, released, failed or died.",
            "attempts": "How many ended in this way. One whose result came late is left out.",
            "seconds": "How long they lasted together, from the begin of the computing, or from the grant where "
            "nobody said when it began.",
            "longest": "Seconds of the longest.",
            "first": f"When the first of them ended. {TIMES}",
            "last": f"When the last of them ended. {TIMES}",
        },
        view_queries.lost_time(),
    ),
    View(
        "disagreements",
        "A row for each result that is not the accepted one of its task: who found what.",
        {
            "campaign": CAMPAIGN,
            "task": "Index of the task.",
            "doubt": "conflict, tie or question while it is open; null when it is settled.",
            "accepted_value": "The accepted partial result, as decimal text.",
            "accepted_at": f"When it arrived. {TIMES}",
            "accepted_worker": "The worker that found it.",
            "accepted_host": "Name of the machine of that worker.",
            "accepted_device": "What the maker calls its device.",
            "accepted_kernels": "Hash of the code that computed there.",
            "other_value": "The other partial result, as decimal text.",
            "other_at": f"When it arrived. {TIMES}",
            "other_worker": "The worker that found it.",
            "other_host": "Name of the machine of that worker.",
            "other_device": "What the maker calls its device.",
            "other_kernels": "Hash of the code that computed there.",
            "other_distrusted": f"When that worker was trusted no more; null while it is. {TIMES}",
        },
        view_queries.disagreements(),
    ),
)
"""All views of a ledger."""


def definition(view: View, dialect: Dialect) -> str:
    """The statement that creates a view."""
    query = view.query.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    return f"CREATE VIEW {view.name} AS\n{query}"


def drop(connection: Connection) -> None:
    """Remove the views, so that the tables below them may change."""
    for view in VIEWS:
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {view.name}")


def create(connection: Connection) -> None:
    """Make the views."""
    for view in VIEWS:
        connection.exec_driver_sql(definition(view, connection.dialect))
