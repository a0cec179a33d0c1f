"""How long a campaign takes to be created, and what a server of a large one costs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from harness import Figure, Table
from serving import KEY, empty_database, served

from db import Ledger
from db.identity import Identity
from db.states import Role
from jobs.reach.remote import RemoteServer

LARGE, QUICK_LARGE = 131_072, 2_000
HUGE, QUICK_HUGE = 1_000_000, 10_000


def creation(where: str, tasks: int) -> float:
    """Seconds until a campaign of this number of tasks is there."""
    ledger = Ledger(where, create=True)
    start = time.perf_counter()
    ledger.create_campaign("large", KEY, [float(k) for k in range(tasks)])
    seconds = time.perf_counter() - start
    ledger.close()
    return seconds


def measure_creation(table: Table, folder: Path, postgres: Any, quick: bool) -> None:
    """Print a row for each kind of database."""
    tasks = QUICK_LARGE if quick else LARGE
    for kind, where in (("SQLite", str(folder / "large.db")), ("Postgres", empty_database(postgres, "large"))):
        table.row(f"a campaign of {tasks:,} tasks created, {kind}", Figure(creation(where, tasks), "{:.1f} s"))


def measure_server(table: Table, folder: Path, quick: bool) -> None:
    """Print the memory of a server of a million tasks, and how long it takes to lease a thousand."""
    where, tasks = str(folder / "huge.db"), QUICK_HUGE if quick else HUGE
    seconds = creation(where, tasks)
    with Ledger(where) as ledger:
        token = ledger.campaign("large").new_token(Role.WORKER)
    with served(where, "large") as (process, url):
        server, me = RemoteServer(url, token).campaign(), Identity.fresh()
        server.enrol(me)
        start = time.perf_counter()
        server.lease(me.worker_id, 1000, 60, [])
        claim = time.perf_counter() - start
        server.info()
        memory = process.memory_info().rss / 2**20
    table.row(
        f"server of a campaign of {tasks:,} tasks (created in {seconds:.1f} s)",
        f"{memory:.0f} MiB, 1,000 tasks claimed in {1000 * claim:.0f} ms",
    )
