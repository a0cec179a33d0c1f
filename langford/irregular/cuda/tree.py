"""Orders of trees on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array, stable_order
from langford.irregular.cuda.bfs import depths
from langford.irregular.cuda.gpu import Gpu, gpu_of
from langford.irregular.tree import tour_of


def rank(gpu: Gpu, following: Array) -> Array:
    """The place of every element of a linked list, int64[·], by pointer jumping; the last names itself."""
    xp, n = gpu.xp, len(following)
    program = gpu.program("tree.cu", VERTEX=np.int64, VALUE=np.int64)
    following = following.astype(np.int64)
    to_end = (following != xp.arange(n)).astype(np.int64)
    for _ in range(max(n - 1, 0).bit_length()):
        after, further = xp.empty_like(following), xp.empty_like(to_end)
        program.launch("jump", np.int64(n), following, to_end, after, further)
        following, to_end = after, further
    return n - 1 - to_end


@dataclass(frozen=True)
class Orders:
    """What a Tree knows of its vertices; see its properties.

    Attributes:
        astray: a vertex whose parents run in a circle, −1 if there is none; then nothing else is right.
        indptr, children, order, depth, size, preorder: as in Tree.
    """

    astray: int
    indptr: Array
    children: Array
    order: Array
    depth: Array
    size: Array
    preorder: Array


def orders(gpu: Gpu, above: Array) -> Orders:
    """The orders of a forest without −1: depth and Euler tour by pointer jumping, the rest by sorting."""
    xp, n, kind = gpu.xp, len(above), above.dtype
    vertices = xp.arange(n, dtype=kind)
    jumped = above.astype(np.int64)
    for _ in range(max(n, 1).bit_length()):
        jumped = jumped[jumped]
    astray = xp.flatnonzero(above[jumped] != jumped)
    nothing = xp.empty(0, kind)
    if len(astray):
        return Orders(int(astray[0]), *[nothing] * 6)
    others = xp.flatnonzero(above != vertices)
    by_parent = others[stable_order(above[others])].astype(kind)
    indptr = xp.searchsorted(above[by_parent], xp.arange(n + 1)).astype(kind)
    depth = depths(gpu, above)
    following = tour_of(above, indptr, by_parent)
    place = rank(gpu, following)
    opened, closed = place[:n], place[n:]
    size = ((closed - opened + 1) // 2).astype(kind)
    preorder = ((opened + depth) // 2).astype(kind)
    # Breadth first: levels, within a level the children of earlier vertices first.
    order = xp.lexsort(xp.stack([preorder, depth])).astype(kind)
    return Orders(-1, indptr, by_parent, order, depth, size, preorder)


def level_bounds(gpu: Gpu, depth: Array, order: Array) -> NDArray[np.int64]:
    """Where each level begins in the breadth-first order, and the last one's end: int64[levels + 1] on the host."""
    if not len(order):
        return np.zeros(1, np.int64)
    bounds: NDArray[np.int64] = gpu.on_host(gpu.xp.searchsorted(depth[order], gpu.xp.arange(int(depth.max()) + 2)))
    return bounds


# -- for arrays of CuPy -----------------------------------------------------------------------


def orders_on_gpu(above: Array) -> Orders:
    """The orders of a forest on its GPU."""
    return orders(gpu_of(above), above)


def rank_on_gpu(following: Array) -> Array:
    """The ranks of a linked list on its GPU."""
    return rank(gpu_of(following), following)
