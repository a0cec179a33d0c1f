"""How the sums S_d of a point are packed: a byte each, several to a word, biased by 64."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.problem import Problem


@dataclass(frozen=True)
class Packing:
    """Which byte of the packed words holds which sum.

    Sums of an even number of terms, which alone can vanish, come first, in words of their own.

    Attributes:
        links: int64[largest difference + 1], the byte of the sum of difference d, −1 where d is not asked for.
        words: number of words.
        vanishing: words of sums that can vanish.
    """

    links: NDArray[np.int64]
    words: int
    vanishing: int

    @classmethod
    def of(cls, problem: Problem, word_bytes: int) -> Packing:
        """The packing into words of ``word_bytes`` bytes."""
        even = [d for d in problem.differences if problem.terms[d] % 2 == 0]
        odd = [d for d in problem.differences if problem.terms[d] % 2]
        vanishing, steady = (-(-len(sums) // word_bytes) for sums in (even, odd))
        links = np.full(max(problem.differences) + 1, -1, np.int64)
        links[even] = np.arange(len(even))
        links[odd] = vanishing * word_bytes + np.arange(len(odd))
        return cls(links, vanishing + steady, vanishing)
