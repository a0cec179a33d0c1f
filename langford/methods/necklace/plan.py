"""The split of the sum over binary necklaces.

x is a sequence of signs on the circle of m places, D_d(x) the number of places k with x_k ≠ x_(k+d), which is even,
and e_d any integer.  P is the product of all signs, and W their sum, or half of it for even m.  h places are empty,
one of which is given, and N is the number of arrangements:

    Σ_x P(x) W(x)^h Π_d (e_d − D_d(x)/2) = 2 μ N,    μ = 2^(h − 1) (h − 1)! m for odd m, 1 for h = 0,

and otherwise (h − 1)! m where d = m/2 is a difference, and half of that where it is not.  For a factor is
(A_d + c)/4, where A_d = m − 2 D_d is the periodic autocorrelation of x; what a constant c adds to the product has a
degree too low to count.  docs/methods.md has the proof.

The terms do not change when the circle is turned, nor when all signs do.  So they belong to the necklace of the
changes y_k = x_k ⊕ x_(k−1), of which a representative counts as often as it has different rotations: of those that
begin with a 1, the smallest one as a number.  Behind its first 1 it has a longest gap, of zeros.
"""

from __future__ import annotations

from math import factorial, prod
from random import Random

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic.residue import residue
from langford.methods.necklace.limits import MIN_FREE, NONE
from langford.methods.plan import Method, Plan
from langford.problem import Problem
from langford.result import Expectation, PartialResult


