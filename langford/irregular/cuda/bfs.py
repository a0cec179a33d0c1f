"""Breadth-first search on a GPU: the whole search is one launch."""

from __future__ import annotations

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.bfs import DIRECTIONS, MOST_LEVELS, Bfs, Level
from langford.irregular.cuda.gpu import Gpu, gpu_of
from langford.irregular.graph import Graph

CHUNK, SCRATCH = 1024, 26
"""As in bfs.cu: edges of a chunk, and words of the counters."""
FEW_LEVELS = 64
"""Levels of which the record is fetched with the number of levels."""


def bfs_on_gpu(graph: Graph, root: int, direction: str) -> Bfs:
    """As langford.irregular.bfs.bfs, for a graph of CuPy's arrays."""
    return search(gpu_of(graph.indptr), graph, root, direction)


def search(gpu: Gpu, graph: Graph, root: int, direction: str) -> Bfs:
    """Search breadth first from a vertex; ``direction`` as in bfs."""
    xp, n, vertex, offset = gpu.xp, graph.n, graph.indices.dtype, graph.indptr.dtype
    back = graph if direction == "down" else graph.reversed
    words, chunks = (n + 31) // 32, 2 * graph.m // CHUNK + 1
    parent = xp.empty(n, vertex)
    record = xp.empty(1 + 3 * MOST_LEVELS, np.int64)
    program = gpu.meeting("bfs.cu", VERTEX=vertex, OFFSET=offset)
    program.launch(
        "search", graph.indptr, graph.indices, back.indptr, back.indices, np.int64(n), np.int64(graph.m),
        np.int64(root), np.int64(DIRECTIONS[direction]), back.without_edges, parent, xp.empty(n, vertex),
        *(xp.empty(words, np.uint32) for _ in range(3)), xp.empty(chunks, vertex), xp.empty(chunks, offset),
        gpu.zeros(SCRATCH, np.uint64), record,
    )  # fmt: skip
    told = gpu.on_host(record[: 1 + 3 * FEW_LEVELS])
    if told[0] > FEW_LEVELS:
        told = gpu.on_host(record)
    levels = told[1:].reshape(-1, 3)[: told[0]].tolist()
    return Bfs(parent, [Level(size, seen, "up" if way else "down") for size, seen, way in levels])


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
