"""Graph500's edges, on one core."""

from __future__ import annotations

import numpy as np

from langford.irregular.cpu.compiled import kernel
from langford.kernels.cpu.compiled import part

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)


@part
def mixed(word):
    """SplitMix64's finaliser (Steele, Lea, Flood 2014)."""
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@part
def scrambled(vertex, scale, keys):
    """Another number of ``scale`` bits, different for different vertices."""
    mask = (np.uint64(1) << np.uint64(scale)) - np.uint64(1)
    half = np.uint64((scale + 1) // 2)
    for turn in range(3):
        vertex = (vertex * (keys[turn] | np.uint64(1)) + (keys[turn] >> np.uint64(32))) & mask
        vertex ^= vertex >> half
    return vertex


@kernel
def generate(first, scale, seed, thresholds, sources, targets):
    """Edges ``first``, ``first`` + 1, … into the two arrays.  ``thresholds``: of the quadrants, uint64[3]."""
    keys = np.empty(3, np.uint64)
    for turn in range(3):
        keys[turn] = mixed(seed * _STEP + np.uint64(turn + 1))
    start = mixed(seed + _STEP)
    for at in range(sources.size):
        state = mixed(start + np.uint64(first + at) * _STEP)
        source = target = np.uint64(0)
        draw = np.uint64(0)
        for level in range(scale):
            if level % 2 == 0:
                state += _STEP
                draw = mixed(state)
            part = draw & _LOW
            draw >>= np.uint64(32)
            # Quadrants in the order of their numbers: (0, 0), (0, 1), (1, 0), (1, 1).
            down = np.uint64(part >= thresholds[1])
            right = np.uint64(part >= thresholds[2]) | (np.uint64(part >= thresholds[0]) & (down ^ np.uint64(1)))
            source = source << np.uint64(1) | down
            target = target << np.uint64(1) | right
        sources[at] = scrambled(source, scale, keys)
        targets[at] = scrambled(target, scale, keys)