class NecklacePlan(Plan):
    """A task is a prefix of words: the signs of the circle as bits, from the top bit on; 1 is a sign of −1.

    Every word begins with 1, zeros (one more than the gap has) and another 1.  Task 0 has the few other words, and
    those in which less than six places follow.

    Attributes:
        gaps: length of the longest gap of each task, int64[tasks].
        prefixes: the words of all tasks with 0 in the free places, ascending, uint64[tasks].
        free: number of free places, the last ones, int64[tasks].
        targets: the e_d, by d up to m/2; NONE for those that are not a difference.
        holes: h.
        term_bound: largest size of what a word adds.
        sum_bound: an upper bound of the size of every sum.
    """

    def __init__(self, method: Method, problem: Problem, depth: int, seed: int = 0) -> None:
        super().__init__(method, problem, depth, seed)
        m = problem.places
        self.holes = len(problem.empty) + problem.loose
        self.multiplier = factorial(self.holes - 1) * m if self.holes else 1
        if m % 2:
            self.multiplier <<= self.holes - 1
        elif problem.differences[-1] < m // 2:
            self.multiplier //= 2
        self.targets = chosen_targets(problem, seed)
        self.gaps, self.prefixes, self.free, self.work = _prefixes(m, depth)
        factors = prod(max(e, m // 2 - e) for e in self.targets if e != NONE)
        self.term_bound = m * self.weight(0) ** self.holes * factors
        self.sum_bound = self.term_bound << m

    def owners(self, other: Plan) -> NDArray[np.int64] | None:
        """See :meth:`Plan.owners`: a task has all words from its prefix up to the next one."""
        if not isinstance(other, NecklacePlan) or other.depth < self.depth:
            return None
        if (other.problem, other.seed) != (self.problem, self.seed):
            return None
        owners: NDArray[np.int64] = np.searchsorted(self.prefixes, other.prefixes, side="right") - 1
        return owners

    def expectation(self, index: int) -> Expectation:
        self.require(index)
        points = int(self.work[index])
        return Expectation(0, -points * self.term_bound, points * self.term_bound, points)

    def terms(self, result: PartialResult) -> int:
        return result.evaluated

    def rest_result(self) -> PartialResult:
        m = self.problem.places
        terms = [rotations(m, word) * self.term(word) for word in _rest(m)]
        residues = sum(residue(term) for term in terms)
        return PartialResult(0, sum(terms), residue(residues), len(terms) - terms.count(0))

    def term(self, word: int) -> int:
        """P W^h Π (e_d − D_d/2) of a word."""
        m, ones = self.problem.places, word.bit_count()
        turned = {d: (word >> d | word << m - d) & (1 << m) - 1 for d in self.problem.differences}
        factors = (self.targets[d] - (word ^ other).bit_count() // 2 for d, other in turned.items())
        weights = prod([self.weight(ones)] * self.holes)
        return (-1 if ones % 2 else 1) * weights * prod(factors)

    def weight(self, ones: int) -> int:
        """W of a word with so many signs of −1."""
        m = self.problem.places
        return m - 2 * ones if m % 2 else m // 2 - ones


def chosen_targets(problem: Problem, seed: int) -> list[int]:
    """The e_d by d, see :class:`NecklacePlan`: those next to m/4, where most sequences have a factor of 0; or near
    them, by the seed."""
    nearest, half = (problem.places + 2) // 4, problem.places // 2
    random = Random(seed)  # of its methods only random() gives the same numbers in every version of Python
    drawn = [nearest - 1 + int(3 * random.random()) if seed else nearest for _ in range(half)]
    return [NONE, *(e if d in problem.differences else NONE for d, e in enumerate(drawn, 1))]


def rotations(places: int, word: int) -> int:
    """How many different rotations the changes of a word have; 0 if it does not represent its necklace."""
    changes = word ^ (word << 1 | word >> places - 1) & (1 << places) - 1
    turned = {(changes << k | changes >> places - k) & (1 << places) - 1 for k in range(places)}
    begun = [other for other in turned if other >> places - 1]
    return len(turned) if changes == min(begun, default=0) else 0


def _rest(places: int) -> set[int]:
    """The words of task 0."""
    words = {0, 1 << places - 1}
    if places % 2 == 0:
        words.add((2 << places) // 3)
    for zeros in range(max(2, places - 1 - MIN_FREE), places - 1):
        free = places - 2 - zeros
        words |= {1 << places - 1 | 1 << free | low for low in range(1 << free)}
    return {word for word in words if rotations(places, word)}


def _prefixes(
    places: int, depth: int
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64], NDArray[np.float64]]:
    """(gaps, prefixes, free, points) of all tasks; for task 0 only the points are not 0."""
    none = np.zeros(1, np.int64)
    gaps, prefixes, free, work = [none], [none.astype(np.uint64)], [none], [none + float(len(_rest(places)))]
    for gap in range(places - 3 - MIN_FREE, 0, -1):
        words, free_places, runs, last = _extended(places, gap, places - depth)
        points = _completions(gap, free_places)[last, runs]
        prefixes.append(words[points > 0])
        work.append(points[points > 0])
        gaps.append(np.full(len(work[-1]), gap))
        free.append(np.full(len(work[-1]), free_places))
    return np.concatenate(gaps), np.concatenate(prefixes), np.concatenate(free), np.concatenate(work)


def _extended(
    places: int, gap: int, least: int
) -> tuple[NDArray[np.uint64], int, NDArray[np.int64], NDArray[np.int64]]:
    """(prefixes with a longest gap, ascending; their free places; the length of the last run of each; its bit)."""
    end = places - 3 - gap
    words, runs, last = (
        np.array([1 << places - 1 | 1 << end], np.uint64),
        np.ones(1, np.int64),
        np.ones(1, np.int64),
    )
    free = min(end, max(least, MIN_FREE))
    for place in range(end - 1, free - 1, -1):
        words = np.stack([words, words | np.uint64(1 << place)], axis=1).reshape(-1)
        runs = np.stack([np.where(last == bit, runs + 1, 1) for bit in (0, 1)], axis=1).reshape(-1)
        last = np.tile([0, 1], len(last))
        short = runs <= gap + 1
        words, runs, last = words[short], runs[short], last[short]
    return words, free, runs, last


def _completions(gap: int, free: int) -> NDArray[np.float64]:
    """How many ways there are to fill the free places without a longer gap, float64[2, gap + 2].

    By the last bit before them and by the length of its run; behind them comes a 1 and then a 0.
    """
    ways = np.ones((2, gap + 2))
    ways[1, -1] = 0
    for _ in range(free):
        longer = np.concatenate([ways[:, 1:], np.zeros((2, 1))], axis=1)
        ways = longer + ways[::-1, 1:2]
    return ways
