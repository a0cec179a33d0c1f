"""What the views of a ledger cost.

The ledger is filled by plain SQL: 1,000,000 tasks that are done, by 500 workers in 22 hours; 20,000 attempts that
were lost; 20,000 further results, of which 100 disagree.  Each query runs three times, and all its rows are read.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, text

from benchmarks.harness import Figure, Report, Table, timed
from benchmarks.serving import empty_database, postgres_server
from db import Database, Ledger
from db.trust.enrolment import insert_worker
from langford.methods import PlanKey
from langford.problem import Problem

KEY = PlanKey(Problem.langford(12), "polyphase", 22)
START, SECONDS, RUNS = 1_750_000_000, 40, 3
PROVENANCE = '{"device": "cuda:0 NVIDIA H200", "host": "node-123", "kernels": "d1d6708ebe7972f8", "numba": "0.61"}'


@dataclass(frozen=True)
class Size:
    """How large a ledger is.

    Attributes:
        tasks: that are done.
        workers: that did them.
        lost: attempts that were lost.
        further: results beyond the first of a task.
        wrong: those of them that disagree.
    """

    tasks: int
    workers: int
    lost: int
    further: int
    wrong: int


FULL, QUICK = Size(1_000_000, 500, 20_000, 20_000, 100), Size(20_000, 50, 400, 400, 10)
ATTEMPT = "id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds, ended, outcome"
EVALUATION = "campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance, accepted"
QUERIES = (
    "SELECT * FROM worker_overview",
    "SELECT * FROM throughput",
    "SELECT * FROM lost_time",
    "SELECT * FROM disagreements",
    "SELECT * FROM task_overview WHERE campaign = 'large' LIMIT 100",
    "SELECT * FROM task_overview WHERE task = {task}",
    "SELECT * FROM task_overview WHERE state <> 'done'",
    "SELECT count(*) FROM task_overview",
    "SELECT * FROM task_overview",
)


def filling(size: Size) -> tuple[str, ...]:
    """The statements that fill the ledger."""
    return (
        f"""
        INSERT INTO attempt ({ATTEMPT})
        SELECT 1 + task_index, campaign_id, task_index, worker.id, worker.nonce, granted, granted + 1,
            granted + 120, 120, granted + {SECONDS}, 'done'
        FROM (SELECT task.*, {START} + task_index / {size.workers} * {SECONDS} AS granted FROM task) AS task
        JOIN (SELECT id, voter_id, substr(id || id, 1, 64) AS nonce FROM worker) AS worker
        ON worker.voter_id = 1 + task_index % {size.workers}
        ORDER BY task_index
        """,
        f"""
        INSERT INTO attempt ({ATTEMPT})
        SELECT {size.tasks} + id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds,
            ended - 20, CASE id % 3 WHEN 0 THEN 'preempted' WHEN 1 THEN 'expired' ELSE 'released' END
        FROM attempt WHERE id <= {size.lost}
        """,
        f"""
        INSERT INTO attempt ({ATTEMPT})
        SELECT 2 * {size.tasks} + id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds,
            ended, 'superseded'
        FROM attempt WHERE id <= {size.further}
        """,
        f"""
        INSERT INTO result ({EVALUATION}, voter_id, drawn)
        SELECT campaign_id, task_index, id, '123456789012345678901234567890', '12345678901234567890', '123456789',
            {SECONDS} - 1, '{PROVENANCE}', ended, 1 + task_index % {size.workers}, :drawn
        FROM attempt WHERE outcome = 'done' ORDER BY id
        """,
        f"""
        INSERT INTO witness ({EVALUATION})
        SELECT campaign_id, task_index, id,
            CASE WHEN task_index < {size.wrong} THEN '1' ELSE '123456789012345678901234567890' END,
            '12345678901234567890', '123456789', {SECONDS} - 1, '{PROVENANCE}', ended
        FROM attempt WHERE outcome = 'superseded'
        """,
        "UPDATE task SET state = 'done'",
    )


def fill(where: str, size: Size) -> None:
    """Make a ledger, and fill it."""
    with Ledger(where, create=True) as ledger:
        ledger.create_campaign("large", KEY, [float(1 + index % 7) for index in range(size.tasks)])
        for number in range(size.workers):
            with ledger.database.writing() as connection:
                insert_worker(connection, str(uuid.uuid4()), f"node-{number:03}", f"{number}@1@2")
        with ledger.database.writing() as connection:
            for statement in filling(size):
                connection.execute(text(statement), {"drawn": False} if ":drawn" in statement else {})
        if ledger.database.engine.dialect.name == "postgresql":  # as its own daemon does after a while
            with ledger.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("VACUUM ANALYZE"))


def rows_of(connection: Connection, query: str) -> int:
    """Read all rows of a query; returns their number."""
    return len(connection.execute(text(query)).all())


def measure_on(table: Table, kind: str, where: str, size: Size) -> None:
    """Print a row for each query."""
    fill(where, size)
    with Database(where) as database, database.reading() as connection:
        for template in QUERIES:
            query = template.format(task=size.tasks * 7 // 9)
            timing = timed(RUNS, partial(rows_of, connection, query))
            rows, seconds = Figure(timing.outcome, "{:,}"), Figure(timing.median, "{:.2f}")
            table.row(kind, f"`{query}`", rows, seconds, timing.spread)


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print the table on SQLite and on Postgres."""
    size = QUICK if quick else FULL
    table = report.table("ledger", "query", "rows", "seconds", "of three runs", title="views")
    file = folder / "views.db"
    measure_on(table, "SQLite", str(file), size)
    file.unlink()
    with postgres_server() as server:
        measure_on(table, "Postgres", empty_database(server, "large"), size)
