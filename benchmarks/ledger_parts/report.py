"""How long a report of 131,328 tasks takes, how much memory, and how large it is.

The ledger is that of :mod:`best_effort`.  Seconds are those of the whole command, beside those of a processor,
which others that use the machine do not lengthen.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness import Figure, Report
from benchmarks.ledger_parts.best_effort import KEY, QUICK_KEY, write
from benchmarks.ledger_parts.reading import cost

MAX_SECONDS = 10.0
MAX_MIB = 150.0


def measure(report: Report, folder: Path, quick: bool) -> None:
    """Print a row; ends the benchmark where the report takes too long."""
    ledger = folder / ("thesis-quick.db" if quick else "thesis.db")
    if not ledger.exists():
        write(ledger, QUICK_KEY if quick else KEY)
    table = report.table("file", "seconds", "of a processor", "MiB", "kB", title="report")
    file = folder / "report.html"
    whole, seconds, mib = cost(["report", "thesis", "--ledger", str(ledger), "-o", str(file)])
    size = file.stat().st_size / 1000
    figures = zip((whole, seconds, mib, size), ("{:.1f}", "{:.1f}", "{:.0f}", "{:,.0f}"), strict=True)
    table.row(file.name, *(Figure(*figure) for figure in figures))
    if seconds > MAX_SECONDS or mib > MAX_MIB:
        most = f"{MAX_SECONDS:.0f} s and {MAX_MIB:.0f} MiB"
        raise SystemExit(f"the report took {seconds:.1f} s of a processor and {mib:.0f} MiB, more than {most}")
