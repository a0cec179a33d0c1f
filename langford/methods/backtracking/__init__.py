"""Backtracking on bit masks: Miller's algorithm and its regularised form.

Miller places the largest colours first, in every way that fits: they have the fewest placements.  The remaining
ones are placed by position: the lowest free place must be covered by one of the unused colours.  At n = 12 largest
first alone visits 1.9 times as many nodes as switching in the middle, position first alone 2.3 times as many
(``benchmarks/search_order.py``).

The regularised form (Loiseau's thesis, figure 1.4) assigns the last r colours without any test in between: all but
one are formed in every way, and one test at the leaf asks whether the last is what they leave.  More work, none of
it irregular: the reference for the comparison with ``miller``.
"""

from __future__ import annotations

from typing import ClassVar

from langford.devices import Cpu, Cuda
from langford.methods.backtracking.limits import MAX_DIFFERENCE, MAX_PLACES, WORD_PLACES
from langford.methods.plan import Method, Plan
from langford.problem import Problem


class BacktrackingMethod(Method):
    """Tasks are the feasible placements of the first p colours."""

    unit = "nodes"

    def limit(self, problem: Problem) -> str | None:
        """A search keeps the row in one machine word or two, and the colours in one."""
        if problem.circle and problem.places > WORD_PLACES:
            return f"backtracking keeps a circle in {WORD_PLACES} bits; {problem.places} places do not fit"
        if problem.places > MAX_PLACES:
            return f"backtracking keeps the row in {MAX_PLACES} bits; {problem.places} places do not fit"
        if problem.differences[-1] > MAX_DIFFERENCE:
            return f"backtracking takes differences up to {MAX_DIFFERENCE}, not {problem.differences[-1]}"
        return None

    def depths(self, problem: Problem) -> range:
        """From the first colour placed to all of them."""
        return range(1, problem.n + 1)


class Miller(BacktrackingMethod):
    """Backtracking: every variant, any number of copies."""

    name = "miller"
    evaluators: ClassVar = {
        Cpu.kind: "langford.methods.backtracking.cpu:MillerOnCpu",
        Cuda.kind: "langford.methods.backtracking.cuda:MillerOnGpu",
    }

    def suggested_depth(self, problem: Problem) -> int:
        return min(problem.n, 1 if problem.n < 9 else 2 if problem.n < 14 else 3 if problem.n < 17 else 4)

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        from langford.methods.backtracking.plan import MillerPlan

        return MillerPlan(self, problem, depth)


class Regular(BacktrackingMethod):
    """Test-free evaluation of the last colours."""

    name = "regular"
    evaluators: ClassVar = {
        Cpu.kind: "langford.methods.backtracking.cpu:RegularOnCpu",
        Cuda.kind: "langford.methods.backtracking.cuda:RegularOnGpu",
    }

    def suggested_depth(self, problem: Problem) -> int:
        return min(problem.n, 2)

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        from langford.methods.backtracking.plan import RegularPlan

        return RegularPlan(self, problem, depth)
