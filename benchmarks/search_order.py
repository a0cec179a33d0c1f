"""Which order of colours prunes a search best: largest colour first, or first empty place first.

    python benchmarks/search_order.py            L(2,12)
    python benchmarks/search_order.py 14         L(2,14)

``switch`` colours are placed largest first, the others by the lowest free place.  switch 0
is first empty place alone, switch N − 2 is largest first alone (the thesis's order, but for
the last two colours).  Both explore half the tree, by the mirror.
"""

from __future__ import annotations

import argparse
from functools import partial

from benchmarks.harness import Figure, Report, parser_of, run, timed
from langford.methods import METHODS
from langford.methods.backtracking.cpu import MillerOnCpu
from langford.methods.backtracking.plan import MillerPlan
from langford.problem import Problem

N, QUICK_N = 12, 9


def main(options: argparse.Namespace, report: Report) -> None:
    """Print a row for each number of colours that are placed largest first."""
    n = options.n or (QUICK_N if options.quick else N)
    plan = MillerPlan(METHODS["miller"], Problem.langford(n), 1)
    processor = MillerOnCpu(plan)
    table = report.table("largest first", "by free place", "nodes", "seconds", "nodes/s")
    for switch in range(n - 2):
        timing = timed(1, partial(processor.search_switching, plan.frees, 1, switch))
        nodes = timing.outcome[2] + len(plan.frees)
        table.row(
            switch + 1,
            n - 1 - switch,
            Figure(nodes, "{:,}"),
            Figure(timing.median, "{:.3f}"),
            Figure(nodes / timing.median, "{:.2g}"),
        )


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("n", type=int, nargs="?", metavar="N", help=f"of L(2,N); by default {N}")
    run(parser, main)
