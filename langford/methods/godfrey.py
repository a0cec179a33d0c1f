"""Godfrey's algebraic sum, point by point in Gray-code order.

For x ∈ {±1} on the 2n filled places, Σ_x Π x_k Π_d S_d(x) = 2^{2n} N with
S_d = Σ_k x_k x_{k+d} and N the number of arrangements (M. Godfrey, 2002; Loiseau's thesis
§1.3).  Tasks fix the signs of p outer places, taken alternately from both ends.  Negating
all signs, negating those of the odd places (where the count can be non-zero) and the mirror
map prefixes to prefixes: one task stands for each class, weighted with its size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs, widths
from langford.arithmetic.residue import residue
from langford.errors import BadDepth, MethodDoesNotApply
from langford.methods.plan import require_index
from langford.problem import Problem
from langford.result import Expectation, PartialResult

LARGEST_SUM = 63
CACHE_BYTES = 16384
"""Bytes of Gray sequence kept ready: half of a first-level cache."""


class GodfreyPlan:
    """Tasks are prefix classes: outer signs fixed, all others free."""

    method = "godfrey"

    def __init__(self, problem: Problem, depth: int) -> None:
        from langford.kernels.cpu import godfrey as kernel

        self._kernel = kernel
        self.problem, self.depth = problem, depth
        self.multiplier = 2 ** (2 * problem.n)
        places = outside_in(problem)
        self._fixed, inner = places[:depth], places[depth:]
        self._prefixes, self._weights = _prefix_classes(problem, self._fixed)
        self.work = np.full(len(self._prefixes), 2.0 ** len(inner))
        self._reach = max(problem.differences)
        self._links, lanes, self._vanishing = _lanes(problem)
        self._sum_words = lanes // kernel.LANES
        self._sum_bits = widths.sum_bound(problem).bit_length()
        self._product_bound = widths.product_bound(problem)
        self._bound = widths.points(problem) * self._product_bound
        # Block variables sit in the middle, where they have most neighbours in common.
        table_bits = (CACHE_BYTES // (8 * self._sum_words)).bit_length() - 1
        block = inner[::-1][:table_bits]
        self._free = np.array([place - 1 + self._reach for place in inner[: len(inner) - len(block)]], np.int64)
        self._block = np.array([place - 1 + self._reach for place in block], np.int64)
        self._sequence, self._deltas = kernel.block_sequence(
            problem.places, self._links, self._block, self._sum_words
        )

    def expectation(self, index: int) -> Expectation:
        require_index(self, index)
        weight = int(self._weights[index])
        zero_bits = 2 * self.problem.n - self.depth + limbs.trailing_zeros(weight)
        bound = weight * int(self.work[index]) * self._product_bound
        return Expectation(zero_bits, -bound, bound)

    def warm_up(self) -> None:
        self._gray_sum(0, self._free[:0], self._block[:0], limbs.zero(self._bound), limbs.zero(2**190))

    def _gray_sum(
        self,
        index: int,
        free: NDArray[np.int64],
        block: NDArray[np.int64],
        total: limbs.Limbs,
        residues: limbs.Limbs,
    ) -> int:
        """Add the sum over the given places, the task's prefix fixed; returns the survivors."""
        signs = self._start(index)
        words = limbs.word_count(self._product_bound)
        kernel = _compiled(self._sum_words, self._vanishing, self._sum_bits, words)
        return kernel(
            signs,
            self._links,
            free,
            block,
            self._sequence,
            self._deltas,
            self._packed_sums(signs),
            total,
            residues,
        )

    def evaluate(self, index: int) -> PartialResult:
        require_index(self, index)
        total, residues = limbs.zero(self._bound), limbs.zero(2**190)
        survivors = self._gray_sum(index, self._free, self._block, total, residues)
        weight = int(self._weights[index])
        return PartialResult(
            index, weight * limbs.to_int(total), residue(weight * limbs.to_int(residues)), survivors
        )

    def _start(self, index: int) -> NDArray[np.int64]:
        """Signs with the task's prefix and +1 everywhere else, padded by the reach."""
        signs = np.zeros(self.problem.places + 2 * self._reach, np.int64)
        for place in self.problem.filled:
            signs[place - 1 + self._reach] = 1
        for k, place in enumerate(self._fixed):
            if self._prefixes[index] >> k & 1:
                signs[place - 1 + self._reach] = -1
        return signs

    def _packed_sums(self, signs: NDArray[np.int64]) -> NDArray[np.int64]:
        kernel = self._kernel
        lanes = [kernel.BIAS + 1] * (self._sum_words * kernel.LANES)
        for d in self.problem.differences:
            lanes[self._links[d]] = kernel.BIAS + int(signs[:-d] @ signs[d:])
        return np.frombuffer(bytes(lanes), np.int64).copy()


@lru_cache
def _compiled(*shape: int) -> Callable[..., int]:
    from langford.kernels.cpu.godfrey import build_gray_sum

    kernel: Callable[..., int] = build_gray_sum(*shape)
    return kernel


def outside_in(problem: Problem) -> list[int]:
    """Filled places: first, last, second, second to last, …"""
    filled = list(problem.filled)
    return [filled[k // 2] if k % 2 == 0 else filled[-1 - k // 2] for k in range(len(filled))]


def _lanes(problem: Problem) -> tuple[NDArray[np.int64], int, int]:
    """(lane of each difference, lanes in all, words that can vanish)."""
    from langford.kernels.cpu.godfrey import LANES

    terms = problem.terms
    links = np.full(max(problem.differences) + 1, -1, np.int64)
    vanishing = [d for d in problem.differences if terms[d] % 2 == 0]
    steady = [d for d in problem.differences if terms[d] % 2]
    words = -(-len(vanishing) // LANES)
    for lane, d in enumerate(vanishing):
        links[d] = lane
    for lane, d in enumerate(steady):
        links[d] = words * LANES + lane
    return links, (words - (-len(steady) // LANES)) * LANES, words


def _prefix_classes(problem: Problem, fixed: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(smallest prefix, size) of each class; bit k of a prefix is the sign of fixed[k]."""
    prefixes = np.arange(1 << len(fixed), dtype=np.int64)
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
    images = np.sort([mirror ^ negation for mirror in mirrors for negation in negations], axis=0)
    sizes = 1 + np.count_nonzero(np.diff(images, axis=0), axis=0)
    smallest = images[0] == prefixes
    return prefixes[smallest], sizes[smallest]


class Godfrey:
    """The baseline of the polyphase form and its independent check."""

    name = "godfrey"
    unit = "points"

    def refusal(self, problem: Problem) -> str | None:
        if problem.copies != 2:
            return "the algebraic methods count pairs only; use miller for s >= 3"
        if widths.sum_bound(problem) > LARGEST_SUM:
            return f"godfrey packs sums of at most {LARGEST_SUM} terms; the row is too long"
        return None

    def depths(self, problem: Problem) -> range:
        """Even numbers, so that the mirror maps prefixes to prefixes."""
        return range(0, min(2 * problem.n, 24) + 1, 2)

    def suggested_depth(self, problem: Problem) -> int:
        """Deep enough that nearly every prefix has a mirror image other than itself."""
        return min(10 if problem.n < 18 else 16, self.depths(problem)[-1])

    def plan(self, problem: Problem, depth: int) -> GodfreyPlan:
        refusal = self.refusal(problem)
        if refusal:
            raise MethodDoesNotApply(refusal)
        if depth not in self.depths(problem):
            raise BadDepth(
                f"godfrey splits {problem.name} at even depths 0..{self.depths(problem)[-1]}, not {depth}"
            )
        return GodfreyPlan(problem, depth)
