"""How long a report of 131,328 tasks takes, and how large it is.

    python benchmarks/report.py [FOLDER]

Makes the ledger of :mod:`best_effort` in FOLDER, unless it is there, and lets the program write its report.  Prints
a table: the seconds of the whole command, and its files.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from best_effort import write
from table import Table

MOST_SECONDS = 10.0


def main(folder: Path) -> None:
    ledger = folder / "thesis.db"
    if not ledger.exists():
        write(ledger)
    table = Table("file", "seconds", "kB")
    for name in ("report.html", "report.pdf"):
        file = folder / name
        command = [sys.executable, "-m", "langford", "report", "thesis", "--ledger", str(ledger), "-o", str(file)]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        seconds = time.perf_counter() - start
        table.row(name, f"{seconds:.1f}", f"{file.stat().st_size / 1000:,.0f}")
        assert seconds < MOST_SECONDS, f"{name} took {seconds:.1f} s"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
