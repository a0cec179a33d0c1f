"""Strong and weak scaling of breadth-first search over the ranks of mpirun: the table of irregular.md.

    python benchmarks/irregular_ranks.py 26:1 26:2 27:2 28:2 --device cuda

SCALE:RANKS is Graph500 at this scale on so many ranks, SCALE:RANKS:ROWS with at most ROWS rows of blocks.  Every
search is checked, and the clock of a search is that of the slowest rank.  A run has all in it: the start of Python,
generation, construction, searches and checks.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from harness import Table


def main() -> None:
    """Print a row for each run that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=run_of, metavar="SCALE:RANKS[:ROWS]")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--roots", type=int, default=64)
    arguments = parser.parse_args()
    table = Table(
        "scale", "ranks", "rows", "through", "GTEPS, harmonic mean", "to the first", "ms, median", "levels",
        "construction s", "a check, s", "checked", "run s",
    )  # fmt: skip
    first = None
    for scale, ranks, rows in arguments.runs:
        started = time.perf_counter()
        told = graph500(scale, ranks, rows, arguments.device, arguments.roots)
        taken = time.perf_counter() - started
        searches = told["searches"]
        first = first or told["gteps"]
        table.row(
            scale, ranks, rows or "", told.get("exchange", "host memory"), f"{told['gteps']:.4g}",
            f"{told['gteps'] / first:.2f}", f"{1000 * np.median([search['seconds'] for search in searches]):.3g}",
            f"{np.median([len(search['frontiers']) for search in searches]):.0f}",
            f"{told['construction_seconds']:.2f}", f"{told['checking_seconds'] / len(searches):.3f}",
            f"{sum(search['valid'] for search in searches)} of {len(searches)}", f"{taken:.0f}",
        )  # fmt: skip


def run_of(text: str) -> tuple[int, int, int | None]:
    """What a word asks for: scale, ranks and rows."""
    scale, ranks, *rows = map(int, text.split(":"))
    return scale, ranks, rows[0] if rows else None


def graph500(scale: int, ranks: int, rows: int | None, device: str, roots: int) -> Any:
    """The results of the command under mpirun."""
    beside = Path(sys.executable).with_name("mpirun")
    launcher = str(beside) if beside.exists() else shutil.which("mpirun")
    if launcher is None:
        raise SystemExit("there is no mpirun: pip install 'langford[mpi]'")
    command = [launcher, "-n", str(ranks), sys.executable, "-m", "langford", "irregular", "bfs", "--mpi", "--json"]
    command += ["--scale", str(scale), "--roots", str(roots), "--device", device]
    command += ["--rows", str(rows)] if rows else []
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}")
    return json.loads(ended.stdout)


if __name__ == "__main__":
    main()
