"""Breadth-first search on a GPU: the whole search is one launch."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from langford.irregular.arrays import Array, offset_type
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.levels import DIRECTIONS, MAX_LEVELS, Level, recorded_levels
from langford.irregular.rows import GraphRows, bare_rows, heads_of, sorted_rows, sources_of

CHUNK, SCRATCH = 256, 26
"""As in bfs.cu: edges of a chunk, and words of the counters."""
FEW_LEVELS = 64
"""Levels of the record that are fetched together with their number."""


class GpuGraph:
    """A graph on its GPU, with the arrays that all its searches share.

    Searches of one graph share their memory; those of several threads follow each other on the GPU.
    """

    def __init__(self, gpu: Gpu, graph: GraphRows) -> None:
        xp, n, self._vertex = gpu.xp, graph.n, graph.indices.dtype
        # A caller's own offsets may leave no room to count beyond the last edge.
        offset = np.result_type(graph.indptr.dtype, offset_type(graph.m))
        self._gpu, self._n = gpu, n
        self._program = gpu.meeting("bfs.cu", VERTEX=self._vertex, OFFSET=offset)
        words, chunks = (n + 31) // 32, 2 * graph.m // CHUNK + 1
        # Only arrays, not the graph: it keeps this, and both would stay in memory.
        self._rows, self._symmetric = (graph.indptr.astype(offset, copy=False), graph.indices), graph.symmetric
        self._memory = (
            xp.empty(n, self._vertex), *(xp.empty(words, np.uint32) for _ in range(3)),
            xp.empty(chunks, self._vertex), xp.empty(chunks, offset), gpu.zeros(SCRATCH, np.uint64),
        )  # fmt: skip

    @cached_property
    def below(self) -> tuple[Array, ...]:
        """The arrays for a search from below (below.cuh); those of a directed graph are sorted again."""
        indptr, indices = self._rows
        if not self._symmetric:
            offset = indptr.dtype
            indptr, indices, _ = sorted_rows(self._n, indices, sources_of(indptr, indices), symmetric=False)
            indptr = indptr.astype(offset, copy=False)
        return indptr, indices, heads_of(indptr, indices), bare_rows(indptr)

    def start(self, root: int, direction: str) -> tuple[Array, Array]:
        """Start a search, and do not wait for it: the parents, and the record (bfs.cu)."""
        xp, indices = self._gpu.xp, self._rows[1]
        # A search from above does not read the rest.
        below = (*self._rows, indices, self._memory[1]) if direction == "down" else self.below
        parent, record = xp.empty(self._n, self._vertex), xp.empty(1 + 3 * MAX_LEVELS, np.int64)
        self._program.launch(
            "search", *self._rows, *below, np.int64(self._n), np.int64(len(indices)), *self._memory,
            np.int64(root), np.int64(DIRECTIONS[direction]), parent, record,
        )  # fmt: skip
        return parent, record

    def search(self, root: int, direction: str) -> tuple[Array, list[Level]]:
        """The parents and the levels of a search, as langford.irregular.Bfs has them; ``direction`` as in bfs."""
        parent, record = self.start(root, direction)
        counts = self._gpu.on_host(record[: 1 + 3 * FEW_LEVELS])
        if counts[0] > FEW_LEVELS:
            counts = self._gpu.on_host(record)
        return parent, recorded_levels(counts[1:].reshape(-1, 3)[: counts[0]])
