"""What the overview of a campaign costs, and the command that shows it.

The campaign is that of :mod:`running_campaign`: with 2,000 workers that are gone or with one, in its middle or at
its end.  Seconds are the medians of five calls after a first one, in brackets those of the processors, Postgres's
among them; of the command they are those of the whole process.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from benchmarks.harness import Report, processor_seconds, timed
from benchmarks.ledger_parts.running_campaign import FULL, QUICK, filled
from benchmarks.serving import empty_database, postgres_server
from db import Ledger
from db.messages import document

CALLS, QUICK_CALLS = 5, 1


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print a row for each campaign on SQLite and on Postgres."""
    size, calls = (QUICK, QUICK_CALLS) if quick else (FULL, CALLS)
    table = report.table("database", "campaign", "workers", "overview", "langford status", title="overview")
    with postgres_server() as server:
        for stage, done, leases, gone in (
            ("half", size.tasks // 2, size.leases, size.gone),
            ("half", size.tasks // 2, size.leases, 1),
            ("done", size.tasks, 0, size.gone),
        ):
            row, file = (stage, f"{size.present + gone:,}"), folder / f"{stage}.db"
            where = filled(str(file), size, done, leases, gone)
            table.row("SQLite", *row, *measured(where, calls, processor_seconds))
            file.unlink()
            where = filled(empty_database(server, stage), size, done, leases, gone)
            table.row("Postgres", *row, *measured(where, calls, partial(seconds_with, Path(server.pgdata))))
            server.psql(f"DROP DATABASE {stage} WITH (FORCE);")


def seconds_with(server: Path) -> float:
    """Processor time of this process, of its children that have ended, and of a Postgres server's processes."""
    seconds = processor_seconds()
    postmaster = psutil.Process(int((server / "postmaster.pid").read_text().split()[0]))
    for process in (postmaster, *postmaster.children()):
        with suppress(psutil.NoSuchProcess):
            # The postmaster's own sums have those of its children that have ended.
            times = process.cpu_times()
            seconds += times.user + times.system
            seconds += (process == postmaster) * (times.children_user + times.children_system)
    return seconds


def measured(where: str, calls: int, processor: Callable[[], float]) -> list[str]:
    """Seconds, and processor seconds in brackets, of an overview and of the command."""

    def medians(action: Callable[[], object]) -> str:
        timing = timed(calls, action, processor=processor, warm_up=calls > 1)
        return f"{timing.median:.2f} ({timing.median_processor:.2f})"

    arguments = [sys.executable, "-P", "-m", "langford", "status", "bench", "--ledger", where]
    with Ledger(where) as ledger:
        campaign = ledger.campaign("bench")
        return [
            medians(lambda: document(campaign.reader.overview())),
            medians(lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)),
        ]
