"""The split of Godfrey's algebraic sum.

For x ∈ {±1} on the 2n filled places, Σ_x Π x_k Π_d S_d(x) = 2^{2n} N with
S_d = Σ_k x_k x_{k+d} and N the number of arrangements (M. Godfrey, 2002; Loiseau's thesis
§1.3).  Where colours have the same difference, the sum is N times the number of their orders.
Tasks fix the signs of p outer places, taken alternately from both ends.  Negating
all signs, negating those of the odd places (where the count can be non-zero) and the mirror
map prefixes to prefixes: one task stands for each class, weighted with its size.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import widths
from langford.arithmetic.residue import trailing_zeros
from langford.methods.plan import Method, Plan
from langford.problem import Problem
from langford.result import Expectation, PartialResult

BLOCK = 1 << 14
"""Prefixes whose images are computed at a time."""


class GodfreyPlan(Plan):
    """Tasks are prefix classes: outer signs fixed, all others free.

    Attributes:
        prefixes: the smallest prefix of each task's class, ascending, int64[tasks]; see _prefix_classes.
        inner_places: places whose signs run freely within a task, the outer ones first.
        product_bound: largest |Π S_d|.
        sum_bound: an upper bound of the size of every sum over points.
    """

    def __init__(self, method: Method, problem: Problem, depth: int) -> None:
        super().__init__(method, problem, depth)
        self.multiplier = problem.orders << 2 * problem.n
        places = outside_in(problem)
        self._fixed_places, self.inner_places = places[:depth], places[depth:]
        self.prefixes, self._weights = _prefix_classes(problem, self._fixed_places)
        self.work = np.full(len(self.prefixes), 2.0 ** len(self.inner_places))
        self.product_bound = widths.product_bound(problem)
        self.sum_bound = widths.points(problem) * self.product_bound

    def owners(self, other: Plan) -> NDArray[np.int64] | None:
        """See :meth:`Plan.owners`: the classes of longer prefixes whose first signs are in a class of this plan."""
        if not isinstance(other, GodfreyPlan) or other.problem != self.problem or other.depth < self.depth:
            return None
        shortened = other.prefixes & ((1 << self.depth) - 1)
        smallest = _images(self.problem, self._fixed_places, shortened).min(axis=0)
        owners: NDArray[np.int64] = np.searchsorted(self.prefixes, smallest)
        return owners

    def weight(self, index: int) -> int:
        """Prefixes that the task stands for; raises TaskIndexOutOfRange."""
        self.require(index)
        return int(self._weights[index])

    def negative_places(self, index: int) -> list[int]:
        """Places whose sign the task fixes to −1; raises TaskIndexOutOfRange."""
        self.require(index)
        prefix = int(self.prefixes[index])
        return [place for k, place in enumerate(self._fixed_places) if prefix >> k & 1]

    def expectation(self, index: int) -> Expectation:
        weight = self.weight(index)
        zero_bits = 2 * self.problem.n - self.depth + trailing_zeros(weight)
        points = int(self.work[index])
        bound = weight * points * self.product_bound
        return Expectation(zero_bits, -bound, bound, points)

    def terms(self, result: PartialResult) -> int:
        return self.weight(result.index) * result.evaluated


def outside_in(problem: Problem) -> list[int]:
    """Filled places: first, last, second, second to last, …"""
    filled = list(problem.filled)
    return [filled[k // 2] if k % 2 == 0 else filled[-1 - k // 2] for k in range(len(filled))]


def _prefix_classes(problem: Problem, fixed: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(smallest prefix, size) of each class; bit k of a prefix is the sign of fixed[k]."""
    classes = [_classes_among(problem, fixed, block) for block in _blocks(1 << len(fixed))]
    prefixes, sizes = zip(*classes, strict=True)
    return np.concatenate(prefixes), np.concatenate(sizes)


def _blocks(prefixes: int) -> Iterator[NDArray[np.int64]]:
    """All numbers below ``prefixes`` in parts that are small enough for the cache."""
    for start in range(0, prefixes, BLOCK):
        yield np.arange(start, min(start + BLOCK, prefixes), dtype=np.int64)


def _classes_among(
    problem: Problem, fixed: list[int], prefixes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Those of some prefixes that are the smallest of their class, and the sizes of the classes."""
    images = _images(problem, fixed, prefixes)
    smallest = (images >= prefixes).all(axis=0)
    # Each member of a class is the image as often as each other one, and as often as the prefix itself.
    fixing = np.count_nonzero(images[:, smallest] == prefixes[smallest], axis=0)
    return prefixes[smallest], len(images) // fixing


def _images(problem: Problem, fixed: list[int], prefixes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The images of prefixes under all symmetries, int64[symmetries, prefixes]."""
    everything = (1 << len(fixed)) - 1
    odd_places = sum(1 << k for k, place in enumerate(fixed) if place % 2)
    odd_filled = sum(place % 2 for place in problem.filled)
    negations = [0, everything]
    if odd_filled % 2 == sum(d % 2 for d in problem.differences) % 2:
        negations += [odd_places, everything ^ odd_places]
    mirrors = [prefixes]
    if problem.mirrored and len(fixed) % 2 == 0:
        even_bits = np.int64(0x5555555555555555)
        mirrors.append((prefixes & even_bits) << 1 | prefixes >> 1 & even_bits)
    return np.array([mirror ^ negation for mirror in mirrors for negation in negations])
