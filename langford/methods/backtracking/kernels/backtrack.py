"""CPU kernels of the backtracking methods, on masks of free places.

Bit k of ``free`` is place k+1 (rows.py).  Colours come in a fixed order (largest difference
first).  ``shapes[d]`` has the bits 0, d, 2d, … of a colour with difference d < 64.  ``circle`` is the number of
places of a circle, at most 64; None for a line, whose kernels are compiled without what circles need.
Random walks down the same search tree are for Knuth's estimator.
"""

from __future__ import annotations

import numpy as np

from langford.arithmetic.residue import MODULUS
from langford.kernels.cpu.compiled import kernel, part
from langford.kernels.cpu.ir import trailing_zero_bits
from langford.methods.backtracking.kernels.rows import (
    both,
    circular_pair,
    circular_starts,
    down,
    either,
    empty_rows,
    fill_circle,
    first_word,
    load,
    lowest,
    same,
    size,
    some,
    store,
    up,
    without_lowest,
)

_ONE = np.uint64(1)
_MODULUS = np.uint64(MODULUS)


@part
def starts(free, difference, copies, circle=None):
    """Bit k set where a colour fits with its first cube on bit k."""
    if circle is not None:
        return circular_starts(free, difference, circle)
    fits = free
    for copy in range(1, copies):
        fits = both(fits, down(free, copy * difference))
    return fits


@part
def without(free, shapes, difference, first, circle=None):
    """The row left by a colour whose first cube is on bit ``first``."""
    if circle is not None:
        return free ^ circular_pair(first, difference, circle)
    return either(free, up(load(shapes, difference), first))


@kernel
def count_starts(frees, difference, copies, circle=None):
    """In how many ways a colour fits each row, int64[·]."""
    counts = np.empty(len(frees), np.int64)
    for at in range(len(frees)):
        counts[at] = size(starts(load(frees, at), difference, copies, circle))
    return counts


@kernel
def feasible(frees, difference, copies, shapes, circle=None):
    """The rows left by placing one colour in every possible way, in order."""
    children = empty_rows(frees, count_starts(frees, difference, copies, circle).sum())
    at = 0
    for parent in range(len(frees)):
        free = load(frees, parent)
        fits = starts(free, difference, copies, circle)
        while some(fits):
            store(children, at, without(free, shapes, difference, lowest(fits), circle))
            fits = without_lowest(fits)
            at += 1
    return children


@part
def fill(free, unused, shapes, rows, words, circle=None):
    """Ways to fill ``free`` exactly with the colours whose differences are bits of ``unused``.

    Always covers the lowest free place: with that place at bit 0, the differences that fit
    a pair are ``free & unused``.  ``rows`` [64] and ``words``, uint64[2, 64], are scratch.
    Returns (ways, nodes).
    """
    if circle is not None:
        return fill_circle(free, unused, circle, rows, words)
    ways = nodes = level = 0
    free = down(free, lowest(free))
    fitting = first_word(free) & unused
    if unused & (unused - _ONE) == 0:
        return np.int64(same(free, load(shapes, trailing_zero_bits(unused)))), 1
    while True:
        if not fitting:
            if level == 0:
                return ways, nodes
            level -= 1
            free, unused, fitting = load(rows, level), words[0, level], words[1, level]
        chosen = fitting & (~fitting + _ONE)
        fitting ^= chosen
        shape = load(shapes, trailing_zero_bits(chosen))
        if not same(both(free, shape), shape):
            continue
        nodes += 1
        rest = either(free, shape)
        rest = down(rest, lowest(rest))
        left = unused ^ chosen
        if left & (left - _ONE) == 0:
            ways += same(rest, load(shapes, trailing_zero_bits(left)))
            continue
        next_fitting = first_word(rest) & left
        if next_fitting:
            if fitting:
                store(rows, level, free)
                words[0, level], words[1, level] = unused, fitting
                level += 1
            free, unused, fitting = rest, left, next_fitting


