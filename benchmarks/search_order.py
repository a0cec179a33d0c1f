"""Which order prunes best: largest colour first, or first empty place first?

    python benchmarks/search_order.py [N]

``switch`` colours are placed largest first, the others by the lowest free place.  switch 0
is first empty place alone, switch N − 2 is largest first alone (the thesis's order, but for
the last two colours).  Both explore half the tree, by the mirror.
"""

from __future__ import annotations

import sys
import time

from langford.methods.miller import MillerPlan
from langford.problem import Problem


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    plan = MillerPlan(Problem.langford(n), 1)
    plan.warm_up()
    print("| largest first | by free place | nodes | seconds | nodes/s |")
    print("|---|---|---|---|---|")
    for switch in range(n - 2):
        start = time.perf_counter()
        _, _, below = plan._kernel.count_by_largest(plan.frees, plan.unplaced(1), 2, plan._shapes, switch)
        seconds = time.perf_counter() - start
        nodes = below + len(plan.frees)
        print(f"| {switch + 1} | {n - 1 - switch} | {nodes:,} | {seconds:.3f} | {nodes / seconds:.2g} |")


if __name__ == "__main__":
    main()
