"""Strong and weak scaling of breadth-first search over the ranks of mpirun: the table of irregular.md.

    python benchmarks/irregular_ranks.py 26:1 26:2 27:2 28:2 --device cuda
    python benchmarks/irregular_ranks.py --quick                                 10:1 10:2 on cores

SCALE:RANKS is Graph500 at this scale on this number of ranks.  Every search is checked; its time is that of the
slowest rank.  A run includes the start of Python, generation, construction, searches and checks.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import NEEDS_MORE, Figure, Report, parser_of, run, timed

RUNS, QUICK_RUNS = ((20, 1), (20, 2)), ((10, 1), (10, 2))
ROOTS, QUICK_ROOTS = 64, 4


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a row for each run that was asked for."""
    table = report.table(
        "scale", "ranks", "through", "GTEPS, harmonic mean", "to the first", "ms, median", "levels",
        "construction s", "a check, s", "checked", "run s",
    )  # fmt: skip
    roots = options.roots or (QUICK_ROOTS if options.quick else ROOTS)
    first = None
    for scale, ranks in options.runs or (QUICK_RUNS if options.quick else RUNS):
        taken = timed(1, partial(graph500, scale, ranks, options.device, roots))
        found = taken.outcome
        searches = found["searches"]
        first = first or found["gteps"]
        table.row(
            scale, ranks, found.get("exchange", "host memory"), Figure(found["gteps"], "{:.4g}"),
            Figure(found["gteps"] / first, "{:.2f}"),
            Figure(1000 * np.median([search["seconds"] for search in searches]), "{:.3g}"),
            Figure(np.median([len(search["frontiers"]) for search in searches]), "{:.0f}"),
            Figure(found["construction_seconds"], "{:.2f}"),
            Figure(found["checking_seconds"] / len(searches), "{:.3f}"),
            f"{sum(search['valid'] for search in searches)} of {len(searches)}", Figure(taken.median, "{:.0f}"),
        )  # fmt: skip


def run_of(text: str) -> tuple[int, int]:
    """What a word asks for: scale and ranks."""
    scale, ranks = map(int, text.split(":"))
    return scale, ranks


def graph500(scale: int, ranks: int, device: str, roots: int) -> Any:
    """The results of the command under mpirun."""
    beside = Path(sys.executable).with_name("mpirun")
    launcher = str(beside) if beside.exists() else shutil.which("mpirun")
    if launcher is None:
        print("this benchmark needs mpirun: pip install 'langford[mpi]'", file=sys.stderr)
        raise SystemExit(NEEDS_MORE)
    command = [launcher, "-n", str(ranks), sys.executable, "-m", "langford", "irregular", "bfs", "--mpi", "--json"]
    command += ["--scale", str(scale), "--roots", str(roots), "--device", device]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}")
    return json.loads(ended.stdout)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    words = " ".join(f"{scale}:{ranks}" for scale, ranks in RUNS)
    parser.add_argument("runs", nargs="*", type=run_of, metavar="SCALE:RANKS", help=f"by default {words}")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--roots", type=int, help=f"by default {ROOTS}")
    run(parser, main)
