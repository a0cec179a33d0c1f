"""Pairs on a circle of at most 64 places: what the kernels of backtracking do otherwise there than on a line.

Places a and b > a are b − a apart and circle − (b − a), the other way around: a difference is one of both.
"""

from __future__ import annotations

import numpy as np

from langford.kernels.cpu.compiled import kernel
from langford.kernels.cpu.ir import trailing_zero_bits

_ONE = np.uint64(1)


@kernel
def circular_starts(free, difference, circle):
    """Bit k set where the places k and k + difference are free; of opposite places, the first one."""
    d = np.uint64(difference)
    fits = free & (free >> d | free << (np.uint64(circle) - d))
    return fits & ((_ONE << d) - _ONE) if 2 * difference == circle else fits


@kernel
def circular_pair(first, difference, circle):
    """The places ``first`` and first + difference."""
    first = np.int64(first)
    return _ONE << np.uint64(first) | _ONE << np.uint64((first + difference) % circle)


@kernel
def fill_circle(free, unused, circle, rows, words):
    """Ways to fill ``free`` exactly with the colours whose differences are bits of ``unused``; as ``fill``.

    Covers the lowest free place, which is at bit 0: a colour goes to the bit of its difference, or of what is left
    of the circle.
    """
    ways = nodes = level = 0
    apart = unused
    for difference in range(1, circle):
        if unused >> np.uint64(difference) & _ONE:
            apart |= _ONE << np.uint64(circle - difference)
    free >>= np.uint64(trailing_zero_bits(free))
    fitting = free & apart
    while True:
        if not fitting:
            if level == 0:
                return ways, nodes
            level -= 1
            free, apart, fitting = rows[level], words[0, level], words[1, level]
        chosen = fitting & (~fitting + _ONE)
        fitting ^= chosen
        nodes += 1
        rest = free ^ _ONE ^ chosen
        left = apart & ~(chosen | _ONE << np.uint64(circle - trailing_zero_bits(chosen)))
        if not left:
            ways += rest == 0
            continue
        rest >>= np.uint64(trailing_zero_bits(rest))
        next_fitting = rest & left
        if next_fitting:
            if fitting:
                rows[level], words[0, level], words[1, level] = free, apart, fitting
                level += 1
            free, apart, fitting = rest, left, next_fitting
