"""The predictions of timed event graphs, compared with measurements: a farm, and the streams of one GPU.

    python benchmarks/event_graphs.py farm
    python benchmarks/event_graphs.py farm --seconds 6 --turns 5
    python benchmarks/event_graphs.py streams
    python benchmarks/event_graphs.py streams --host                 its kernel on this processor: try the program

The docstrings of event_graph_parts describe how each is measured.  --quick is one short turn of each, the
streams on this processor.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.event_graph_parts import farm, streams
from benchmarks.harness import Report, add_choice, parser_of, run

TURNS, SECONDS, QUICK_SECONDS = 3, 3.0, 0.5


def main(options: argparse.Namespace, report: Report) -> None:
    """Print predictions beside measurements."""
    parts = options.part or ["farm", "streams"]
    turns = options.turns or (1 if options.quick else TURNS)
    if "farm" in parts:
        seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
        with tempfile.TemporaryDirectory(prefix="langford-model-") as folder:
            farm.measure(report, Path(folder), turns, seconds)
        print()
    if "streams" in parts:
        streams.measure(report, turns, options.host or options.quick)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    add_choice(parser, "part", ["farm", "streams"])
    parser.add_argument("--turns", type=int, help=f"by default {TURNS}")
    parser.add_argument("--seconds", type=float, help=f"of each measurement of a farm; by default {SECONDS:g}")
    parser.add_argument("--host", action="store_true", help="streams on this processor")
    run(parser, main)
