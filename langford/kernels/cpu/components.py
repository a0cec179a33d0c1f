"""Polyphase components as integers, and their symmetries.

A component (u or v) is an integer whose bits are signs (1 means −1) in *paired order*, from
the most significant bit: first element, last, second, second to last, …, centre.  Reversal
then swaps neighbouring bits and every symmetry maps prefixes of even length to prefixes, so
that a prefix class is a closed set of components.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def reversed_component(component, length):
    """The component read backwards: neighbouring bits swapped, an odd centre bit kept."""
    even_bits = np.int64(0x2AAAAAAAAAAAAAAA)
    centre = np.int64(length & 1)
    pairs = component >> centre
    swapped = ((pairs & even_bits) >> 1) | ((pairs & (even_bits >> 1)) << 1)
    return (swapped << centre) | (component & centre)


@njit(cache=True)
def natural_order(component, length):
    """Bits of a component with element k at bit k."""
    natural = np.int64(0)
    front, back = 0, length - 1
    for step in range(length):
        bit = (component >> (length - 1 - step)) & 1
        if step & 1:
            natural |= bit << back
            back -= 1
        else:
            natural |= bit << front
            front += 1
    return natural


@njit(cache=True)
def orbit(component, length, alternation, negation):
    """(smallest image, orbit size) under reversal, ``alternation`` and ``negation``.

    The last two are xor masks; 0 leaves that symmetry out.
    """
    backwards = reversed_component(component, length)
    images = np.empty(8, np.int64)
    for k in range(8):
        image = backwards if k & 1 else component
        images[k] = image ^ (alternation if k & 2 else 0) ^ (negation if k & 4 else 0)
    images.sort()
    size = 1
    for k in range(1, 8):
        size += images[k] != images[k - 1]
    return images[0], size


@njit(cache=True)
def prefix_classes(bits, alternation, negation):
    """(smallest prefix, orbit size) of every class of prefixes, ascending, int64[classes]."""
    smallest = np.empty(1 << bits, np.int64)
    sizes = np.empty(1 << bits, np.int64)
    kept = 0
    for prefix in range(1 << bits):
        first, size = orbit(prefix, bits, alternation, negation)
        if first == prefix:
            smallest[kept], sizes[kept] = prefix, size
            kept += 1
    return smallest[:kept], sizes[:kept]


@njit(cache=True, nogil=True)
def representatives(prefix, inner_bits, length, alternation, negation):
    """Representatives u ≥ ``prefix << inner_bits`` that share the prefix, with their weights.

    A representative is the smallest of its class under reversal and negation.
    Returns (component, class size, smallest image under alternation too), int64[·] each.
    """
    count = 1 << inner_bits
    found = np.empty(count, np.int64)
    weight = np.empty(count, np.int64)
    smallest = np.empty(count, np.int64)
    kept = 0
    for inner in range(count):
        component = (prefix << inner_bits) | inner
        first, size = orbit(component, length, 0, negation)
        if first == component:
            found[kept], weight[kept] = component, size
            smallest[kept] = orbit(component, length, alternation, negation)[0]
            kept += 1
    return found[:kept], weight[:kept], smallest[:kept]
