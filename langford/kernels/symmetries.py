"""The symmetries of components: integers whose bits are the signs of some places (1 means −1).

They are in *paired order*, from the most significant bit: first element, last, second, second to last, …, centre.
Reversal then swaps neighbouring bits and every symmetry maps prefixes of even length to prefixes, so that a prefix
class is a closed set of components.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

EVEN_BITS = 0x2AAAAAAAAAAAAAAA
GROUP = 8
"""Products of reversal, alternation and negation; some may be the identity."""
ORBIT_SIZES = (8, 4, 2, 1)
"""Numbers of images that a component may have."""


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
