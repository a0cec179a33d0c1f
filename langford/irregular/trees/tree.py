"""Forests as arrays of parents, and their orders."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from langford.errors import BadInput
from langford.irregular.arrays import Array, module_of, on_gpu, require_indices
from langford.irregular.compression import SparseStep, compress
from langford.irregular.cpu.tree import list_children, walk


class Tree:
    """A tree, or a forest.

    Attributes:
        parent: of each vertex, int32 or int64[n]; a root is its own parent.  −1, a vertex that a search did not
            reach, makes it a tree of its own.
        above: the same with the vertex itself instead of −1.
        indptr: where the children of each vertex begin in ``children``, [n + 1].
        children: those of vertex 0, of vertex 1, …, each in rising order, [non-roots].
        order: the vertices breadth first: roots, their children, …, [n].
        depth: edges up to the root, [n].
        size: vertices of the subtree, the vertex included, [n].
        preorder: the number of each vertex in preorder, [n]: its subtree is preorder … preorder + size − 1.
    """

    def __init__(self, parent: Array) -> None:
        """Raises BadInput, also when a parent is no vertex, or the parents form a cycle.

        Args:
            parent: of each vertex, int32 or int64[n].
        """
        require_indices("parent", parent)
        xp = module_of(parent)
        n = len(parent)
        if n and (int(parent.min()) < -1 or int(parent.max()) >= n):
            wrong = xp.flatnonzero((parent < -1) | (parent >= n))[0]
            raise BadInput(f"vertex {int(wrong)} has the parent {int(parent[wrong])}, but there are {n:,} vertices")
        self.parent = parent
        self.above = xp.where(parent < 0, xp.arange(n, dtype=parent.dtype), parent)
        if on_gpu(parent):
            self._jump()
        else:
            self._walk()

    def _walk(self) -> None:
        n, kind = len(self.above), self.parent.dtype
        self.indptr = np.zeros(n + 1, kind)
        self.children = np.empty(int((self.above != np.arange(n)).sum()), kind)
        list_children(self.above, self.indptr, self.children)
        self.order, self.depth, self.size, self.preorder = (np.empty(n, kind) for _ in range(4))
        below_roots = walk(self.above, self.indptr, self.children, self.order, self.depth, self.size, self.preorder)
        if below_roots < n:
            known = np.zeros(n, bool)
            known[self.order[:below_roots]] = True
            self._refuse(int(np.flatnonzero(~known)[0]))

    def _jump(self) -> None:
        """Depth by pointer jumping, the rest by sorting and list ranking, where the parents are on a GPU."""
        from langford.irregular.cuda.gpu import gpu_of
        from langford.irregular.cuda.tree import orders

        found = orders(gpu_of(self.above), self.above)
        if found.astray >= 0:
            self._refuse(found.astray)
        self.indptr, self.children, self.order = found.indptr, found.children, found.order
        self.depth, self.size, self.preorder = found.depth, found.size, found.preorder

    def _refuse(self, vertex: int) -> None:
        """Raises BadInput with a vertex of the circle into which the parents of this one lead."""
        seen: set[int] = set()
        while vertex not in seen:
            seen.add(vertex)
            vertex = int(self.above[vertex])
        raise BadInput(f"the parents form a cycle through vertex {vertex}: make one of its vertices a root")

    def __len__(self) -> int:
        return len(self.above)

    @cached_property
    def height(self) -> int:
        """The greatest depth; 0 for an empty forest."""
        return int(self.depth.max()) if len(self) else 0

    @cached_property
    def steps(self) -> list[SparseStep]:
        """The steps of path compression; see langford.irregular.compression."""
        return compress(self.above, self.depth)

    @cached_property
    def gpu_tree(self) -> Any:
        """What accumulations on a GPU read of the forest: langford.irregular.cuda.treefix.GpuTree."""
        from langford.irregular.cuda.gpu import gpu_of
        from langford.irregular.cuda.treefix import GpuTree

        return GpuTree(gpu_of(self.above), self)

    @cached_property
    def opened(self) -> Array:
        """Where each vertex is entered on the Euler tour of 2n steps, int64[n]."""
        return 2 * self.preorder.astype(np.int64) - self.depth

    @cached_property
    def closed(self) -> Array:
        """Where each vertex is left for the last time on the Euler tour, int64[n]."""
        return self.opened + 2 * self.size.astype(np.int64) - 1
