"""Breadth-first search on a GPU, level by level."""

from __future__ import annotations

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.bfs import MOST_LEVELS, Bfs, Level
from langford.irregular.cuda.gpu import Gpu, gpu_of
from langford.irregular.graph import Graph
from langford.kernels.cuda.program import Program

EDGES_SHARE, VERTICES_SHARE = 15, 18
"""As on the CPU: from below above this share of the edges, and back below that of the vertices."""
FOUND, AHEAD, INSPECTED = range(3)


def bfs_on_gpu(graph: Graph, root: int, direction: str) -> Bfs:
    """As langford.irregular.bfs.bfs, for a graph of CuPy's arrays."""
    return search(gpu_of(graph.indptr), graph, root, direction)


def search(gpu: Gpu, graph: Graph, root: int, direction: str) -> Bfs:
    """Search breadth first from a vertex; ``direction`` as in bfs."""
    return _Search(gpu, graph, root).run(direction)


class _Search:
    """The arrays of one search: the frontier is a queue or a bitmap."""

    def __init__(self, gpu: Gpu, graph: Graph, root: int) -> None:
        self._gpu, self._graph, n = gpu, graph, graph.n
        kind, words = graph.indices.dtype, (n + 31) // 32
        self._program: Program = gpu.program("bfs.cu", VERTEX=kind, OFFSET=graph.indptr.dtype)
        self._parent = gpu.xp.full(n, -1, kind)
        self._queue = gpu.zeros(n, kind)
        self._visited, self._front, self._following = (gpu.zeros(words, np.uint32) for _ in range(3))
        self._counters = gpu.zeros(3, np.uint64)
        self._parent[root] = self._queue[0] = root
        self._visited[root >> 5] = 1 << (root & 31)
        self._begin, self._end = 0, 1
        self._ahead = int(graph.indptr[root + 1]) - int(graph.indptr[root])

    def run(self, direction: str) -> Bfs:
        """All levels."""
        graph = self._graph
        size, before, unseen, below, as_bits = 1, 0, graph.m, direction == "up", False
        levels: list[Level] = []
        while size:
            if direction == "auto":
                if not below:
                    below = self._ahead > unseen // EDGES_SHARE
                elif size < before and size < graph.n // VERTICES_SHARE:
                    below = False
            if below != as_bits:
                self._turn_to_bits() if below else self._turn_to_queue()
                as_bits = below
            inspected = self._ahead
            found = self._up() if below else self._down()
            if below:
                inspected = int(found[INSPECTED])
            unseen -= inspected
            if len(levels) < MOST_LEVELS:
                levels.append(Level(size, inspected, "up" if below else "down"))
            before, size = size, int(found[FOUND])
        return Bfs(self._parent, levels)

    def _launch(self, name: str, *arguments: object) -> Array:
        """Run a kernel on cleared counters; returns them."""
        self._counters.fill(0)
        self._program.launch(name, *arguments, self._counters)
        return self._gpu.on_host(self._counters)

    def _down(self) -> Array:
        graph = self._graph
        found = self._launch(
            "expand_down", graph.indptr, graph.indices, self._queue, np.int64(self._begin), np.int64(self._end),
            self._visited, self._parent,
        )  # fmt: skip
        self._begin, self._end = self._end, self._end + int(found[FOUND])
        self._ahead = int(found[AHEAD])
        return found

    def _up(self) -> Array:
        back = self._graph.reversed
        found = self._launch(
            "expand_up", back.indptr, back.indices, np.int64(self._graph.n), self._front, self._following,
            self._visited, self._parent,
        )  # fmt: skip
        self._front, self._following = self._following, self._front
        return found

    def _turn_to_bits(self) -> None:
        self._front.fill(0)
        self._program.launch("queue_to_bits", self._queue, np.int64(self._begin), np.int64(self._end), self._front)

    def _turn_to_queue(self) -> None:
        graph = self._graph
        found = self._launch("bits_to_queue", graph.indptr, np.int64(graph.n), self._front, self._queue)
        self._begin, self._end, self._ahead = 0, int(found[FOUND]), int(found[AHEAD])


def depths_on_gpu(parent: Array) -> Array:
    """The depth of every vertex below its root by pointer jumping; −1 where the parent is −1."""
    return depths(gpu_of(parent), parent)


def depths(gpu: Gpu, parent: Array) -> Array:
    """The same on a given device."""
    xp, n = gpu.xp, len(parent)
    program = gpu.program("tree.cu", VERTEX=np.int64, VALUE=np.int64)
    following = xp.where(parent < 0, xp.arange(n), parent).astype(np.int64)
    depth = (following != xp.arange(n)).astype(np.int64)
    for _ in range(max(n, 1).bit_length()):
        after, deeper = xp.empty_like(following), xp.empty_like(depth)
        program.launch("jump", np.int64(n), following, depth, after, deeper)
        if bool((deeper == depth).all()):
            break
        following, depth = after, deeper
    return xp.where(parent < 0, -1, depth).astype(parent.dtype)
