"""The two polyphase components of a problem, the signs of the odd and of the even places.

A component (u or v) is an integer in paired order (:mod:`langford.kernels.symmetries`).
"""

from __future__ import annotations

from dataclasses import dataclass

from langford.arithmetic import widths
from langford.errors import MethodDoesNotApply
from langford.problem import Problem

IMAGES = 8
"""Images of a pair under reversal of u, of v and under ``alt``: they share |E|."""


@dataclass(frozen=True)
class PolyphaseComponents:
    """The geometry of the two polyphase components of a problem.

    Attributes:
        u_length: elements of u, the filled odd places.
        v_length: elements of v, the filled even places.
        offset: element k of v is the right neighbour of element k + offset of u.
        even: lags e of the even differences 2e.
        odd: half-lags e of the odd differences 2e+1.
        negation: whether negating u alone, or v alone, leaves the summand unchanged (else it flips it
            for u, for v or for both: the count is 0).
        mirrored: whether the mirror of the row exchanges u and v.
    """

    u_length: int
    v_length: int
    offset: int
    even: tuple[int, ...]
    odd: tuple[int, ...]
    negation: bool
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

    def masks(self, bits: int) -> tuple[int, int]:
        """(alternation, negation) as xor masks on a paired-order prefix of ``bits`` bits; 0 for the identity."""
        if not self.negation:
            return 0, 0
        return self.alternation(bits), (1 << bits) - 1


def components(problem: Problem) -> PolyphaseComponents:
    """Split a problem of pairs whose odd and even filled places each form one run.

    Raises MethodDoesNotApply otherwise, and where an even difference has an odd number of terms: its sum is odd and
    cannot be halved.  That happens where one run is longer than the lag and the other is not.
    """
    if problem.copies != 2:
        raise MethodDoesNotApply("the algebraic methods count pairs only")
    if problem.loose:
        raise MethodDoesNotApply("it counts rows whose empty places are given")
    odd_places = [place // 2 for place in problem.filled if place % 2]
    even_places = [place // 2 - 1 for place in problem.filled if place % 2 == 0]
    for run in (odd_places, even_places):
        if not run or run[-1] - run[0] + 1 != len(run):
            raise MethodDoesNotApply(
                "polyphase needs the filled odd places, and the filled even places, to form one run each"
            )
    for d in problem.differences:
        if d % 2 == 0 and problem.terms[d] % 2:
            raise MethodDoesNotApply(
                f"polyphase halves the sums of even differences, and that of {d} has an odd number of terms "
                f"({problem.terms[d]})"
            )
    even = tuple(d // 2 for d in problem.differences if d % 2 == 0)
    odd = tuple(d // 2 for d in problem.differences if d % 2)
    negation = len(odd_places) % 2 == len(odd) % 2 and len(even_places) % 2 == len(odd) % 2
    offset = even_places[0] - odd_places[0]
    mirrored = problem.mirrored and len(odd_places) == len(even_places)
    return PolyphaseComponents(len(odd_places), len(even_places), offset, even, odd, negation, mirrored)


def term_bound(problem: Problem) -> int:
    """Largest |F(u, v)|: the summand with halved even sums, over the eight images of a pair."""
    return IMAGES * widths.product_bound(problem, halved_evens=True)
