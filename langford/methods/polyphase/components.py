"""The two polyphase components of a problem, the signs of the odd and of the even places, and their symmetries.

A component (u or v) is an integer whose bits are signs (1 means −1) in *paired order*, from
the most significant bit: first element, last, second, second to last, …, centre.  Reversal
then swaps neighbouring bits and every symmetry maps prefixes of even length to prefixes, so
that a prefix class is a closed set of components.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import widths
from langford.errors import MethodDoesNotApply
from langford.problem import Problem

Integers = NDArray[np.int64]

EVEN_BITS = 0x2AAAAAAAAAAAAAAA
GROUP = 8
"""Products of reversal, alternation and negation; some may be the identity."""
ORBIT_SIZES = (8, 4, 2, 1)
"""Numbers of images that a component may have."""
IMAGES = 8
"""Images of a pair under reversal of u, of v and under ``alt``: they share |E|."""


def reversed_components(components: Integers, length: int) -> Integers:
    """The components read backwards: neighbouring bits swapped, an odd centre bit kept."""
    centre = length & 1
    pairs = components >> centre
    swapped = (pairs & EVEN_BITS) >> 1 | (pairs & EVEN_BITS >> 1) << 1
    return swapped << centre | components & centre


def orbits(components: Integers, length: int, alternation: int, negation: int) -> tuple[Integers, Integers]:
    """(smallest image, orbit size) under reversal, ``alternation`` and ``negation``, int64[·] each.

    The last two are xor masks; 0 leaves that symmetry out.  With ``alternation`` there must be
    ``negation``: only then are these images a group's.
    """
    backwards = reversed_components(components, length)
    smallest, fixed = components, np.zeros(components.shape, np.int64)
    for mask in (0, alternation, negation, alternation ^ negation):
        for image in (components ^ mask, backwards ^ mask):
            smallest = np.minimum(smallest, image)
            fixed += image == components
    return smallest, GROUP // fixed


def prefix_classes(bits: int, alternation: int, negation: int) -> tuple[Integers, Integers]:
    """(smallest prefix, orbit size) of every class of prefixes, ascending, int64[classes]."""
    prefixes = np.arange(1 << bits)
    smallest, sizes = orbits(prefixes, bits, alternation, negation)
    kept = smallest == prefixes
    return prefixes[kept], sizes[kept]


def representatives(
    start: int, count: int, length: int, alternation: int, negation: int
) -> tuple[Integers, Integers, Integers]:
    """Those of ``count`` components from ``start`` on that are the smallest of their class under reversal and
    negation.

    Returns (component, class size, smallest image under alternation too), int64[·] each.
    """
    components = np.arange(start, start + count)
    smallest, sizes = orbits(components, length, 0, negation)
    kept = smallest == components
    components = components[kept]
    return components, sizes[kept], orbits(components, length, alternation, negation)[0]


@dataclass(frozen=True)
class Components:
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


def components(problem: Problem) -> Components:
    """Split a problem of pairs whose odd and even filled places each form one run.

    Raises MethodDoesNotApply otherwise, and where an even difference has an odd number of terms: its sum is odd and
    cannot be halved.  That happens where one run is longer than the lag and the other is not.
    """
    if problem.copies != 2:
        raise MethodDoesNotApply("the algebraic methods count pairs only")
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
    return Components(len(odd_places), len(even_places), offset, even, odd, negation, mirrored)


def term_bound(problem: Problem) -> int:
    """Largest |F(u, v)|: the summand with halved even sums, over the eight images of a pair."""
    return IMAGES * widths.product_bound(problem, halved_evens=True)
