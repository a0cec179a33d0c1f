"""What it costs to read all of a campaign of 1,000,000 tasks: export, tasks, and the slowest tasks without a limit.

Seconds are those of the whole command and those of a processor, MiB the most memory that it had.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from harness import Figure, Report
from ledger_parts.running_campaign import FULL, QUICK, filled

MAX_MIB, MAX_SECONDS = 150.0, 10.0
"""The memory that each command may take, and the time of the slowest tasks, on two quiet cores."""
COMMANDS = {
    "export": ["export", "bench", "--out", os.devnull],
    "tasks": ["tasks", "bench"],
    "tasks --json": ["tasks", "bench", "--json"],
    "query slowest_tasks": ["query", "slowest_tasks", "--seconds", "600"],
}


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print a row for each command; ends the benchmark where one takes too much."""
    size, ledger = QUICK if quick else FULL, folder / "reading.db"
    if not ledger.exists():
        filled(str(ledger), size, size.tasks, 0, size.gone)
    table = report.table("command", "seconds", "of a processor", "MiB", title="reading")
    too_much = []
    for name, command in COMMANDS.items():
        words = [sys.executable, "-P", "-m", "langford", *command, "--ledger", str(ledger)]
        began = time.perf_counter()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        seconds, mib = time.perf_counter() - began, used.ru_maxrss / 1024
        if status:
            raise SystemExit(f"{name} failed")
        processor = used.ru_utime + used.ru_stime
        table.row(name, Figure(seconds, "{:.1f}"), Figure(processor, "{:.1f}"), Figure(mib, "{:.0f}"))
        if mib > MAX_MIB or (name == "query slowest_tasks" and processor > MAX_SECONDS):
            too_much.append(name)
    if too_much:
        raise SystemExit(f"too much: {', '.join(too_much)} (at most {MAX_MIB:.0f} MiB, {MAX_SECONDS:.0f} s)")
