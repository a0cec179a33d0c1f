"""The two polyphase components of a problem, and how wide their numbers get."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from langford.arithmetic import limbs, widths
from langford.errors import MethodDoesNotApply
from langford.problem import Problem

IMAGES = 8
"""Images of a pair under reversal of u, of v and under ``alt``: they share |E|."""


@dataclass(frozen=True)
class Components:
    """The geometry of the two polyphase components of a problem."""

    u_length: int
    v_length: int
    offset: int
    """Element k of v is the right neighbour of element k + offset of u."""
    even: tuple[int, ...]
    """Lags e of the even differences 2e."""
    odd: tuple[int, ...]
    """Half-lags e of the odd differences 2e+1, longest sums first."""
    negation: bool
    """Whether negating u alone, or v alone, leaves the summand unchanged (else it flips it
    for u, for v or for both: the count is 0)."""
    mirrored: bool

    @property
    def alt_sign(self) -> int:
        """Sign of the summand's ``alt`` image relative to its differences A − B."""
        flips = self.u_length // 2 + self.v_length // 2 + sum(self.even)
        flips += sum(e + self.offset for e in self.odd)
        return -1 if flips % 2 else 1

    def alternation(self, bits: int) -> int:
        """Xor mask that flips the elements of odd index in a paired-order prefix."""
        mask = 0
        for step in range(bits):
            element = step // 2 if step % 2 == 0 else self.u_length - 1 - step // 2
            mask = mask << 1 | element % 2
        return mask


def components(problem: Problem) -> Components:
    """Split a problem of pairs whose odd and even filled places each form one run.

    Raises MethodDoesNotApply otherwise.
    """
    if problem.copies != 2:
        raise MethodDoesNotApply("the algebraic methods count pairs only; use miller for s >= 3")
    odd_places = [place // 2 for place in problem.filled if place % 2]
    even_places = [place // 2 - 1 for place in problem.filled if place % 2 == 0]
    for run in (odd_places, even_places):
        if not run or run[-1] - run[0] + 1 != len(run):
            raise MethodDoesNotApply(
                "polyphase needs the filled odd places, and the filled even places, to form one run "
                "each; use godfrey or miller"
            )
    even = tuple(d // 2 for d in problem.differences if d % 2 == 0)
    odd = tuple(d // 2 for d in problem.differences if d % 2)
    negation = len(odd_places) % 2 == len(odd) % 2 and len(even_places) % 2 == len(odd) % 2
    offset = even_places[0] - odd_places[0]
    mirrored = problem.mirrored and len(odd_places) == len(even_places)
    return Components(len(odd_places), len(even_places), offset, even, odd, negation, mirrored)


@dataclass(frozen=True)
class Shape:
    """How wide every intermediate of the CPU kernel is, derived from the largest values.

    ``odd`` lists the half-lags in the kernel's order: longest half, their partners, rest.
    """

    odd: tuple[int, ...]
    parts: int
    split_lanes: bool
    pairs: int
    chains: int
    words: int
    term_bound: int

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
        bound = IMAGES * widths.product_bound(problem, halved_evens=True)
        words = limbs.word_count(bound << tile_bits)
        split_lanes = parts <= 2 and IMAGES * odd_bound >= 2**63
        return cls(
            (*longer, *shorter, *single), parts, split_lanes, len(couples_of_evens) or 1, chains, words, bound
        )


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise MethodDoesNotApply(f"polyphase on the CPU needs {what}, which this problem exceeds")