@part
def colours_of(order):
    """Some colours as :func:`fill_with` takes them: (bits of a word, numbers by difference, int64[64])."""
    unused, left = np.uint64(0), np.zeros(64, np.int64)
    for difference in order:
        unused |= _ONE << np.uint64(difference)
        left[difference] += 1
    return unused, left


@part
def fill_with(free, colours, shapes, rows, words, circle=None, folded=None):
    """As :func:`fill`, with colours that may have the same difference, and are not told apart."""
    unused, left = colours
    if folded is not None:
        return fill_folded(free, unused, left, shapes, rows, words)
    return fill(free, unused, shapes, rows, words, circle)


@part
def fill_folded(free, unused, left, shapes, rows, words):
    """As :func:`fill`, with ``left`` colours of each difference, which are all there again in the end."""
    ways = nodes = level = 0
    free = down(free, lowest(free))
    fitting = first_word(free) & unused
    while True:
        if not fitting:
            if level == 0:
                return ways, nodes
            level -= 1
            free, fitting = load(rows, level), words[1, level]
            left[words[0, level]] += 1
            unused |= _ONE << words[0, level]
            continue
        difference = np.uint64(trailing_zero_bits(fitting))
        fitting &= fitting - _ONE
        shape = load(shapes, difference)
        if not same(both(free, shape), shape):
            continue
        nodes += 1
        rest = either(free, shape)
        if not some(rest):
            ways += 1
            continue
        store(rows, level, free)
        words[0, level], words[1, level] = difference, fitting
        level += 1
        left[difference] -= 1
        if not left[difference]:
            unused ^= _ONE << difference
        free = down(rest, lowest(rest))
        fitting = first_word(free) & unused


@kernel
def count_by_largest(roots, order, copies, shapes, switch, circle=None, folded=None):
    """Arrangements below rows; the colours ``order`` (int64[·]) are unplaced.

    The first ``switch`` colours are placed in order, each in every way that fits; the rest
    by :func:`fill`.  With ``folded``, colours may have the same difference: those placed in order are told apart.
    Returns (arrangements, the same mod 2^64 − 1, nodes).
    """
    rows, words = empty_rows(roots, 64), np.empty((2, 64), np.uint64)
    rest = colours_of(order[switch:])
    free, fitting = empty_rows(roots, switch + 1), empty_rows(roots, switch + 1)
    total = nodes = 0
    residue = np.uint64(0)
    for root in range(len(roots)):
        level = 0
        enter(level, load(roots, root), free, fitting, order, copies, switch, circle)
        while True:
            level, placed = next_leaf(level, free, fitting, order, copies, shapes, switch, circle)
            nodes += placed
            if level < 0:
                break
            ways, below = fill_with(load(free, level), rest, shapes, rows, words, circle, folded)
            nodes += below
            total += ways
            residue = plus(residue, ways)
            level -= 1
    return total, residue, nodes


@kernel
def count_regular(roots, order, copies, shapes, switch, masks, offsets, circle=None):
    """Arrangements below rows, the last colours test-free (thesis, figure 1.4).

    After ``switch`` colours placed by backtracking, every assignment of the others but the
    last is formed, ``masks[offsets[k]:offsets[k+1]]`` being all placements of the
    k-th of them on the empty row; one test at the leaf asks whether the last colour is what
    they leave.  Returns (arrangements, the same mod 2^64 − 1, nodes), the leaves tested
    among the nodes.
    """
    free, fitting = empty_rows(roots, switch + 1), empty_rows(roots, switch + 1)
    last = load(shapes, order[-1])
    around = None if circle is None else _ONE | _ONE << np.uint64(circle - order[-1])
    total = nodes = 0
    residue = np.uint64(0)
    for root in range(len(roots)):
        level = 0
        enter(level, load(roots, root), free, fitting, order, copies, switch, circle)
        while True:
            level, placed = next_leaf(level, free, fitting, order, copies, shapes, switch, circle)
            nodes += placed
            if level < 0:
                break
            ways, leaves = assignments(load(free, level), masks, offsets, last, around)
            nodes += leaves
            total += ways
            residue = plus(residue, ways)
            level -= 1
    return total, residue, nodes


