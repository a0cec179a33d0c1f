"""A ledger with one large campaign, filled by plain SQL: half of its tasks are done, or all.

Workers are here, and others were preempted; leases are open, attempts were lost; a share of 2% was drawn.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Connection, text

from db import Ledger
from langford.methods import PlanKey
from langford.problem import Problem

KEY = PlanKey(Problem.langford(12), "polyphase", 22)
DAYS = 3.0


@dataclass(frozen=True)
class Size:
    """How large a campaign is.

    Attributes:
        tasks: of the campaign.
        present, gone: workers that are here, and that were preempted.
        leases: that each worker holds which is here.
        lost: attempts of workers that were preempted.
    """

    tasks: int
    present: int
    gone: int
    leases: int
    lost: int


FULL, QUICK = Size(1_000_000, 200, 2_000, 64, 20_000), Size(20_000, 20, 200, 64, 400)

NUMBERS = "WITH RECURSIVE number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i + 1 < {count})"
"""The numbers below ``count``."""


def fill(connection: Connection, size: Size, done: int, leases: int, gone: int) -> None:
    """Let workers have done the first ``done`` tasks, and each of those present hold ``leases`` more."""
    now = time.time()
    start, workers = now - DAYS * 86_400, size.present + gone
    connection.execute(
        text(
            f"{NUMBERS.format(count=workers)} INSERT INTO voter "
            "(id, kind, host, token, device_kind, kernels) "
            "SELECT i + 1, 'worker', 'node-' || (i % 200), '', 'cpu', '0f3a29c4d1e8b765' FROM number"
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
        {"start": start, "now": now, "present": size.present, "life": DAYS * 86_400 / (gone + 100)},
    )
    # Every tenth task was done by a worker that is gone.
    worker = "CASE WHEN i % 10 = 0 THEN :present + i / 10 % :gone ELSE i % :present END"
    numbers = {"start": start, "step": DAYS * 86_400 / max(1, done), "present": size.present, "gone": gone}
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
            "provenance, accepted, voter_id, confirmed_by, drawn) "
            "SELECT campaign_id, task_index, attempt.id, '1234567890123456789012', '12345678901234567890', "
            "'65536', 20, :provenance, attempt.ended, worker.voter_id, "
            "CASE WHEN task_index % 1000 < 19 THEN 1 ELSE NULL END, task_index % 1000 < 20 "
            "FROM attempt JOIN worker ON worker.id = attempt.worker_id"
        ),
        {"provenance": '{"host": "node-17", "kernels": "0f3a29c4d1e8b765"}' + " " * 200},
    )
    connection.execute(
        text(
            f"{NUMBERS.format(count=size.lost)} INSERT INTO attempt ({columns}) "
            "SELECT 1, number.i, worker.id, :start + number.i, :start + number.i + 120, 120, false, 3, NULL, "
            f"worker.ended, 'preempted' FROM number JOIN worker ON worker.slurm_index = :present + number.i % :gone"
        ),
        numbers,
    )
    if leases:
        connection.execute(
            text(
                f"{NUMBERS.format(count=size.present * leases)} INSERT INTO attempt ({columns}) "
                "SELECT 1, :done + number.i, worker.id, :now - 30, :now + 90, 120, false, NULL, NULL, NULL, NULL "
                "FROM number JOIN worker ON worker.slurm_index = number.i % :present"
            ),
            {"now": now, "done": done, "present": size.present},
        )
    connection.execute(text("UPDATE task SET state = 'done' WHERE task_index < :done"), {"done": done})
    connection.execute(
        text("UPDATE task SET state = 'leased' WHERE task_index >= :done AND task_index < :leased"),
        {"done": done, "leased": done + size.present * leases},
    )
    connection.execute(text("UPDATE campaign SET recheck_share = 0.02, created = :start"), {"start": start})


def filled(where: str, size: Size, done: int, leases: int, gone: int) -> str:
    """Make a ledger with such a campaign, named "bench"; returns its address."""
    with Ledger(where, create=True) as ledger:
        ledger.create_campaign("bench", KEY, [1.0] * size.tasks)
        with ledger.database.writing() as connection:
            fill(connection, size, done, leases, gone)
        if where.startswith("postgres"):
            with ledger.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM ANALYZE")
    return where
