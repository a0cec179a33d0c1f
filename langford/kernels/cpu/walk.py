"""Random walks down the search tree, for Knuth's estimator."""

from __future__ import annotations

import numpy as np
from numba import njit

from langford.kernels.cpu.backtrack import fill, starts
from langford.kernels.cpu.ir import set_bits, trailing_zero_bits

_ONE = np.uint64(1)


@njit(cache=True)
def mixed(state):
    """The next number of the SplitMix64 sequence (Steele, Lea, Flood 2014): (state, uint64)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def random_walks(roots, order, copies, shapes, switch, walks, seed):
    """Unbiased estimates of the arrangements below all ``roots``, float64[walks].

    A walk picks a root, places the first ``switch`` colours of ``order`` at random, and
    counts the completions exactly.
    """
    rest = np.uint64(0)
    for difference in order[switch:]:
        rest |= _ONE << np.uint64(difference)
    leaves = np.zeros(walks)
    stack = np.zeros((3, 64), np.uint64)
    for walk in range(walks):
        _, state = mixed(seed * np.uint64(0x2545F4914F6CDD1D) + np.uint64(walk))
        weight = float(roots.size)
        free = np.uint64(0)
        if roots.size:
            state, draw = mixed(state)
            free = roots[draw % np.uint64(roots.size)]
        for level in range(switch):
            fits = starts(free, order[level], copies)
            choices = set_bits(fits)
            weight *= choices
            if choices == 0:
                break
            state, draw = mixed(state)
            for _ in range(draw % np.uint64(choices)):
                fits &= fits - _ONE
            free ^= shapes[order[level]] << np.uint64(trailing_zero_bits(fits))
        if weight > 0:
            leaves[walk] = weight if rest == 0 else weight * fill(free, rest, shapes, stack)[0]
    return leaves
