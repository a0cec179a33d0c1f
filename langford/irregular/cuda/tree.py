"""Orders of trees on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array, module_of, stable_order, steps_to_end
from langford.irregular.cuda.gpu import Gpu


def tour_of(above: Array, indptr: Array, children: Array) -> Array:
    """The Euler tour of a forest as a linked list, int64[2n]: element v enters vertex v, element n + v leaves it.

    Each element names the next one, the last itself.  The trees of a forest follow one another.

    Args:
        above: parents [n], a root is its own.
        indptr, children: the children of each vertex, as in Tree.
    """
    xp, n = module_of(above), len(above)
    following = xp.empty(2 * n, xp.int64)
    vertices = xp.arange(n)
    following[:n] = n + vertices
    inner = xp.flatnonzero(indptr[1:] > indptr[:-1])
    following[inner] = children[indptr[inner]]
    # A child is followed by its sibling, the last one by its parent's end, a root by the next root.
    parents = above[children]
    following[n + children] = n + parents
    siblings = xp.flatnonzero(parents[1:] == parents[:-1])
    following[n + children[siblings]] = children[siblings + 1]
    ends = xp.flatnonzero(above == vertices)
    following[n + ends[:-1]] = ends[1:]
    following[n + ends[-1:]] = n + ends[-1:]
    return following


@dataclass(frozen=True)
class Orders:
    """The orders of the vertices of a Tree; see its properties.

    Attributes:
        astray: a vertex whose parents run in a circle, −1 if there is none.  Otherwise the arrays are empty.
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
    depth, ends = steps_to_end(above)
    astray = xp.flatnonzero(above[ends] != ends)
    nothing = xp.empty(0, kind)
    if len(astray):
        return Orders(int(astray[0]), *[nothing] * 6)
    others = xp.flatnonzero(above != vertices)
    by_parent = others[stable_order(above[others])].astype(kind)
    indptr = xp.searchsorted(above[by_parent], xp.arange(n + 1)).astype(kind)
    depth = depth.astype(kind)
    place = 2 * n - 1 - steps_to_end(tour_of(above, indptr, by_parent))[0]
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
