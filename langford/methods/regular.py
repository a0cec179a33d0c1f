"""The regularised form of backtracking (Loiseau's thesis, figure 1.4).

The last r colours are assigned without any test in between: all but one are formed in every
way, and one test at the leaf asks whether the last is what they leave.  More work, none of it
irregular: the reference for the comparison with ``miller``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from langford.methods.search import SearchMethod, SearchPlan, rows_of
from langford.problem import Problem

TEST_FREE = 2
"""r: each further level costs a factor of about 2n leaves and saves one of about 2 nodes."""


class RegularPlan(SearchPlan):
    """One task: all arrangements that extend p placed colours."""

    method = "regular"
    nodes_per_node = 20.0

    def __init__(self, problem: Problem, depth: int, test_free: int = TEST_FREE) -> None:
        super().__init__(problem, depth)
        self.test_free = min(test_free, problem.n - depth)

    def levels(self, depth: int) -> int:
        """All but the test-free colours."""
        return self.problem.n - self.test_free - depth

    def assigned(self) -> list[list[int]]:
        """Placements on the empty row of each test-free colour but the last, as masks."""
        chosen = self.order.differences[self.problem.n - self.test_free : -1]
        return [self.problem.placements(difference) for difference in chosen]

    @cached_property
    def _assigned_rows(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The placements of :meth:`assigned` one after another, and where each colour's begin and end."""
        masks = self.assigned()
        return rows_of([mask for row in masks for mask in row], self.problem), np.cumsum([0, *map(len, masks)])

    def search(self, frees: NDArray[np.uint64], depth: int) -> tuple[int, int, int]:
        found: tuple[int, int, int] = self._kernel.count_regular(
            frees,
            self.unplaced(depth),
            self.problem.copies,
            self._shapes,
            self.levels(depth),
            *self._assigned_rows,
        )
        return found


class Regular(SearchMethod):
    """Test-free evaluation of the last colours."""

    name = "regular"

    def suggested_depth(self, problem: Problem) -> int:
        return min(problem.n, 2)

    def plan(self, problem: Problem, depth: int) -> RegularPlan:
        return RegularPlan(problem, depth)
