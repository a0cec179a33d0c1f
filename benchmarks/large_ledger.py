"""What reading a ledger of 1,000,000 tasks costs: status, views, reports.

    python benchmarks/large_ledger.py                     all parts, about twenty minutes
    python benchmarks/large_ledger.py overview            the overview of a campaign and `langford status`
    python benchmarks/large_ledger.py views               the SQL views, on SQLite and on Postgres
    python benchmarks/large_ledger.py reading             export, tasks and the slowest tasks: their memory
    python benchmarks/large_ledger.py campaigns           1,000 campaigns: an idle server, and `langford status`
    python benchmarks/large_ledger.py report              a report of 131,328 tasks

Each part makes its ledgers first.  --folder keeps them and the reports there; a ledger for reports that exists
there is used again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.harness import Report, add_choice, parser_of, run
from benchmarks.ledger_parts import campaigns, overview, reading, report, views

PARTS = {
    "overview": overview.measure,
    "views": views.measure,
    "report": report.measure,
    "reading": reading.measure,
    "campaigns": campaigns.measure,
}


def main(options: argparse.Namespace, report: Report) -> None:
    """Measure the parts one after the other."""
    for part in options.part or PARTS:
        with tempfile.TemporaryDirectory(prefix=f"langford-{part}-") as folder:
            PARTS[part](report, options.folder or Path(folder), options.quick)
        print()


if __name__ == "__main__":
    parser = parser_of(__doc__)
    add_choice(parser, "part", list(PARTS))
    parser.add_argument("--folder", type=Path, help="for the files, which stay there; by default they go")
    run(parser, main)