@part
def enter(level, row, free, fitting, order, copies, switch, circle=None):
    """Come to a level with a row whose colour is unplaced."""
    store(free, level, row)
    if level < switch:
        store(fitting, level, starts(row, order[level], copies, circle))


@part
def next_leaf(level, free, fitting, order, copies, shapes, switch, circle=None):
    """Go on from a level to the next row with ``switch`` colours placed.

    Returns (its level, −1 when none is left; colours placed on the way).
    """
    placed = 0
    while 0 <= level < switch:
        fits = load(fitting, level)
        if some(fits):
            store(fitting, level, without_lowest(fits))
            child = without(load(free, level), shapes, order[level], lowest(fits), circle)
            level += 1
            enter(level, child, free, fitting, order, copies, switch, circle)
            placed += 1
        else:
            level -= 1
    return level, placed


@kernel
def plus(residue, ways):
    """The sum modulo 2^64 − 1."""
    residue += np.uint64(ways)
    return residue - _MODULUS if residue >= _MODULUS else residue


@part
def assignments(free, masks, offsets, last, around=None):
    """(assignments that leave one colour of shape ``last``, on a circle also ``around``, assignments formed).

    Placements are taken off by exclusive or: only disjoint ones within ``free`` leave no
    more bits than one colour has.
    """
    colours = offsets.size - 1
    rest = empty_rows(masks, colours + 1)
    index = offsets[:-1].copy()
    store(rest, 0, free)
    level = ways = leaves = 0
    while level >= 0:
        if level == colours:
            left = load(rest, level)
            ways += some(left) and same(left, up(last, lowest(left)))
            if around is not None:
                ways += around != last and some(left) and same(left, up(around, lowest(left)))
            leaves += 1
            level -= 1
        elif index[level] == offsets[level + 1]:
            index[level] = offsets[level]
            level -= 1
        else:
            store(rest, level + 1, either(load(rest, level), load(masks, index[level])))
            index[level] += 1
            level += 1
    return ways, leaves


@part
def mixed(state):
    """The next number of the SplitMix64 sequence (Steele, Lea, Flood 2014): (state, uint64)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@kernel
def random_walks(roots, order, copies, shapes, switch, walks, seed, circle=None, folded=None):
    """Unbiased estimates of the arrangements below all ``roots``, and of the nodes below the
    colours placed at random: two float64[walks].

    A walk picks a root, places the first ``switch`` colours of ``order`` at random, and
    counts the completions exactly.
    """
    rest = colours_of(order[switch:])
    leaves, nodes = np.zeros(walks), np.zeros(walks)
    rows, words = empty_rows(roots, 64), np.empty((2, 64), np.uint64)
    for walk in range(walks):
        _, state = mixed(seed * np.uint64(0x2545F4914F6CDD1D) + np.uint64(walk))
        weight = float(len(roots))
        if len(roots) == 0:
            break
        state, draw = mixed(state)
        free = load(roots, draw % np.uint64(len(roots)))
        for level in range(switch):
            fits = starts(free, order[level], copies, circle)
            choices = size(fits)
            weight *= choices
            if choices == 0:
                break
            state, draw = mixed(state)
            for _ in range(draw % np.uint64(choices)):
                fits = without_lowest(fits)
            free = without(free, shapes, order[level], lowest(fits), circle)
        if weight > 0:
            ways, below = 1, 1
            if switch < len(order):
                ways, below = fill_with(free, rest, shapes, rows, words, circle, folded)
            leaves[walk], nodes[walk] = weight * ways, weight * below
    return leaves, nodes
