"""How long a report of 131,328 tasks takes, and how large it is.

The ledger is that of :mod:`best_effort`.  Seconds are those of the whole command, beside those of a processor,
which others that use the machine do not lengthen.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

from harness import Figure, Report, timed
from ledger_parts.best_effort import KEY, QUICK_KEY, write

MAX_SECONDS = 10.0


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print a row for each kind of file; ends the benchmark where a report takes too long."""
    ledger = folder / ("thesis-quick.db" if quick else "thesis.db")
    if not ledger.exists():
        write(ledger, QUICK_KEY if quick else KEY)
    table = report.table("file", "seconds", "of a processor", "kB", title="report")
    for name in ("report.html", "report.pdf"):
        file = folder / name
        command = [sys.executable, "-m", "langford", "report", "thesis", "--ledger", str(ledger), "-o", str(file)]
        timing = timed(1, partial(subprocess.run, command, check=True, stdout=subprocess.DEVNULL))
        seconds = timing.median_processor
        size = file.stat().st_size / 1000
        table.row(name, Figure(timing.median, "{:.1f}"), Figure(seconds, "{:.1f}"), Figure(size, "{:,.0f}"))
        if seconds > MAX_SECONDS:
            raise SystemExit(f"{name} took {seconds:.1f} s of a processor, more than {MAX_SECONDS:.0f}")
