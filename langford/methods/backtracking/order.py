"""How backtracking walks a problem: which colours come first, and the rows of places as machine words.

Where the row has a mirror, the first colour is one that has no centred placement and takes only those to
the left of their mirror image: every arrangement that is reached counts for two.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from langford.methods.backtracking.limits import MAX_DIFFERENCE, WORD_PLACES
from langford.problem import Problem


def circle_of(problem: Problem) -> int | None:
    """The number of places of a circle, as the kernels take it; None for a line."""
    return problem.places if problem.circle else None


def folded_of(problem: Problem) -> bool | None:
    """True where several colours have the same difference, as the kernels take it; otherwise None."""
    return True if problem.fold > 1 else None


def colours_in_order(n: int) -> int:
    """How many of n colours backtracking places in order, before it goes by position (Miller)."""
    return n // 2


def colours_at_random(n: int, most_exactly: int) -> int:
    """How many of n colours a random walk places.

    It counts the others, at most ``most_exactly``, as the search does.
    """
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
        weight: arrangements that each one found represents (2 with mirror halving).
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
                    rest = list(largest_first)
                    rest.remove(d)
                    return cls((d, *rest), 2, True)
        return cls(largest_first, 1, False)

    def roots(self, problem: Problem) -> NDArray[np.uint64]:
        """Free masks after the first colour, with each choice of the loose holes (see :func:`rows_of`)."""
        masks = problem.placements(self.differences[0])
        if self.halved:
            masks = [mask for mask in masks if mask < problem.mirror(mask)]
        holes = [sum(1 << place - 1 for place in chosen) for chosen in combinations(problem.filled, problem.loose)]
        frees = [problem.free_mask ^ mask ^ hole for mask in masks for hole in holes if not mask & hole]
        return rows_of(frees, problem)

    def orders(self, in_order: int) -> int:
        """In how many ways the colours of an arrangement can be placed, the first ``in_order`` of them one after
        another and the others without an order."""
        last = Counter(self.differences[in_order:])
        return prod(factorial(number) // factorial(last[d]) for d, number in Counter(self.differences).items())

    def shapes(self, problem: Problem) -> NDArray[np.uint64]:
        """The cubes of a colour with difference d from bit 0, for d below 64; 0 for no colour."""
        shapes = [0] * (MAX_DIFFERENCE + 1)
        for d in problem.differences:
            if d * (problem.copies - 1) < problem.places:
                shapes[d] = problem.shape(d)
        return rows_of(shapes, problem)
