"""What it costs to read all of a campaign of 1,000,000 tasks: export, tasks, and the slowest tasks without a limit.

Seconds are those of the whole command and those of a processor, MiB the most memory that it had.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.harness import Figure, Report
from benchmarks.ledger_parts.running_campaign import FULL, QUICK, filled

MAX_MIB, MAX_SECONDS = 150.0, 10.0
"""The memory that each command may take, and the time of the slowest tasks (a median), on two quiet cores."""
TIMED, ROUNDS = "query task_overview", 5
COMMANDS = {
    "export": ["export", "bench", "--out", os.devnull],
    "tasks": ["tasks", "bench"],
    "tasks --json": ["tasks", "bench", "--json"],
    TIMED: ["query", "SELECT * FROM task_overview", "--seconds", "600"],
}


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print a row for each command; ends the benchmark where one takes too much."""
    size, ledger = QUICK if quick else FULL, folder / "reading.db"
    if not ledger.exists():
        filled(str(ledger), size, size.tasks, 0, size.gone)
    table = report.table("command", "seconds", "of a processor", "MiB", title="reading")
    too_much = []
    for name, command in COMMANDS.items():
        words = [*command, "--ledger", str(ledger)]
        costs = [cost(words) for _ in range(ROUNDS if name == TIMED else 1)]
        seconds, processor, mib = map(median, zip(*costs, strict=True))
        table.row(name, Figure(seconds, "{:.1f}"), Figure(processor, "{:.1f}"), Figure(mib, "{:.0f}"))
        if mib > MAX_MIB or (name == TIMED and processor > MAX_SECONDS):
            too_much.append(name)
    if too_much:
        raise SystemExit(f"too much: {', '.join(too_much)} (at most {MAX_MIB:.0f} MiB, {MAX_SECONDS:.0f} s)")


def cost(words: list[str]) -> tuple[float, float, float]:
    """Seconds of a command, of a processor, and MiB."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "langford", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(words)} failed")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
