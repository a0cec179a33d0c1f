"""How long a report of 131,328 tasks takes, and how large it is.

    python benchmarks/report.py [FOLDER]

Makes the ledger of :mod:`best_effort` in FOLDER, unless it is there, and lets the program write its report.  Prints
a table: the seconds of the whole command, those of a processor too, which others that use the machine do not
lengthen, and the size of its file.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from best_effort import write
from harness import Table

MOST_SECONDS = 10.0


def main(folder: Path) -> None:
    ledger = folder / "thesis.db"
    if not ledger.exists():
        write(ledger)
    table = Table("file", "seconds", "of a processor", "kB")
    for name in ("report.html", "report.pdf"):
        file = folder / name
        command = [sys.executable, "-m", "langford", "report", "thesis", "--ledger", str(ledger), "-o", str(file)]
        start, before = time.perf_counter(), processor_seconds()
        subprocess.run(command, check=True)
        elapsed, seconds = time.perf_counter() - start, processor_seconds() - before
        table.row(name, f"{elapsed:.1f}", f"{seconds:.1f}", f"{file.stat().st_size / 1000:,.0f}")
        assert seconds < MOST_SECONDS, f"{name} took {seconds:.1f} s of a processor"


def processor_seconds() -> float:
    """Processor time of all commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
