"""How wide the numbers of the CPU kernel of the polyphase sum get."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from langford.arithmetic import limbs
from langford.errors import MethodDoesNotApply
from langford.methods.polyphase.components import IMAGES, components, term_bound
from langford.problem import Problem

TILE_BITS = 16
"""v's in one tile, as a power of two: what the CPU evaluator takes by default."""


@dataclass(frozen=True)
class Shape:
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
    def of(cls, problem: Problem, tile_bits: int) -> Shape:
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
