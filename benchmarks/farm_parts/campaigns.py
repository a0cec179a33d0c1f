"""How long a campaign takes to be created, and what a server of a large one costs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks.harness import Figure, Table
from benchmarks.serving import KEY, empty_database, served
from db import Ledger
from db.identity import Identity
from db.states import Role
from jobs.reach.remote import RemoteServer
from langford.methods import PlanKey, plan_of
from langford.problem import Problem

LARGE, QUICK_LARGE = 131_072, 2_000
HUGE, QUICK_HUGE = (PlanKey(Problem.langford(28), "godfrey", depth) for depth in (22, 12))
"""Real ones: a server serves no campaign that its version splits differently."""


def creation(where: str, key: PlanKey, work: list[float]) -> float:
    """Seconds until a campaign of these tasks is there."""
    ledger = Ledger(where, create=True)
    start = time.perf_counter()
    ledger.create_campaign("large", key, work)
    seconds = time.perf_counter() - start
    ledger.close()
    return seconds


def measure_creation(table: Table, folder: Path, postgres: Any, quick: bool) -> None:
    """Print a row for each kind of database."""
    tasks = QUICK_LARGE if quick else LARGE
    work = [float(k) for k in range(tasks)]
    for kind, where in (("SQLite", str(folder / "large.db")), ("Postgres", empty_database(postgres, "large"))):
        table.row(f"a campaign of {tasks:,} tasks created, {kind}", Figure(creation(where, KEY, work), "{:.1f} s"))


def measure_server(table: Table, folder: Path, quick: bool) -> None:
    """Print the memory of a server of many tasks, and how long it takes to lease a thousand."""
    where, key = str(folder / "huge.db"), QUICK_HUGE if quick else HUGE
    work = plan_of(key).work.tolist()
    tasks, seconds = len(work), creation(where, key, work)
    with Ledger(where) as ledger:
        token = ledger.campaign("large").operator.new_token(Role.WORKER)
    with served(where, "large") as (process, url):
        server, me = RemoteServer(url, token).campaign(), Identity.fresh()
        server.enrol(me, 1, 60.0, [])  # returned by the next lease
        start = time.perf_counter()
        server.lease(me.worker_id, 1000, 60, [])
        claim = time.perf_counter() - start
        server.info()
        memory = process.memory_info().rss / 2**20
    table.row(
        f"server of a campaign of {tasks:,} tasks (created in {seconds:.1f} s)",
        f"{memory:.0f} MiB, 1,000 tasks claimed in {1000 * claim:.0f} ms",
    )
