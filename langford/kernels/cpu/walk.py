"""Random walks down the search tree, for Knuth's estimator."""

from __future__ import annotations

import numpy as np

from langford.kernels.cpu.backtrack import fill, starts, without
from langford.kernels.cpu.compiled import kernel
from langford.kernels.cpu.rows import empty_rows, load, lowest, size, without_lowest

_ONE = np.uint64(1)


@kernel
def mixed(state):
    """The next number of the SplitMix64 sequence (Steele, Lea, Flood 2014): (state, uint64)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@kernel
def random_walks(roots, order, copies, shapes, switch, walks, seed, circle=None):
    """Unbiased estimates of the arrangements below all ``roots``, and of the nodes below the
    colours placed at random: two float64[walks].

    A walk picks a root, places the first ``switch`` colours of ``order`` at random, and
    counts the completions exactly.
    """
    rest = np.uint64(0)
    for difference in order[switch:]:
        rest |= _ONE << np.uint64(difference)
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
            ways, below = fill(free, rest, shapes, rows, words, circle) if rest else (1, 1)
            leaves[walk], nodes[walk] = weight * ways, weight * below
    return leaves, nodes
