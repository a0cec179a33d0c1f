"""Orders of trees, accumulations and solves on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from langford.irregular.arrays import Array, stable_order
from langford.irregular.compression import Step
from langford.irregular.cuda.bfs import depths
from langford.irregular.cuda.gpu import Gpu, gpu_of

OPERATORS = {"add": 0, "mul": 1, "min": 2, "max": 3, "xor": 4}


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
    following = _tour(xp, above, indptr, by_parent)
    place = rank(gpu, following)
    opened, closed = place[:n], place[n:]
    size = ((closed - opened + 1) // 2).astype(kind)
    preorder = ((opened + depth) // 2).astype(kind)
    # Breadth first: levels, within a level the children of earlier vertices first.
    order = xp.lexsort(xp.stack([preorder, depth])).astype(kind)
    return Orders(-1, indptr, by_parent, order, depth, size, preorder)


def _tour(xp: Any, above: Array, indptr: Array, children: Array) -> Array:
    """The Euler tour as in langford.irregular.tree.euler_tour."""
    n = len(above)
    following = xp.empty(2 * n, np.int64)
    following[:n] = n + xp.arange(n)
    inner = xp.flatnonzero(indptr[1:] > indptr[:-1])
    following[inner] = children[indptr[inner]]
    parents = above[children]
    following[n + children] = n + parents
    siblings = xp.flatnonzero(parents[1:] == parents[:-1])
    following[n + children[siblings]] = children[siblings + 1]
    ends = xp.flatnonzero(above == xp.arange(n))
    following[n + ends[:-1]] = ends[1:]
    following[n + ends[-1:]] = n + ends[-1:]
    return following


def level_bounds(gpu: Gpu, depth: Array, order: Array) -> list[int]:
    """Where each level begins in the breadth-first order, and its end."""
    levels = gpu.xp.searchsorted(depth[order], gpu.xp.arange(int(depth.max()) + 2)) if len(order) else [0]
    return [int(begin) for begin in (gpu.on_host(levels) if len(order) else levels)]


def fix_by_levels(gpu: Gpu, above: Array, order: Array, depth: Array, values: Array, op: str, down: bool) -> Array:
    """Rootfix or leaffix, a launch per level."""
    program = gpu.program("tree.cu", VERTEX=above.dtype, VALUE=values.dtype)
    combined = values.copy()
    bounds = level_bounds(gpu, depth, order)
    pairs = list(pairwise(bounds[1:]))
    name, number = "level_down" if down else "level_up", np.int32(OPERATORS[op])
    for begin, end in pairs if down else pairs[::-1]:
        program.launch(name, number, np.int64(begin), np.int64(end), order, above, combined)
    return combined


def fix_by_compression(gpu: Gpu, steps: list[Step], values: Array, op: str, down: bool) -> Array:
    """Rootfix or leaffix by the steps of langford.irregular.compression."""
    program = gpu.program("tree.cu", VERTEX=np.int64, VALUE=values.dtype)
    combined = values.copy()
    for step in reversed(steps) if down else steps:
        program.launch(
            "scatter_down" if down else "gather_up", np.int32(OPERATORS[op]),
            np.int64(len(step.targets)), step.targets.astype(np.int64), step.sources.astype(np.int64), combined,
        )  # fmt: skip
    return combined


def scatter(gpu: Gpu, op: str, array: Array, places: Array, values: Array) -> None:
    """array[place] ∘= value for each of them; places may repeat."""
    program = gpu.program("tree.cu", VERTEX=np.int64, VALUE=array.dtype)
    program.launch(
        "scatter_at", np.int32(OPERATORS[op]), np.int64(len(places)), places.astype(np.int64), values, array
    )


def scan_xor(values: Array) -> Array:
    """The exclusive or of all values up to each place, by doubling."""
    scanned, reach = values.copy(), 1
    while reach < len(scanned):
        shifted = scanned[:-reach].copy()
        scanned[reach:] ^= shifted
        reach *= 2
    return scanned


def factorise(gpu: Gpu, above: Array, order: Array, depth: Array, edge: Array, pivot: Array) -> int:
    """LDLᵀ from the leaves into ``pivot``; returns a vertex of pivot 0, or −1."""
    program = gpu.program("solve.cu", VERTEX=above.dtype)
    zero = gpu.xp.full(1, -1, np.int64)
    bounds = level_bounds(gpu, depth, order)
    for begin, end in list(pairwise(bounds))[::-1]:
        program.launch("factorise_level", np.int64(begin), np.int64(end), order, above, edge, pivot, zero)
    return int(zero[0])


def level_steps(gpu: Gpu, above: Array, order: Array, depth: Array, factors: Array) -> list[Step]:
    """One sparse matrix per level, the deepest first, with the factor of each edge."""
    bounds = level_bounds(gpu, depth, order)
    levels = [order[begin:end].astype(np.int64) for begin, end in pairwise(bounds[1:])]
    return [Step(above[level].astype(np.int64), level, factors[level]) for level in levels[::-1]]


def multiply(gpu: Gpu, step: Step, x: Array, down: bool) -> None:
    """x += M·x for a step of compressed edges, or its transpose, in place, float64[n, k]."""
    program = gpu.program("solve.cu", VERTEX=np.int64)
    program.launch(
        "multiply_down" if down else "multiply_up",
        np.int64(len(step.targets)), np.int64(x.shape[1]), step.targets, step.sources, step.factors, x,
    )  # fmt: skip


# -- for arrays of CuPy -----------------------------------------------------------------------


def orders_on_gpu(above: Array) -> Orders:
    """The orders of a forest on its GPU."""
    return orders(gpu_of(above), above)


def rank_on_gpu(following: Array) -> Array:
    """The ranks of a linked list on its GPU."""
    return rank(gpu_of(following), following)


def levels_on_gpu(tree: Any, values: Array, op: str, down: bool) -> Array:
    """Rootfix or leaffix of a Tree by levels on its GPU."""
    return fix_by_levels(gpu_of(values), tree.above, tree.order, tree.depth, values, op, down)


def compression_on_gpu(steps: list[Step], values: Array, op: str, down: bool) -> Array:
    """Rootfix or leaffix by compression on the values' GPU."""
    return fix_by_compression(gpu_of(values), steps, values, op, down)


def scatter_on_gpu(op: str, array: Array, places: Array, values: Array) -> None:
    """array[place] ∘= value on the array's GPU."""
    scatter(gpu_of(array), op, array, places, values)


def factorise_on_gpu(tree: Any, edge: Array, pivot: Array) -> int:
    """LDLᵀ of a Tree's matrix on its GPU."""
    return factorise(gpu_of(pivot), tree.above, tree.order, tree.depth, edge, pivot)


def steps_of_levels(tree: Any, factors: Array) -> list[Step]:
    """The levels of a Tree's matrix on its GPU as sparse matrices."""
    return level_steps(gpu_of(factors), tree.above, tree.order, tree.depth, factors)


def multiply_on_gpu(step: Step, x: Array, down: bool) -> None:
    """x += M·x, or its transpose, on its GPU."""
    multiply(gpu_of(x), step, x, down)
