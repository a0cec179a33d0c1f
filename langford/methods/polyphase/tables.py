"""What the CPU kernels of the polyphase sum take: how wide its numbers get, and arrays that describe a part of it.

The kernels (``kernels/polyphase.py``) read the fields by name; the GPU's program has most of these numbers compiled
in.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs
from langford.errors import MethodDoesNotApply
from langford.methods.polyphase.components import IMAGES, PolyphaseComponents, components, term_bound
from langford.problem import Problem

TILE_BITS = 16
"""v's in one tile, as a power of two: what the CPU evaluator takes by default."""


@dataclass(frozen=True)
class PolyphaseShape:
    """How wide every intermediate of the CPU kernel is, derived from the largest values.

    Attributes:
        odd: half-lags in the kernel's order: the longer half, their partners, the one without a partner.
        parts: products of 32 bits that make one odd product (1 to 4).
        split_lanes: whether the sum of eight odd products can exceed 64 bits.
        pairs: tables of even sums.
        chains: products of 64 bits that make the even product (1 or 2).
        words: 64-bit words of a tile's sum.
    """

    odd: tuple[int, ...]
    parts: int
    split_lanes: bool
    pairs: int
    chains: int
    words: int

    @classmethod
    def of(cls, problem: Problem, tile_bits: int = TILE_BITS) -> PolyphaseShape:
        """Raises MethodDoesNotApply when a number would not fit the kernel's widest form."""
        split = components(problem)

        def terms(e: int) -> int:
            return max(1, problem.terms[2 * e + 1])

        by_length = sorted(split.odd, key=terms, reverse=True)
        couples = len(by_length) // 2
        longer, shorter = by_length[:couples], by_length[::-1][:couples]
        single = by_length[couples : couples + len(by_length) % 2]
        factors = [terms(a) * terms(b) for a, b in zip(longer, shorter, strict=True)]
        factors += [terms(e) for e in single]
        _require(all(factor < 2**15 for factor in factors), "two odd sums in 16 bits")
        odd_bound = prod(factors)
        for parts in range(1, 5):
            fits = all(prod(factors[part::parts]) < 2**31 for part in range(parts))
            if fits and (parts > 2 or odd_bound < 2**63):
                break
        else:
            _require(False, "four products of odd sums in 32 bits each")
        parts = min(parts, max(1, len(factors)))
        halved = [max(1, problem.terms[2 * e] // 2) for e in split.even]
        chains = 1 if prod(halved) < 2**63 else 2
        couples_of_evens = [prod(halved[i : i + 2]) for i in range(0, len(halved), 2)]
        _require(
            all(prod(couples_of_evens[chain::chains]) < 2**63 for chain in range(chains)),
            "the even product in two 64-bit chains",
        )
        words = limbs.word_count(term_bound(problem) << tile_bits)
        split_lanes = parts <= 2 and IMAGES * odd_bound >= 2**63
        return cls((*longer, *shorter, *single), parts, split_lanes, len(couples_of_evens) or 1, chains, words)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise MethodDoesNotApply(f"polyphase on the CPU needs {what}, which this problem exceeds")


class PolyphaseUBlock(NamedTuple):
    """Representatives u of a range of components.

    Attributes:
        us: int64[·], one component of each class under reversal and negation.
        weights: int64[·], |H u|, the size of its class.
        limits: int64[·], c(u): v's above it belong to another pair, the one equal to it counts once, those
            below twice.
    """

    us: NDArray[np.int64]
    weights: NDArray[np.int64]
    limits: NDArray[np.int64]

    @property
    def highest(self) -> int:
        """The largest limit; −1 for an empty block."""
        return int(self.limits.max(initial=-1))


class PolyphaseTile(NamedTuple):
    """The tables of 2^bits v's that follow each other.

    Attributes:
        first: the first v.
        bits: the tile holds first … first + 2^bits − 1.
        sizes: int64[classes], the orbit sizes |K v| that occur among representatives.
        members: uint64[classes, words], bit x set where v = first + x is a representative of that orbit size.
        rows: uint64[evens, v_length + 1, words], bit x of row (i, y) set where v agrees with itself y times
            at the i-th even lag.
        keys: uint16[2^bits, pairs], the cell of each pair in the even table.
    """

    first: int
    bits: int
    sizes: NDArray[np.int64]
    members: NDArray[np.uint64]
    rows: NDArray[np.uint64]
    keys: NDArray[np.uint16]


class OddLags(NamedTuple):
    """The odd sums as linear forms of v.

    Attributes:
        u_length, v_length: elements of a component.
        offset: element k of v is the right neighbour of element k + offset of u.
        lags: int64[forms], half-lags in the kernel's order.
        alt_sign: sign of the ``alt`` image, multiplied into the first form.
    """

    u_length: int
    v_length: int
    offset: int
    lags: NDArray[np.int64]
    alt_sign: int

    @property
    def padding(self) -> int:
        """How many zeros stand on each side of u's signs, so that no lag leads beyond them."""
        return self.u_length + self.v_length + abs(self.offset) + int(self.lags.max(initial=0))


class EvenTable(NamedTuple):
    """Where the product of two even sums stands in a table of one u.

    Pair i is of the lags 2i and 2i + 1; pair 0 comes twice, the second time negated, for v's with Π v = −1.

    Attributes:
        shifts: int64[evens], the even lags.
        lengths: int64[2 · pairs], terms of v's part of each sum, padded with 0 to whole pairs.
        strides: int64[pairs], cells from one value of the first sum to the next.
        offsets: int64[pairs + 1], the first cell of each pair, and the number of all cells.
    """

    shifts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    strides: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @property
    def pairs(self) -> int:
        """Number of pairs, at least 1."""
        return len(self.strides)

    @classmethod
    def of(cls, split: PolyphaseComponents) -> EvenTable:
        terms = [max(0, split.v_length - lag) for lag in split.even] or [0]
        lengths = np.array(terms + [0] * (len(terms) % 2), np.int64)
        strides = lengths[1::2] + 1
        cells = (lengths[::2] + 1) * strides
        cells[0] *= 2
        return cls(np.array(split.even, np.int64), lengths, strides, np.concatenate([[0], np.cumsum(cells)]))


class Scratch(NamedTuple):
    """Arrays that the kernel writes to and nobody else reads; zeros at first, and one for each thread.

    Python makes them: to compile their making would take a fifth of the kernel's compilation.

    Attributes:
        signs: int16[2, ·], u and its reversal between zeros (OddLags.padding).
        by_bit, steps: int16[v_length or more, width], what each bit of v adds to the odd sums.
        high, low: int16[·], the odd sums of the high and of the low bits of v, row by row.
        lags, ruled_out: int64[evens + 1] and int64[evens], of u.
        table: int32[cells], see EvenTable.
        dead: uint64[words], the v's of a block that have a vanishing even sum with u.
    """

    signs: NDArray[np.int16]
    by_bit: NDArray[np.int16]
    steps: NDArray[np.int16]
    high: NDArray[np.int16]
    low: NDArray[np.int16]
    lags: NDArray[np.int64]
    ruled_out: NDArray[np.int64]
    table: NDArray[np.int32]
    dead: NDArray[np.uint64]
