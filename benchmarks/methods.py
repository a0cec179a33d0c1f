"""Speed of the CPU methods on this machine, beside the strongest public programs.

    python benchmarks/methods.py             the table of docs/measured.md, about 5 minutes
    python benchmarks/methods.py --quick     the short rows only, half a minute

Kernels are compiled before they are timed.  A row is the median of its runs.  The bars are times of the public
programs on the same kind of machine (one core of a Zen 3 EPYC).
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import langford
from benchmarks.energy import Meter, of_processor
from benchmarks.harness import Figure, Report, Timing, parser_of, require_published, run, timed
from langford.counting import count_tasks
from langford.devices import CPU
from langford.methods import METHODS, Count
from langford.problem import Problem
from langford.problem.reference import published


@dataclass(frozen=True)
class Row:
    """One line of the table; ``bar`` is seconds, ``peer`` who set it."""

    method: str
    problem: Problem
    threads: int
    runs: int
    bar: float | None
    peer: str


ROWS = [
    Row("polyphase", Problem.langford(15), 1, 9, 6.6, "oe_ref2.c, 1 core"),
    Row("polyphase", Problem.langford(16), 1, 9, 15.8, "oe_ref2.c, 1 core"),
    Row("godfrey", Problem.langford(15), 1, 5, 6.6, "oe_ref2.c, 1 core"),
    Row("godfrey", Problem.langford(16), 1, 5, 15.8, "oe_ref2.c, 1 core"),
    Row("miller", Problem.langford(12), 1, 9, 0.25, "LangfordSolver, 1 core"),
    Row("miller", Problem.langford(15), 1, 3, 73.5, "LangfordSolver, 1 core"),
    Row("regular", Problem.langford(11), 1, 5, None, ""),
    Row("miller", Problem.langford(17, 3), 2, 1, None, ""),
    Row("polyphase", Problem.langford(19), 2, 3, None, ""),
    Row("polyphase", Problem.langford(20), 2, 1, None, ""),
    Row("polyphase", Problem.skolem(20), 2, 1, None, ""),
]
SHORT, QUICK_RUNS = 5, 3
"""Runs that a short row has at least, and those of a quick one."""


def time_row(row: Row, runs: int) -> Timing[Count]:
    """The times of a row, its kernels compiled before."""
    plan = langford.plan(row.problem, row.method)
    plan.evaluator()
    timing = timed(runs, lambda: count_tasks(plan, [CPU] * row.threads)[0])
    require_published(f"{row.problem} by {row.method}", timing.outcome.published, published(row.problem))
    return timing


def time_command(arguments: list[str], runs: int, cold: bool) -> float:
    """Median wall seconds of the whole command, with an empty or a warm kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        caches = (f"{folder}/{run if cold else 'warm'}" for run in itertools.count())

        def command() -> None:
            subprocess.run(
                [sys.executable, "-m", "langford", *arguments],
                check=True,
                capture_output=True,
                env={**os.environ, "XDG_CACHE_HOME": next(caches)},
            )

        return timed(runs, command, warm_up=not cold).median


def main(options: argparse.Namespace, report: Report) -> None:
    """Print the table, the times of the command and the peak of memory."""
    report.note(f"{CPU.model}, Python {platform.python_version()}")
    energy = Meter(of_processor())
    table = report.table(
        "method",
        "problem",
        "cores",
        "median s",
        "min–max",
        "per second",
        "bar",
        "ratio",
        f"{energy.heading}, all runs",
    )
    for row in ROWS:
        if options.quick and row.runs < SHORT:
            continue
        with energy:
            timing = time_row(row, min(row.runs, QUICK_RUNS) if options.quick else row.runs)
        table.row(
            row.method,
            row.problem,
            row.threads,
            Figure(timing.median, "{:.3g}"),
            timing.spread,
            Figure(timing.outcome.evaluated / timing.median, f"{{:.2g}} {METHODS[row.method].unit}"),
            f"{row.bar} s ({row.peer})" if row.bar else "–",
            Figure(row.bar / timing.median, "{:.1f}") if row.bar else "–",
            energy.figure,
        )
    cold, warm = (1, 1) if options.quick else (3, 5)
    report.note(f"`langford count 12`, empty cache: {time_command(['count', '12'], cold, cold=True):.1f} s")
    report.note(f"`langford count 12`, warm cache: {time_command(['count', '12'], warm, cold=False):.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report.note(f"peak memory of all of the above: {peak:.0f} MiB")


if __name__ == "__main__":
    run(parser_of(__doc__), main)
