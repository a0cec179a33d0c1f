"""The random graphs of the Graph500 benchmark."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langford.errors import whole
from langford.irregular.arrays import Array
from langford.irregular.cpu.kronecker import generate
from langford.irregular.errors import BadGraph
from langford.irregular.memory import require_memory
from langford.irregular.places import place_of
from langford.irregular.quadrants import thresholds, vertex_type

MAX_SCALE = 48


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
    if place.on_gpu:
        from langford.irregular.cuda.kronecker import generated

        return generated(place.gpu, scale, seed, 0, edgefactor << scale)
    return kronecker_slice(scale, seed, 0, edgefactor << scale)


def require_scale(scale: int, edgefactor: int) -> None:
    """Raises BadGraph unless such a graph exists."""
    if not 0 <= scale <= MAX_SCALE or edgefactor < 0:
        raise BadGraph(
            f"the scale must be from 0 to {MAX_SCALE}, the edgefactor 0 or more, not {scale} and {edgefactor}"
        )


def kronecker_slice(
    scale: int, seed: int, first: int, count: int
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """The edges first … first + count − 1 of :func:`kronecker`."""
    sources, targets = np.empty(count, vertex_type(scale)), np.empty(count, vertex_type(scale))
    generate(first, scale, np.uint64(seed % 2**64), thresholds(), sources, targets)
    return sources, targets
