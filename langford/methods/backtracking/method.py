"""The common part of the two backtracking methods: where they apply and how they split a problem."""

from __future__ import annotations

from langford.methods.backtracking.order import refusal
from langford.methods.plan import Method
from langford.problem import Problem


class BacktrackingMethod(Method):
    """Tasks are the feasible placements of the first p colours."""

    unit = "nodes"

    def refusal(self, problem: Problem) -> str | None:
        return refusal(problem)

    def depths(self, problem: Problem) -> range:
        """From the first colour placed to all of them."""
        return range(1, problem.n + 1)
