"""Speed of the sum over necklaces on one core, beside another program that counts starters.

    python benchmarks/necklace.py                              starters of n = 12 to 16, about a minute
    python benchmarks/necklace.py --beside ./starters          the same beside `./starters N`, in turn
    python benchmarks/necklace.py --quick                      n = 12

The other program prints a line "N COUNT ...".  Seconds are processor time; of this program without the time to
compile and to plan.
"""

from __future__ import annotations

import argparse
import subprocess
from functools import partial
from pathlib import Path

import langford
from benchmarks.harness import Figure, Report, parser_of, require_published, run, timed
from langford.methods import Evaluator, Plan, merge
from langford.problem import Problem
from langford.problem.reference import published

SIZES, QUICK = range(12, 17), range(12, 13)


def other_count(program: Path, n: int) -> int:
    """The count that another program prints."""
    answer = subprocess.run([program.resolve(), str(n)], check=True, capture_output=True, text=True).stdout
    return int(answer.split()[1])


def counted(plan: Plan, evaluator: Evaluator) -> int:
    """All of a plan, in this process."""
    return merge(plan, map(evaluator.evaluate, plan.tasks)).published


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a row for each n."""
    table = report.table("n", "points", "necklace, core s", "points/s", "the other, core s", "ratio")
    for n in QUICK if options.quick else SIZES:
        problem = Problem.named("starter", n)
        plan = langford.plan(problem)
        evaluator = plan.evaluator()
        points = plan.work.sum()
        timing = timed(options.rounds, partial(counted, plan, evaluator))
        require_published(plan.key, timing.outcome, published(problem))
        seconds = timing.median_processor
        beside: Figure | str = ""
        ratio: Figure | str = ""
        if options.beside:
            other = timed(options.rounds, partial(other_count, options.beside, n))
            require_published(plan.key, other.outcome, published(problem))
            beside = Figure(other.median_processor, "{:.3g}")
            ratio = Figure(seconds / other.median_processor, "{:.2f}")
        table.row(
            n,
            Figure(points, "{:.3g}"),
            Figure(seconds, "{:.3g}"),
            Figure(points / seconds, "{:.3g}"),
            beside,
            ratio,
        )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--beside", type=Path, metavar="PROGRAM", help="another program to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="of each count; by default 3")
    run(parser, main)
