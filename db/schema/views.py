"""SQL views of a ledger, for users of sqlite3, psql or datasette, the meaning of their columns, and who may read.

They are created anew after every migration: a change of a view needs a migration, even an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Dialect, Select

from db.schema import view_queries
from db.schema.models import Attempt, Base, Campaign, Token


@dataclass(frozen=True)
class View:
    """A view and the meaning of its columns, in their order."""

    name: str
    summary: str
    columns: dict[str, str]
    query: Select[*tuple[Any, ...]]


CAMPAIGN = "Name of the campaign."
SLURM = 'SLURM job as in the name of its log, "1234", or "1234_7" for index 7 of an array; null outside of SLURM.'
TIMES = "ISO 8601, UTC."
VIEWS = (
    View(
        "task_overview",
        "A row for each task: its state, and the attempt that delivered its result, or else its last attempt.",
        {
            "campaign": CAMPAIGN,
            "task": "Index of the task.",
            "state": "ready, leased, done or set-aside.",
            "work": "Estimated work, in the method's unit.",
            "failures": "How often the task itself failed.",
            "deaths": "How often the process that evaluated it died.",
            "attempts": "Number of attempts.",
            "outcome": "How that attempt ended; null while it runs. An expired one may have delivered a result.",
            "granted": f"When its lease began. {TIMES}",
            "began": f"When its computing began, by the worker's clock; null: unknown. {TIMES}",
            "ended": f"When it ended. {TIMES}",
            "seconds": "Computing time of the result.",
            "value": "The partial result as decimal text: it exceeds 64 bits; never sum it in SQL.",
            "confirmed": "1 when an independent voter found the same value, else 0; null without a result.",
            "doubt": "Why the result is in doubt: conflict, tie or question; null when it is not.",
            "worker": "The worker of the attempt.",
            "host": "Name of its machine.",
            "device_kind": "cpu or cuda.",
            "device_model": "The manufacturer's name of its device.",
            "slurm": SLURM,
        },
        view_queries.tasks(),
    ),
    View(
        "worker_overview",
        "A row for each worker: its machine, when it was seen, how it ended, and its attempts by outcome.",
        {
            "worker": "Its UUID.",
            "campaign": "Name of a campaign that it works for; null before its first lease.",
            "host": "Name of its machine.",
            "process": "Its process on that machine: number@start@boot.",
            "device_kind": "cpu or cuda.",
            "device_model": "The manufacturer's name of its device.",
            "cores": "Number of processor cores that it may use.",
            "processes": "Number of its processes that compute.",
            "kernels": "Hash of the code that computes there.",
            "slurm": SLURM,
            "started": f"When it enrolled. {TIMES}",
            "last_seen": f"When it made its last request, to about half a minute. {TIMES}",
            "ended": f"When its work ended; null while it works, or if that is unknown. {TIMES}",
            "ending": "How: finished, preempted, stopped, replaced or lost.",
            "distrusted": f"When one of its results was found wrong; null while it is trusted. {TIMES}",
            "leased": "Running attempts.",
            "done": "Attempts that delivered the first result of their task.",
            "released": "Attempts whose task was returned.",
            "preempted": "Attempts that were ended by a signal.",
            "expired": "Attempts whose lease expired.",
            "failed": "Attempts that raised an error.",
            "died": "Attempts whose process died.",
            "superseded": "Attempts that delivered a further result of their task.",
            "busy_seconds": "Total time of the attempts that are done or superseded, from the start of computing, "
            "or from the grant if that is unknown.",
            "lost_seconds": "The same for attempts that ended in another way.",
        },
        view_queries.workers(),
    ),
    View(
        "throughput",
        "A row for each minute in which results of workers were accepted, without imported results.",
        {
            "campaign": CAMPAIGN,
            "minute": f"Its start. {TIMES}",
            "tasks": "Number of accepted results.",
            "work": "Estimated work of their tasks, in the method's unit.",
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
            "attempts": "Number of attempts that ended in this way, without those that delivered a late result.",
            "seconds": "Their total time, from the start of computing, or from the grant if that is unknown.",
            "longest": "Seconds of the longest.",
            "first": f"When the first of them ended. {TIMES}",
            "last": f"When the last of them ended. {TIMES}",
        },
        view_queries.lost_time(),
    ),
    View(
        "disagreements",
        "A row for each result that differs from the accepted one of its task, with both values and workers.",
        {
            "campaign": CAMPAIGN,
            "task": "Index of the task.",
            "doubt": "conflict, tie or question while it is open; null when it is settled.",
            "accepted_value": "The accepted partial result, as decimal text.",
            "accepted_at": f"When it arrived. {TIMES}",
            "accepted_worker": "The worker that found it.",
            "accepted_host": "Name of the machine of that worker.",
            "accepted_device": "The manufacturer's name of its device.",
            "accepted_kernels": "Hash of the code that computed there.",
            "other_value": "The other partial result, as decimal text.",
            "other_at": f"When it arrived. {TIMES}",
            "other_worker": "The worker that found it.",
            "other_host": "Name of the machine of that worker.",
            "other_device": "The manufacturer's name of its device.",
            "other_kernels": "Hash of the code that computed there.",
            "other_distrusted": f"When that worker lost its trust; null while it is trusted. {TIMES}",
        },
        view_queries.disagreements(),
    ),
)
"""All views of a ledger."""


def definition(view: View, dialect: Dialect) -> str:
    query = view.query.compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    return f"CREATE VIEW {view.name} AS\n{query}"


def drop(connection: Connection) -> None:
    """Remove the views, so that the tables below them may change."""
    for view in VIEWS:
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {view.name}")


def create(connection: Connection) -> None:
    for view in VIEWS:
        connection.exec_driver_sql(definition(view, connection.dialect))


HIDDEN = frozenset(
    (attribute.class_.__tablename__, attribute.key) for attribute in (Campaign.secret, Token.digest, Attempt.nonce)
)
"""(table, column) of the secret of the draw, and of the hashes of tokens and nonces.

``Voter.token`` is a hash of a token too, but commands that read compare voters by it: one token has one vote.  It
opens nothing, since a server hashes what it is shown.
"""


def granted(role: str) -> Iterator[str]:
    """The owner of the ledger executes them; ``role`` is quoted if necessary."""
    yield f"GRANT USAGE ON SCHEMA public TO {role};"
    whole = ["alembic_version", *(view.name for view in VIEWS)]
    for table in Base.metadata.sorted_tables:
        shown = [column.name for column in table.columns if (table.name, column.name) not in HIDDEN]
        if len(shown) == len(table.columns):
            whole.append(table.name)
        else:
            yield f"GRANT SELECT ({', '.join(shown)}) ON {table.name} TO {role};"
    yield f"GRANT SELECT ON {', '.join(whole)} TO {role};"
