"""The regularised form of backtracking (Loiseau's thesis, figure 1.4).

The last r colours are assigned without any test; one test at the leaf asks whether the
assignment is valid.  More work, none of it irregular: the reference for the comparison
with ``miller``.
"""

from __future__ import annotations

import numpy as np

from langford.methods.search import SearchMethod, SearchPlan
from langford.problem import Problem

TEST_FREE_COLOURS = 2
"""r: on the CPU each further level costs a factor of about 2n and saves one of about 2."""


class RegularPlan(SearchPlan):
    """One task: all arrangements that extend p placed colours."""

    method = "regular"

    def __init__(self, problem: Problem, depth: int) -> None:
        super().__init__(problem, depth)
        self._test_free = min(TEST_FREE_COLOURS, len(self._left))
        masks = [problem.placements(int(d)) for d in self._left[len(self._left) - self._test_free :]]
        self._masks = np.array([mask for row in masks for mask in row], np.uint64)
        self._offsets = np.cumsum([0, *map(len, masks)])

    def search(self, free: np.uint64) -> tuple[int, int, int]:
        found: tuple[int, int, int] = self._kernel.count_regular(
            free, self._left, self.problem.copies, self._shapes,
            len(self._left) - self._test_free, self._masks, self._offsets,
        )
        return found


class Regular(SearchMethod):
    """Test-free evaluation of the last colours."""

    name = "regular"

    def suggested_depth(self, problem: Problem) -> int:
        return min(problem.n, 2)

    def plan(self, problem: Problem, depth: int) -> RegularPlan:
        return RegularPlan(problem, depth)
