"""The random graphs of the Graph500 benchmark: the same edges from arrays of NumPy and of CuPy."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from langford.errors import whole
from langford.irregular.arrays import Array
from langford.irregular.errors import BadGraph
from langford.irregular.memory import require_memory
from langford.irregular.places import place_of

MAX_SCALE = 48
QUADRANTS = (Fraction(57, 100), Fraction(19, 100), Fraction(19, 100))
"""Probabilities of the quadrants (0, 0), (0, 1), (1, 0) of the adjacency matrix; the last one has the rest."""
AT_ONCE, AT_ONCE_ON_GPU = 2**14, 2**24
"""Edges that are drawn together: those of a core stay in its cache, those of a GPU fill it."""
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
ONE, HALF = np.uint64(1), np.uint64(32)


def vertex_type(scale: int) -> type[np.signedinteger[Any]]:
    """The type of the vertices of a graph of this scale."""
    return np.int32 if scale < 32 else np.int64


def edges_bytes(scale: int, edgefactor: int) -> int:
    """Memory for the edges of a graph, in bytes."""
    return 2 * np.dtype(vertex_type(scale)).itemsize * (edgefactor << scale)


def kronecker(scale: int, edgefactor: int = 16, seed: int = 1, device: str = "cpu") -> tuple[Array, Array]:
    """Edges of a random graph with 2**scale vertices: sources and targets, int32 (int64 from scale 32 on).

    Each edge descends into a quadrant of the adjacency matrix ``scale`` times, with Graph500's probabilities; then
    the vertices are scrambled.  Edge k depends on the seed and on k alone.  Loops and multiple edges occur.

    Args:
        scale: the binary logarithm of the number of vertices.
        edgefactor: edges per vertex.
        seed: of the random numbers.
        device: "cuda" generates the same edges on GPU 0, as arrays of CuPy.

    Raises BadGraph, BadInput, TooLarge before anything is generated, or NoGpu.
    """
    scale, edgefactor = whole("the scale", scale, BadGraph), whole("the edgefactor", edgefactor, BadGraph)
    seed = whole("the seed", seed, BadGraph)
    require_scale(scale, edgefactor)
    place = place_of(device)
    what = f"a graph of scale {scale}{' on the GPU' if place.on_gpu else ''}"
    require_memory(what, edges_bytes(scale, edgefactor), place.free_bytes())
    return edges_of(place.xp, scale, seed, 0, edgefactor << scale)


def require_scale(scale: int, edgefactor: int) -> None:
    """Raises BadGraph unless such a graph exists."""
    if not 0 <= scale <= MAX_SCALE or edgefactor < 0:
        raise BadGraph(
            f"the scale must be from 0 to {MAX_SCALE}, the edgefactor 0 or more, not {scale} and {edgefactor}"
        )


def edges_of(xp: Any, scale: int, seed: int, first: int, count: int) -> tuple[Array, Array]:
    """The edges first … first + count − 1 of :func:`kronecker`, as arrays of the module ``xp``."""
    sources, targets = (xp.empty(count, vertex_type(scale)) for _ in range(2))
    given = np.full(1, seed % 2**64, np.uint64)
    start = np.uint64(int(_mixed(given + STEP)[0]))
    keys = _mixed(given * STEP + np.arange(1, 4, dtype=np.uint64))
    begins = [np.uint64(round(share * 2**32)) for share in accumulate(QUADRANTS)]
    step = AT_ONCE if xp is np else AT_ONCE_ON_GPU
    for begin in range(0, count, step):
        end = min(begin + step, count)
        numbers = xp.arange(first + begin, first + end, dtype=np.uint64)
        source, target = _drawn(xp, numbers * STEP + start, scale, begins)
        sources[begin:end], targets[begin:end] = (_scrambled(part, scale, keys) for part in (source, target))
    return sources, targets


def _drawn(xp: Any, states: Array, scale: int, begins: list[np.uint64]) -> tuple[Array, Array]:
    """Sources and targets, uint64[·]: half a word draws the quadrant of each bit.  ``begins``: of all but one."""
    state, source, target = _mixed(states), xp.zeros(len(states), np.uint64), xp.zeros(len(states), np.uint64)
    for level in range(scale):
        if level % 2 == 0:
            state = state + STEP
            draw = _mixed(state)
            part = draw & np.uint64(2**32 - 1)
        else:
            part = draw >> HALF
        # Quadrants in the order of their numbers: (0, 0), (0, 1), (1, 0), (1, 1).
        down = part >= begins[1]
        right = (part >= begins[2]) | ((part >= begins[0]) & ~down)
        source, target = source << ONE | down, target << ONE | right
    return source, target


def _mixed(words: Array) -> Array:
    """SplitMix64's finaliser (Steele, Lea, Flood 2014)."""
    words = (words ^ (words >> np.uint64(30))) * FIRST
    words = (words ^ (words >> np.uint64(27))) * SECOND
    return words ^ (words >> np.uint64(31))


def _scrambled(vertices: Array, scale: int, keys: Array) -> Array:
    """Other numbers of ``scale`` bits, different for different vertices."""
    mask, half = np.uint64((1 << scale) - 1), np.uint64((scale + 1) // 2)
    for key in keys:
        vertices = (vertices * (key | ONE) + (key >> HALF)) & mask
        vertices = vertices ^ (vertices >> half)
    return vertices
