"""CPU kernels of the backtracking methods, on 64-bit masks of free places.

Bit k of ``free`` is place k+1.  Colours come in a fixed order (largest difference first).
``shapes[d]`` has the bits 0, d, 2d, … of a colour with difference d.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from langford.arithmetic.residue import MODULUS
from langford.kernels.cpu.ir import set_bits, trailing_zero_bits

_ONE = np.uint64(1)
_MODULUS = np.uint64(MODULUS)


@njit(cache=True)
def starts(free, difference, copies):
    """Bit k set where a colour fits with its first cube on bit k."""
    fits = free
    for copy in range(1, copies):
        fits &= free >> np.uint64(copy * difference)
    return fits


@njit(cache=True)
def feasible(frees, difference, copies, shape):
    """The free masks after placing one colour in every possible way, uint64[·], in order."""
    count = 0
    for free in frees:
        count += set_bits(starts(free, difference, copies))
    children = np.empty(count, np.uint64)
    at = 0
    for free in frees:
        fits = starts(free, difference, copies)
        while fits:
            children[at] = free ^ (shape << np.uint64(trailing_zero_bits(fits)))
            fits &= fits - _ONE
            at += 1
    return children


@njit(cache=True)
def fill(free, unused, shapes, stack):
    """Ways to fill ``free`` exactly with the colours whose differences are bits of ``unused``.

    Always covers the lowest free place: with that place at bit 0, the differences that fit
    a pair are ``free & unused``.  ``stack`` is scratch, uint64[3, 64].
    Returns (ways, nodes).
    """
    ways = nodes = level = 0
    free >>= np.uint64(trailing_zero_bits(free))
    fitting = free & unused
    if unused & (unused - _ONE) == 0:
        return np.int64(free == shapes[trailing_zero_bits(unused)]), 1
    while True:
        if not fitting:
            if level == 0:
                return ways, nodes
            level -= 1
            free, unused, fitting = stack[0, level], stack[1, level], stack[2, level]
        chosen = fitting & (~fitting + _ONE)
        fitting ^= chosen
        shape = shapes[trailing_zero_bits(chosen)]
        if free & shape != shape:
            continue
        nodes += 1
        rest = free ^ shape
        rest >>= np.uint64(trailing_zero_bits(rest))
        left = unused ^ chosen
        if left & (left - _ONE) == 0:
            ways += rest == shapes[trailing_zero_bits(left)]
            continue
        next_fitting = rest & left
        if next_fitting:
            if fitting:
                stack[0, level], stack[1, level], stack[2, level] = free, unused, fitting
                level += 1
            free, unused, fitting = rest, left, next_fitting


@njit(cache=True, nogil=True)
def count_by_largest(root, order, copies, shapes, switch):
    """Arrangements below one free mask; the colours ``order`` (int64[·]) are unplaced.

    The first ``switch`` colours are placed in order, each in every way that fits; the rest
    by :func:`fill`.  Returns (arrangements, the same mod 2^64 − 1, nodes).
    """
    stack = np.zeros((3, 64), np.uint64)
    free = np.zeros(switch + 1, np.uint64)
    fitting = np.zeros(switch + 1, np.uint64)
    rest = np.uint64(0)
    for difference in order[switch:]:
        rest |= _ONE << np.uint64(difference)
    if switch == 0:
        ways, nodes = fill(root, rest, shapes, stack)
        return ways, np.uint64(ways), nodes
    total = nodes = level = 0
    residue = np.uint64(0)
    free[0], fitting[0] = root, starts(root, order[0], copies)
    while level >= 0:
        if not fitting[level]:
            level -= 1
            continue
        start = np.uint64(trailing_zero_bits(fitting[level]))
        fitting[level] &= fitting[level] - _ONE
        nodes += 1
        child = free[level] ^ (shapes[order[level]] << start)
        if level + 1 == switch:
            ways, below = fill(child, rest, shapes, stack)
            nodes += below
            total += ways
            residue += np.uint64(ways)
            if residue >= _MODULUS:
                residue -= _MODULUS
        else:
            level += 1
            free[level], fitting[level] = child, starts(child, order[level], copies)
    return total, residue, nodes


@njit(cache=True, nogil=True)
def count_regular(root, order, copies, shapes, switch, masks, offsets):
    """Arrangements below one free mask, the last colours test-free (thesis, figure 1.4).

    After ``switch`` colours placed by backtracking, every assignment of the others is
    formed, ``masks[offsets[k]:offsets[k+1]]`` (uint64) being all placements of the k-th
    of them on the empty row; one test at the leaf asks whether they cover ``free``.
    Returns (arrangements, the same mod 2^64 − 1, leaves tested).
    """
    free = np.zeros(switch + 1, np.uint64)
    fitting = np.zeros(switch + 1, np.uint64)
    total = tested = level = 0
    residue = np.uint64(0)
    free[0] = root
    if switch:
        fitting[0] = starts(root, order[0], copies)
    while level >= 0:
        if switch == 0 or level == switch:
            ways, leaves = assignments(free[level], masks, offsets)
            tested += leaves
            total += ways
            residue += np.uint64(ways)
            if residue >= _MODULUS:
                residue -= _MODULUS
            level -= 1
        elif not fitting[level]:
            level -= 1
        else:
            start = np.uint64(trailing_zero_bits(fitting[level]))
            fitting[level] &= fitting[level] - _ONE
            child = free[level] ^ (shapes[order[level]] << start)
            level += 1
            free[level] = child
            if level < switch:
                fitting[level] = starts(child, order[level], copies)
    return total, residue, tested


@njit(cache=True)
def assignments(free, masks, offsets):
    """(assignments whose union is ``free``, assignments formed) over all placements."""
    colours = offsets.size - 1
    union = np.zeros(colours + 1, np.uint64)
    index = offsets[:-1].copy()
    for k in range(colours):
        if offsets[k] == offsets[k + 1]:
            return 0, 0
    level = ways = leaves = 0
    while level >= 0:
        if level == colours - 1:
            for k in range(offsets[level], offsets[level + 1]):
                ways += (union[level] | masks[k]) == free
            leaves += offsets[level + 1] - offsets[level]
            level -= 1
        elif index[level] == offsets[level + 1]:
            index[level] = offsets[level]
            level -= 1
        else:
            union[level + 1] = union[level] | masks[index[level]]
            index[level] += 1
            level += 1
    return ways, leaves
