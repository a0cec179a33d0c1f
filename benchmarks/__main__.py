"""List the benchmarks, or run some of them.

    python -m benchmarks                         list them
    python -m benchmarks methods farm --quick    run these, at their smallest size
    python -m benchmarks all --json FOLDER       run all, and write FOLDER/NAME.json for each

Each runs in a process of its own, as `python benchmarks/NAME.py` does; that command has further options.  One that
needs a GPU or a package that is not there is skipped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.catalogue import BENCHMARKS, Benchmark
from benchmarks.harness import NEEDS_MORE, Figure, Table


def main() -> None:
    """Run the command; raises SystemExit where a benchmark failed."""
    known = {benchmark.name: benchmark for benchmark in BENCHMARKS}
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a benchmark, or all")
    parser.add_argument("--quick", action="store_true", help="small sizes, seconds each")
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="write the rows of each benchmark there too")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in known and name != "all"]:
        parser.error(f"there is no benchmark {unknown[0]}, only all, {', '.join(known)}")
    if not options.names:
        show_list()
        return
    if options.json:
        options.json.mkdir(parents=True, exist_ok=True)
    chosen = BENCHMARKS if "all" in options.names else [known[name] for name in options.names]
    ended = [(benchmark.name, *run(benchmark, options.quick, options.json)) for benchmark in chosen]
    print()
    table = Table("benchmark", "outcome", "seconds")
    for name, code, seconds in ended:
        outcome = {0: "done", NEEDS_MORE: "skipped"}.get(code, f"failed, exit code {code}")
        table.row(name, outcome, Figure(seconds, "{:.0f}"))
    if any(code not in (0, NEEDS_MORE) for _, code, _ in ended):
        raise SystemExit(1)


def show_list() -> None:
    """Print a line for each benchmark."""
    table = Table("benchmark", "measures", "needs", "takes")
    for benchmark in BENCHMARKS:
        minutes = f"{benchmark.minutes:g} min" if benchmark.minutes else "no time"
        table.row(benchmark.name, benchmark.measures, benchmark.needs, minutes)


def run(benchmark: Benchmark, quick: bool, folder: Path | None) -> tuple[int, float]:
    """Run a benchmark in a process of its own; returns its exit code and its wall seconds."""
    options = [
        *(["--quick"] if quick else []),
        *(["--json", str(folder / f"{benchmark.name}.json")] if folder else []),
    ]
    print(f"\n# {benchmark.name}{' --quick' if quick else ''}: {benchmark.measures}\n", flush=True)
    start = time.perf_counter()
    code = subprocess.run([sys.executable, str(benchmark.script), *options], check=False).returncode
    return code, time.perf_counter() - start


if __name__ == "__main__":
    main()
