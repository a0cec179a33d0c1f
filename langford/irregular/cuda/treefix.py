"""Accumulations over trees on a GPU: the arrays that they read besides the values, and their launches."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from langford.irregular.arrays import Array, offset_type
from langford.irregular.compression import OPERATORS, compress
from langford.irregular.cuda.gpu import Gpu, gpu_of
from langford.irregular.cuda.passes import Passes, accumulate, by_levels, packed

TILE_BYTES, PACK_BYTES = 32768, 16
"""Bytes that a block scans at once, and that a thread stores at once; as in scan.cuh."""


class GpuTree:
    """The arrays of a forest for accumulations on a GPU, made once.

    Attributes:
        renamed: whether the numbers of the vertices are others than those in preorder.
        number: of each vertex in preorder, int32[n], or int64 where 32 bits are too few.
        order: the vertices in preorder, [n].
        size, depth: of each vertex: vertices of its subtree, and edges up to its root, [n].
    """

    def __init__(self, gpu: Gpu, tree: Any) -> None:
        xp, n = gpu.xp, len(tree)
        # Not the tree itself: it keeps this, and both would stay in memory.
        self._gpu = gpu
        self._passes: dict[str, Passes] = {}
        kind = offset_type(n)
        self.number, self.size, self.depth = (
            known.astype(kind, copy=False) for known in (tree.preorder, tree.size, tree.depth)
        )
        vertices = xp.arange(n, dtype=kind)
        self.renamed = bool((self.number != vertices).any())
        self.order = xp.empty(n, kind)
        self.order[self.number] = vertices

    @cached_property
    def closing(self) -> Array:
        """The vertices in the order in which the Euler tour leaves them, [n]."""
        closing = self._gpu.xp.empty_like(self.order)
        # Before a vertex is left, all that were left as it was entered, and all below it.
        closing[self.number - self.depth + self.size - 1] = self._gpu.xp.arange(
            len(self.order), dtype=closing.dtype
        )
        return closing

    @cached_property
    def tour(self) -> tuple[Array, Array]:
        """The Euler tour: bit k says whether step k enters a vertex, uint32[·]; how many do before each word."""
        xp, n = self._gpu.xp, len(self.order)
        enters = xp.zeros(-(-2 * n // 32) * 32, np.uint32)
        enters[2 * self.number.astype(np.int64) - self.depth] = 1
        rows = enters.reshape(-1, 32)
        counts = rows.sum(axis=1, dtype=np.int64)
        words = (rows << xp.arange(32, dtype=np.uint32)).sum(axis=1, dtype=np.uint32)
        return words, (counts.cumsum() - counts).astype(self.order.dtype)

    def passes(self, tree: Any, method: str) -> Passes:
        """The steps of this tree by ``levels`` or by ``compression``, made once."""
        if method not in self._passes:
            self._passes[method] = (
                by_levels(self._gpu, tree.above, tree.order, tree.depth)
                if method == "levels"
                else packed(self._gpu, len(tree), compress(tree.above, tree.depth))
            )
        return self._passes[method]


def by_scans(gpu: Gpu, tree: GpuTree, values: Array, op: str, by_tour: bool, down: bool) -> Array:
    """Rootfix, or leaffix, by ``euler`` or ``preorder``: scans, and a launch that reads their sums."""
    values = gpu.put(values, values.dtype)
    n, number, renamed = len(values), np.int32(OPERATORS[op]), np.int32(tree.renamed)
    out = gpu.xp.empty_like(values)
    if not n:
        return out
    program = gpu.program("treefix.cu", VERTEX=tree.order.dtype, VALUE=values.dtype)
    if by_tour:
        sums = scanned(
            gpu, program, "scan_tour", number, 2 * n, values, *tree.tour, renamed, tree.order, np.int32(down),
            tree.closing if down else tree.order,
        )  # fmt: skip
    else:
        sums = scanned(gpu, program, "scan_vertices", number, n, values, renamed, tree.order)
    head = number, np.int64(n), np.int32(by_tour), renamed, tree.number
    if down:
        closed = sums
        if not by_tour:
            closed = scanned(gpu, program, "scan_vertices", number, n, values, np.int32(1), tree.closing)
        program.launch("read_paths", *head, tree.depth, sums, closed, out)
    else:
        program.launch("read_subtrees", *head, tree.size, tree.depth, sums, out)
    return out


def scanned(gpu: Gpu, program: Any, name: str, op: np.int32, length: int, values: Array, *row: Any) -> Array:
    """The sums of a scan over ``length`` steps, [length + 1]; ``row`` has the place of each step's value."""
    size = values.itemsize
    # From the second sum on whole packs.
    skipped = PACK_BYTES // size - 1
    sums = gpu.xp.empty(skipped + length + 1, values.dtype)[skipped:]
    words = -(-length // tile_of(size)) * size // 4
    program.launch(name, op, np.int64(length), *row, values, sums, gpu.zeros(words + 1, np.uint64))
    return sums


def tile_of(size: int) -> int:
    """The number of values of this size in bytes that a block scans at once."""
    return TILE_BYTES // size


def treefix_on_gpu(tree: Any, values: Array, op: str, method: str, down: bool) -> Array:
    """Rootfix or leaffix of a Tree on its GPU."""
    gpu, known = gpu_of(values), tree.gpu_tree
    if method in ("euler", "preorder"):
        return by_scans(gpu, known, values, op, method == "euler", down)
    return accumulate(gpu, known.passes(tree, method), values, op, down)
