"""The arrays of Godfrey's sum: its sums S_d packed a byte each with a bias of 64, and what the CPU kernel takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

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
    def of(cls, problem: Problem, word_bytes: int, least: int = 0) -> Packing:
        """``least``: words of each kind that there are at least."""
        even = [d for d in problem.different if problem.terms[d] % 2 == 0]
        odd = [d for d in problem.different if problem.terms[d] % 2]
        vanishing, steady = (max(least, -(-len(sums) // word_bytes)) for sums in (even, odd))
        links = np.full(max(problem.differences) + 1, -1, np.int64)
        links[even] = np.arange(len(even))
        links[odd] = vanishing * word_bytes + np.arange(len(odd))
        return cls(links, vanishing + steady, vanishing)


class Point(NamedTuple):
    """A sign vector and its sums.

    Attributes:
        signs: int64[places + 2·reach], ±1, 0 where no cube stands; the row starts at ``reach``.
        links: int64[reach + 1], byte of difference d in the packed words, −1 if d is not asked for.
        sums: int64[words], the packed sums.
    """

    signs: NDArray[np.int64]
    links: NDArray[np.int64]
    sums: NDArray[np.int64]


class GrayBlock(NamedTuple):
    """The places that change most often, and what their Gray sequence changes.

    Attributes:
        places: int64[block], positions in the signs.
        sequence: int64[2^block], row of the contribution table at each Gray step.
        deltas: int64[2^block · words], packed change of the sums by block places alone.
    """

    places: NDArray[np.int64]
    sequence: NDArray[np.int64]
    deltas: NDArray[np.int64]
