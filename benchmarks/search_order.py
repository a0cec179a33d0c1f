"""Which order prunes best: largest colour first, or first empty place first?

    python benchmarks/search_order.py [N]

``switch`` colours are placed largest first, the others by the lowest free place.  switch 0
is first empty place alone, switch N − 2 is largest first alone (the thesis's order, but for
the last two colours).  Both explore half the tree, by the mirror.
"""

from __future__ import annotations

import sys

from harness import Table, timed

from langford.methods import METHODS
from langford.methods.backtracking.cpu import MillerOnCpu
from langford.methods.backtracking.plan import MillerPlan
from langford.problem import Problem


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    plan = MillerPlan(METHODS["miller"], Problem.langford(n), 1)
    processor = MillerOnCpu(plan)
    table = Table("largest first", "by free place", "nodes", "seconds", "nodes/s")
    for switch in range(n - 2):
        timing = timed(1, lambda switch=switch: processor.search_switching(plan.frees, 1, switch))
        nodes = timing.outcome[2] + len(plan.frees)
        table.row(switch + 1, n - 1 - switch, f"{nodes:,}", f"{timing.median:.3f}", f"{nodes / timing.median:.2g}")


if __name__ == "__main__":
    main()
