"""What the backtracking methods share: colour order, mirror halving, tasks.

Tasks are the feasible placements of the first p colours, in the order of a depth-first
search.  Where the row has a mirror, the first colour is one that has no centred placement
and takes only those to the left of their mirror image: every arrangement found counts for
two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic.residue import MODULUS
from langford.errors import BadDepth, MethodDoesNotApply
from langford.methods.plan import require_index
from langford.problem import Problem
from langford.result import Expectation, PartialResult

WORD_PLACES, MOST_PLACES, MOST_DIFFERENCE = 64, 128, 63
WALKS, MOST_WALKED_EXACTLY = 2000, 10
"""For estimates of the work; colours that are counted out at the end of each walk."""
LARGEST_TASK_LIST = 2_000_000


def refusal(problem: Problem) -> str | None:
    """Backtracking keeps the row in one machine word or two, and the colours in one."""
    if problem.places > MOST_PLACES:
        return f"backtracking keeps the row in {MOST_PLACES} bits; {problem.places} places do not fit"
    if problem.differences[-1] > MOST_DIFFERENCE:
        return f"backtracking takes differences up to {MOST_DIFFERENCE}, not {problem.differences[-1]}"
    return None


def colours_in_order(n: int) -> int:
    """How many of n colours backtracking places in order, before it goes by position (miller.py)."""
    return n // 2


def colours_at_random(n: int, most_exactly: int) -> int:
    """How many of n colours a random walk places; the rest, so many at most, are counted as the search does."""
    return max(1, colours_in_order(n), n - most_exactly)


def rows_of(masks: list[int], problem: Problem) -> NDArray[np.uint64]:
    """Masks of places as the kernels take them: uint64[·], or uint64[·, 2], low words first."""
    if problem.places <= WORD_PLACES:
        return np.array(masks, np.uint64)
    return np.array([(mask % 2**64, mask >> 64) for mask in masks], np.uint64).reshape(-1, 2)


@dataclass(frozen=True)
class SearchOrder:
    """How the search walks a problem.

    Attributes:
        differences: colours in the order of placement.
        weight: arrangements that each one found stands for (2 with mirror halving).
        halved: whether the first colour takes only its left placements.
    """

    differences: tuple[int, ...]
    weight: int
    halved: bool

    @classmethod
    def of(cls, problem: Problem) -> SearchOrder:
        largest_first = problem.differences[::-1]
        if problem.mirrored:
            for d in largest_first:
                if all(mask != problem.mirror(mask) for mask in problem.placements(d)):
                    return cls((d, *(other for other in largest_first if other != d)), 2, True)
        return cls(largest_first, 1, False)

    def roots(self, problem: Problem) -> NDArray[np.uint64]:
        """Free masks after the first colour (see :func:`rows_of`)."""
        masks = problem.placements(self.differences[0])
        if self.halved:
            masks = [mask for mask in masks if mask < problem.mirror(mask)]
        return rows_of([problem.free_mask ^ mask for mask in masks], problem)

    def shapes(self, problem: Problem) -> NDArray[np.uint64]:
        """The cubes of a colour with difference d from bit 0, for d below 64; 0 for no colour."""
        shapes = [0] * (MOST_DIFFERENCE + 1)
        for d in problem.differences:
            if d * (problem.copies - 1) < problem.places:
                shapes[d] = sum(1 << (d * copy) for copy in range(problem.copies))
        return rows_of(shapes, problem)


class SearchPlan:
    """Base of the backtracking plans; subclasses evaluate."""

    method: str
    multiplier = 1
    nodes_per_node = 1.0
    """Nodes that the method visits for one of plain backtracking."""

    def __init__(self, problem: Problem, depth: int) -> None:
        from langford.kernels.cpu import backtrack

        reason = refusal(problem)
        if reason:
            raise MethodDoesNotApply(reason)
        if not 1 <= depth <= problem.n:
            raise BadDepth(f"{problem.name} has {problem.n} colours: depth 1..{problem.n}, not {depth}")
        self.problem, self.depth = problem, depth
        self._kernel = backtrack
        self.order = SearchOrder.of(problem)
        self._shapes = self.order.shapes(problem)
        self.frees = self.order.roots(problem)
        for placed in range(1, depth):
            self.frees = self.place(self.frees, placed)
            if len(self.frees) > LARGEST_TASK_LIST:
                raise BadDepth(f"depth {depth} gives more than {LARGEST_TASK_LIST:,} tasks; choose a smaller one")
        self.work = self._estimate()

    def _estimate(self) -> NDArray[np.float64]:
        """Nodes of each task: the ways in which its next colours fit, one by one, for its share of a
        random estimate of all nodes (Knuth, as in estimate.py)."""
        shares = np.ones(len(self.frees))
        for d in self.order.differences[self.depth :][:4]:
            shares *= np.maximum(self._kernel.count_starts(self.frees, d, self.problem.copies), 0.5)
        _, nodes = self._walks(self.problem.n, colours_at_random(self.problem.n, MOST_WALKED_EXACTLY))
        in_all = max(nodes * self.nodes_per_node, len(shares))
        work: NDArray[np.float64] = shares * (in_all / max(float(shares.sum()), 1.0))
        return work

    def rows(self, depth: int) -> float:
        """An estimate of how many free masks there are with ``depth`` colours placed."""
        return self._walks(depth, depth)[0]

    def _walks(self, colours: int, at_random: int) -> tuple[float, float]:
        """Estimates of the ways to place the first ``colours``, and of the nodes below the first ``at_random``."""
        from langford.kernels.cpu.walk import random_walks

        ways, nodes = random_walks(
            self.order.roots(self.problem),
            self.unplaced(1)[: colours - 1],
            self.problem.copies,
            self._shapes,
            at_random - 1,
            WALKS,
            np.uint64(1),
        )
        return float(ways.mean()), float(nodes.mean())

    def levels(self, depth: int) -> int:
        """How many colours below ``depth`` are placed in order, before the rest another way."""
        raise NotImplementedError

    def search(self, frees: NDArray[np.uint64], depth: int) -> tuple[int, int, int]:
        """(arrangements, the same mod 2^64 − 1, nodes) below free masks with ``depth`` colours placed."""
        raise NotImplementedError

    def place(self, frees: NDArray[np.uint64], depth: int) -> NDArray[np.uint64]:
        """The free masks after one more colour, where ``depth`` are placed."""
        difference = self.order.differences[depth]
        below: NDArray[np.uint64] = self._kernel.feasible(frees, difference, self.problem.copies, self._shapes)
        return below

    def unplaced(self, depth: int) -> NDArray[np.int64]:
        """Differences of the colours after the first ``depth``, in order."""
        return np.array(self.order.differences[depth:], np.int64)

    def warm_up(self) -> None:
        if self.depth < self.problem.n:
            self.search(self.frees[:0], self.depth)

    def evaluate(self, index: int) -> PartialResult:
        require_index(self, index)
        if self.depth == self.problem.n:
            # Every colour is placed: a feasible task is an arrangement.
            return self.partial_result(index, 1, 1, 1)
        return self.partial_result(index, *self.search(self.frees[index : index + 1], self.depth))

    def partial_result(self, index: int, found: int, residue: int, nodes: int) -> PartialResult:
        """The result of a task, with the weight of what was found."""
        weight = self.order.weight
        return PartialResult(index, weight * int(found), weight * int(residue) % MODULUS, int(nodes))

    def expectation(self, index: int) -> Expectation:
        require_index(self, index)
        # 2^62 is out of reach of any search: visiting that many nodes takes centuries.
        return Expectation(self.order.weight // 2, 0, 2**62)


class SearchMethod:
    """Base of the backtracking methods: where they apply and how they split."""

    unit = "nodes"

    def refusal(self, problem: Problem) -> str | None:
        """See :func:`refusal`."""
        return refusal(problem)

    def depths(self, problem: Problem) -> range:
        """From the first colour placed to all of them."""
        return range(1, problem.n + 1)
