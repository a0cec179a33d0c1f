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

WORD_PLACES = 64
LARGEST_TASK_LIST = 2_000_000


def refusal(problem: Problem) -> str | None:
    """Backtracking keeps the row in one machine word."""
    if problem.places > WORD_PLACES:
        return f"backtracking keeps the row in {WORD_PLACES} bits; {problem.places} places do not fit"
    return None


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
        """Free masks after the first colour, uint64[placements]."""
        masks = problem.placements(self.differences[0])
        if self.halved:
            masks = [mask for mask in masks if mask < problem.mirror(mask)]
        return np.array([problem.free_mask ^ mask for mask in masks], np.uint64)

    def shapes(self, problem: Problem) -> NDArray[np.uint64]:
        """uint64[64]: the cubes of a colour with difference d from bit 0; 0 for no colour."""
        shapes = np.zeros(WORD_PLACES, np.uint64)
        for d in problem.differences:
            if d * (problem.copies - 1) < problem.places:
                shapes[d] = sum(1 << (d * copy) for copy in range(problem.copies))
        return shapes


class SearchPlan:
    """Base of the backtracking plans; subclasses evaluate."""

    method: str
    multiplier = 1

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
        for d in self.order.differences[1:depth]:
            self.frees = backtrack.feasible(self.frees, d, problem.copies, self._shapes[d])
            if len(self.frees) > LARGEST_TASK_LIST:
                raise BadDepth(
                    f"depth {depth} gives more than {LARGEST_TASK_LIST:,} tasks; choose a smaller one"
                )
        self._left = np.array(self.order.differences[depth:], np.int64)
        self.work = self._estimate()

    def _estimate(self) -> NDArray[np.float64]:
        """Relative work: the ways in which the next colours fit, one by one."""
        work = np.ones(len(self.frees))
        for d in self._left[:4].tolist():
            fits = self.frees.copy()
            for copy in range(1, self.problem.copies):
                fits &= self.frees >> np.uint64(copy * d)
            work *= np.maximum(np.bitwise_count(fits), 0.5)
        return work

    def search(self, free: np.uint64) -> tuple[int, int, int]:
        """(arrangements, the same mod 2^64 − 1, nodes) below one free mask."""
        raise NotImplementedError

    def warm_up(self) -> None:
        if len(self._left):
            self.search(np.uint64(1))

    def evaluate(self, index: int) -> PartialResult:
        require_index(self, index)
        weight = self.order.weight
        if not len(self._left):
            # Every colour is placed: a feasible task is an arrangement.
            return PartialResult(index, weight, weight, 1)
        found, residue, nodes = self.search(self.frees[index])
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
