"""The split: a task fixes which of the first p places are in the set."""

from __future__ import annotations

import numpy as np

from langford.arithmetic import widths
from langford.methods.plan import Method, Plan
from langford.problem import Problem
from langford.result import Expectation


class InclusionPlan(Plan):
    """One task: all sets of places that agree on the first p places.

    Attributes:
        free: the places that are in the set or not, as a mask.
    """

    multiplier = 1

    def __init__(self, method: Method, problem: Problem, depth: int) -> None:
        super().__init__(method, problem, depth)
        self._bits = [1 << place - 1 for place in problem.filled[:depth]]
        self.free = problem.free_mask ^ sum(self._bits)
        self.work = np.full(2**depth, 2.0 ** self.free.bit_count())

    def fixed(self, index: int) -> int:
        """The first places that are in the task's sets, as a mask; raises TaskIndexOutOfRange."""
        self.require(index)
        return sum(bit for place, bit in enumerate(self._bits) if index >> place & 1)

    def expectation(self, index: int) -> Expectation:
        self.require(index)
        bound = int(self.work[index]) * widths.product_bound(self.problem)
        return Expectation(0, -bound, bound)
