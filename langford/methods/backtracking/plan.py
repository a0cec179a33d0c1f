"""The split of a backtracking search: tasks are the feasible placements of the first p colours, in the order
of a depth-first search."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic.residue import MODULUS
from langford.errors import BadDepth
from langford.kernels.cpu.compiled import compiled_once
from langford.methods.backtracking.kernels.backtrack import count_starts, feasible, random_walks
from langford.methods.backtracking.order import (
    SearchOrder,
    circle_of,
    colours_at_random,
    colours_in_order,
    folded_of,
)
from langford.methods.plan import Method, Plan
from langford.problem import Problem
from langford.result import Expectation, PartialResult

WALKS, MAX_WALKED_EXACTLY = 2000, 10
"""For estimates of the work; colours that are counted exactly at the end of each walk."""
MAX_TASKS = 2_000_000
TEST_FREE = 2
"""Colours of the regularised form without a test: each further one costs a factor of about 2n leaves and
saves one of about 2 nodes."""


class BacktrackingPlan(Plan):
    """One task: all arrangements that extend p placed colours.

    Attributes:
        order: the order of the search.
        shapes: the cubes of a colour with difference d from bit 0 (SearchOrder.shapes).
        circle, folded: order.circle_of and order.folded_of the problem.
        frees: the free places of each task, uint64[tasks] or uint64[tasks, 2] (order.rows_of).
        nodes_per_node: nodes that the method visits for one of plain backtracking.
    """

    nodes_per_node = 1.0

    def __init__(self, method: Method, problem: Problem, depth: int) -> None:
        """Raises BadDepth when there would be too many tasks."""
        super().__init__(method, problem, depth)
        self.order = SearchOrder.of(problem)
        self.shapes = self.order.shapes(problem)
        self.circle, self.folded = circle_of(problem), folded_of(problem)
        self.multiplier = self.order.orders(self.in_order)
        self.frees = self.order.roots(problem)
        with compiled_once("backtracking-plan", self.frees.ndim, self.circle is not None, of=self.method.name):
            for placed in range(1, depth):
                ways = count_starts(self.frees, self.order.differences[placed], problem.copies, self.circle)
                if ways.sum() > MAX_TASKS:
                    raise BadDepth(f"depth {depth} gives more than {MAX_TASKS:,} tasks; choose a smaller one")
                self.frees = self.place(self.frees, placed)
            self.work = self._estimate()

    def _estimate(self) -> NDArray[np.float64]:
        """Nodes of each task: the ways in which its next colours fit, one by one, for its share of a
        random estimate of all nodes (Knuth, as in langford.methods.backtracking.estimation)."""
        shares = np.ones(len(self.frees))
        for d in self.order.differences[self.depth :][:4]:
            shares *= np.maximum(count_starts(self.frees, d, self.problem.copies, self.circle), 0.5)
        _, nodes = self._walks(self.problem.n, colours_at_random(self.problem.n, MAX_WALKED_EXACTLY))
        in_all = max(nodes * self.nodes_per_node, len(shares))
        work: NDArray[np.float64] = shares * (in_all / max(float(shares.sum()), 1.0))
        return work

    def rows(self, depth: int) -> float:
        """An estimate of the number of free masks with ``depth`` colours placed."""
        return self._walks(depth, depth)[0]

    def _walks(self, colours: int, at_random: int) -> tuple[float, float]:
        """Estimates of the ways to place the first ``colours``, and of the nodes below the first ``at_random``."""
        ways, nodes = random_walks(
            self.order.roots(self.problem), self.unplaced(1)[: colours - 1], self.problem.copies, self.shapes,
            at_random - 1, WALKS, np.uint64(1), self.circle, self.folded,
        )  # fmt: skip
        return float(ways.mean()), float(nodes.mean())

    def owners(self, other: Plan) -> NDArray[np.int64] | None:
        """See :meth:`Plan.owners`: the tasks of every search in the same order, as deep as this one or deeper, are
        comparable, whatever the method does below them."""
        if not isinstance(other, BacktrackingPlan) or other.problem != self.problem or other.depth < self.depth:
            return None
        owners, frees = np.arange(len(self.frees)), self.frees
        with compiled_once("backtracking-plan", self.frees.ndim, self.circle is not None, of=self.method.name):
            for placed in range(self.depth, other.depth):
                owners = np.repeat(
                    owners, count_starts(frees, self.order.differences[placed], self.problem.copies, self.circle)
                )
                frees = self.place(frees, placed)
        return owners

    @abstractmethod
    def levels(self, depth: int) -> int:
        """How many colours below ``depth`` are placed in order, before the method places the rest its own way."""

    @property
    def in_order(self) -> int:
        """How many colours are placed one after another, so that those with one difference are told apart."""
        return self.depth + self.levels(self.depth)

    def place(self, frees: NDArray[np.uint64], depth: int) -> NDArray[np.uint64]:
        """The free masks after one more colour, where ``depth`` are placed; uint64[·] or uint64[·, 2]."""
        difference = self.order.differences[depth]
        below: NDArray[np.uint64] = feasible(frees, difference, self.problem.copies, self.shapes, self.circle)
        return below

    def unplaced(self, depth: int) -> NDArray[np.int64]:
        """Differences of the colours after the first ``depth``, in order, int64[·]."""
        return np.array(self.order.differences[depth:], np.int64)

    def partial_result(self, index: int, arrangements: int, residue: int, nodes: int) -> PartialResult:
        """The result of a task, each arrangement with its weight."""
        weight = self.order.weight
        return PartialResult(index, weight * int(arrangements), weight * int(residue) % MODULUS, int(nodes))

    def expectation(self, index: int) -> Expectation:
        self.require(index)
        # 2^62 is out of reach of any search: visiting as many nodes takes centuries.
        return Expectation(self.order.weight // 2, 0, 2**62)


class MillerPlan(BacktrackingPlan):
    """The split of Miller's search: half of the colours in order, the rest by position."""

    def levels(self, depth: int) -> int:
        return max(0, colours_in_order(self.problem.n) - depth)


class RegularPlan(BacktrackingPlan):
    """The split of the regularised search.

    Attributes:
        test_free: r, colours without a test in between.
    """

    nodes_per_node = 20.0

    def __init__(self, method: Method, problem: Problem, depth: int, test_free: int = TEST_FREE) -> None:
        self.test_free = min(test_free, problem.n - depth)
        super().__init__(method, problem, depth)

    def levels(self, depth: int) -> int:
        """All but the test-free colours."""
        return self.problem.n - self.test_free - depth

    @property
    def in_order(self) -> int:
        return self.problem.n

    def assigned(self) -> list[list[int]]:
        """Placements on the empty row of each test-free colour but the last, as masks."""
        chosen = self.order.differences[self.problem.n - self.test_free : -1]
        return [self.problem.placements(difference) for difference in chosen]
