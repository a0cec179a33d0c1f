"""Breadth-first search over a graph split into blocks, each on the GPU of its rank."""

from __future__ import annotations

from itertools import count

import numpy as np

from langford.irregular.arrays import Array, on_host
from langford.irregular.cuda.bfs import CHUNK, FEW_LEVELS
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.graphs.gpu_blocks import TOLD, block_of, stride, vertex_kind
from langford.irregular.graphs.graph import require_root
from langford.irregular.graphs.partition import BlockGrid, Communicator
from langford.irregular.levels import DIRECTIONS, MAX_LEVELS, Direction, Level, recorded_levels
from langford.irregular.rows import bare_rows, heads_of

MAX_ROWS = 8
"""Rows of blocks, at most: a search from below is done at a target's first parent only if its row is not split,
and GPUs of one host send bitmaps quickly."""
PROGRESS = 16
"""Words of what a search remembers from level to level, and more than partition.cu has."""


class PartitionedOnGpu:
    """This rank's block of a graph; what langford.irregular.graphs.partition.PartitionedGraph is on a core.

    Attributes:
        n: vertices of the whole graph.
        grid: the blocks.
        connected: vertices of the whole graph that have an edge to another, int64[·], on the host.
    """

    def __init__(
        self, gpu: Gpu, world: Communicator, n: int, sources: Array, targets: Array, most_rows: int = MAX_ROWS
    ) -> None:
        """Build the block from all ranks' edges, both ways, without loops and multiple edges; all ranks call this.

        Args:
            gpu: of this rank, where it works from now on.
            world: all ranks; for arrays of that GPU, and of the host.
            n: number of vertices.
            sources, targets: this rank's share of the list of edges, in any order, on the GPU.
            most_rows: rows of blocks, at most.
        """
        self.n, self.grid = n, BlockGrid.of(n, world.size, most_rows)
        self._gpu, self._world, grid, xp = gpu, world, self.grid, gpu.xp
        self._row, self._column = divmod(world.rank, grid.columns)
        self._along_row = world.split(self._row, self._column)
        self._along_column = world.split(grid.rows + self._column, self._row)
        self._block = block = block_of(gpu, world, self._along_row, self._along_column, n, grid, sources, targets)
        self._kind = vertex_kind(n, grid)
        self._program = gpu.meeting("partition.cu", VERTEX=self._kind, OFFSET=block.up.indptr.dtype)
        self._closed = bare_rows(block.up.indptr)
        self._heads = heads_of(block.up.indptr, block.up.indices)
        self._visited = xp.empty_like(self._closed)
        self._following = gpu.zeros(block.targets // 32 + TOLD, np.uint32)
        self._front = xp.empty(block.sources // 32, np.uint32)
        self._own, self._parts = self._following, self._following
        if grid.columns > 1:
            self._own = gpu.zeros(grid.chunk // 32 + TOLD, np.uint32)
            self._parts = xp.empty(grid.columns * len(self._following), np.uint32)
        chunks = 2 * len(block.down.indices) // CHUNK + 1
        self._lists = xp.empty(chunks, self._kind), xp.empty(chunks, block.up.indptr.dtype)
        self._queue = xp.empty(block.sources, self._kind)
        self._progress, self._record = gpu.zeros(PROGRESS, np.uint64), gpu.zeros(1 + 3 * MAX_LEVELS, np.int64)
        self._shortest: int | None = None
        self.connected = on_host(xp.flatnonzero(self.gather((self._owned(block.degrees) > 0).view(np.uint8))))

    def search(self, root: int, direction: Direction = "auto") -> tuple[Array, list[Level]]:
        """The parents of this rank's chunk (PartitionedOnGpu.gather makes them whole), and the levels.

        Every rank calls this.  The first level goes from above, however many edges it has, unless the direction
        is "up".  The host checks whether the search is over only after as many levels as the shortest search had.

        Raises BadInput.
        """
        require_root(root, self.n)
        grid, block, launch = self.grid, self._block, self._program.launch
        chunk, within = divmod(root, grid.chunk)
        row, column = divmod(chunk, grid.columns)
        target = root - row * block.targets if row == self._row else -1
        source = row * stride(grid) + within if column == self._column else -1
        parent = self._gpu.xp.empty(block.targets, self._kind)
        shape = tuple(map(np.int64, (block.targets, grid.chunk, grid.rows, grid.columns, self._column)))
        launch(
            "start_search", np.int64(block.targets), np.int64(len(self._front)), np.int64(root), np.int64(target),
            np.int64(source), np.int64(grid.chunk), np.int64(block.edges), parent, self._visited, self._front,
            self._progress, self._record,
        )  # fmt: skip
        of_level = (
            block.down.indptr, block.down.indices, block.up.indptr, block.up.indices, self._heads, self._closed,
            np.int64(self.n), *shape, np.int64(DIRECTIONS[direction]), block.degrees, parent, self._queue,
            self._visited, self._front, self._following, self._own, *self._lists, self._progress, self._record,
        )  # fmt: skip
        of_row = (
            self._parts, np.int64(grid.columns), np.int64(block.targets), np.int64(self._column * grid.chunk),
            np.int64(grid.chunk), block.degrees, self._progress, self._visited, self._own,
        )  # fmt: skip
        for level in count():
            launch("search_level", *of_level)
            if level >= (self._shortest or 0):
                record = self._gpu.on_host(self._record[: 1 + 3 * FEW_LEVELS])
                if record[0]:
                    break
            if grid.columns > 1:
                self._along_row.all_gather(self._following, self._parts)
                launch("unite_row", *of_row)
            self._along_column.all_gather(self._own, self._front)
        number = int(record[0])
        self._shortest = min(number, self._shortest or number)
        if grid.columns > 1:
            parent = self._along_row.merge(parent, "max")
            self._gpu.wait()
        if number > FEW_LEVELS:
            record = self._gpu.on_host(self._record)
        return self._owned(parent), recorded_levels(record[1:].reshape(-1, 3)[:number])

    def gather(self, own: Array) -> Array:
        """The chunks of all ranks as one array, [n]; every rank calls this."""
        whole = self._gpu.xp.empty(self._world.size * self.grid.chunk, own.dtype)
        self._world.all_gather(own, whole)
        return whole[: self.n]

    def _owned(self, of_row: Array) -> Array:
        """This rank's part of an array over its row."""
        first = self._column * self.grid.chunk
        return of_row[first : first + self.grid.chunk]
