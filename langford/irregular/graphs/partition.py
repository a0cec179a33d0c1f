"""Breadth-first search over a matrix split into R × C blocks, one per rank (Loiseau's thesis, section 2.4.2).

Rank i·C + j has the edges from the vertices of column j to those of row i.  It owns one of R·C chunks of vertices;
row i has the chunks of its ranks, column j those of its own.  Each level marks what the frontier reaches in a
bitmap of the row; the bitmaps are united along the rows, and each rank's chunk is sent along its column: the next
frontier.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array
from langford.irregular.cpu.bfs import goes_below
from langford.irregular.cpu.partition import edges_of_front, expand_down, expand_up
from langford.irregular.graphs.graph import Graph, require_root
from langford.irregular.levels import Direction, Level


class Communicator(Protocol):
    """The ranks of a program, or some of them.  Results are where the arrays were: on the host, or on a GPU.

    Attributes:
        rank: of this one, from 0.
        size: how many there are.
    """

    rank: int
    size: int

    def split(self, colour: int, key: int) -> Self:
        """The ranks that give the same colour, in the order of their keys."""
        ...

    def all_gather(self, part: Array, whole: Array) -> None:
        """Fill ``whole`` with the parts of all ranks, by rank, which all have the same length and type."""
        ...

    def exchange(self, arrays: list[Array]) -> list[Array]:
        """Send one array to each rank; returns what they sent to this one, by rank."""
        ...

    def merge(self, array: Array, by: Literal["or", "max", "sum"]) -> Array:
        """The arrays of all ranks, of one shape and type, combined element by element."""
        ...


@dataclass(frozen=True)
class BlockGrid:
    """Rows and columns of blocks, and the vertices of each.

    Attributes:
        rows, columns: R and C.
        chunk: vertices that each rank owns, a multiple of 64; the last ones may be more than there are.
    """

    rows: int
    columns: int
    chunk: int

    @classmethod
    def of(cls, n: int, size: int, most_rows: int | None = None) -> BlockGrid:
        """The grid for n vertices on ``size`` ranks: as near to a square as their number allows.

        ``most_rows``: as many rows as their number allows up to this one, instead.
        """
        rows = next(rows for rows in range(most_rows or isqrt(size), 0, -1) if size % rows == 0)
        return cls(rows, size // rows, -(-max(n, 1) // (64 * size)) * 64)

    def owner_of_edge(self, sources: Array, targets: Array) -> Array:
        """The rank of each edge's block."""
        return targets // (self.columns * self.chunk) * self.columns + sources // self.chunk % self.columns


class PartitionedGraph:
    """This rank's block of a graph.

    Attributes:
        n: vertices of the whole graph.
        grid: the blocks.
        connected: vertices of the whole graph that have an edge to another, int64[·].
    """

    def __init__(
        self,
        world: Communicator,
        n: int,
        sources: NDArray[Any],
        targets: NDArray[Any],
    ) -> None:
        """Build the block from all ranks' edges, both ways, without loops and multiple edges; all ranks call this.

        Args:
            world: all ranks.
            n: number of vertices.
            sources, targets: this rank's share of the list of edges, in any order.
        """
        self.world, self.n, self.grid = world, n, BlockGrid.of(n, world.size)
        grid = self.grid
        self._row, self._column = divmod(world.rank, grid.columns)
        self._along_row = world.split(self._row, self._column)
        self._along_column = world.split(grid.rows + self._column, self._row)
        other = sources != targets
        some, others = sources[other], targets[other]
        both = np.concatenate([some, others]), np.concatenate([others, some])
        owner = grid.owner_of_edge(*both)
        order = np.argsort(owner, kind="stable")
        ends = np.searchsorted(owner[order], np.arange(1, world.size))
        mine = [np.concatenate(world.exchange(np.split(array[order], ends))) for array in both]
        # Numbers within the block.
        rows = mine[1].astype(np.int64) - self._row * grid.columns * grid.chunk
        chunks, within = np.divmod(mine[0].astype(np.int64), grid.chunk)
        columns = chunks // grid.columns * grid.chunk + within
        self._row_size, self._column_size = grid.columns * grid.chunk, grid.rows * grid.chunk
        keys = np.unique(columns * self._row_size + rows)
        size = max(self._row_size, self._column_size)
        kind = np.int32 if size < 2**31 else np.int64
        numbers: list[Array] = [part.astype(kind) for part in np.divmod(keys, self._row_size)]
        self._down = Graph.from_edges(size, *numbers)
        self._up = Graph.from_edges(size, *numbers[::-1])
        self._edges = int(world.merge(np.array([len(keys)]), "sum")[0])
        degrees = np.bincount(numbers[1], minlength=self._row_size)
        in_row = self._along_row.merge(degrees, "sum")
        self.connected = np.flatnonzero(self.gather(self._own(in_row)))

    def search(self, root: int, direction: Direction = "auto") -> tuple[NDArray[np.int64], list[Level]]:
        """The parents of this rank's chunk (PartitionedGraph.gather makes them whole), and the levels.

        Every rank calls this.  Raises BadInput.
        """
        require_root(root, self.n)
        chunk, columns = self.grid.chunk, self.grid.columns
        front: Array = np.zeros(self._column_size // 64, np.int64)
        visited: Array = np.zeros(self._row_size // 64, np.int64)
        parent = np.full(self._row_size, -1, np.int64)
        at = root - self._row * self._row_size
        if 0 <= at < self._row_size:
            _set_bit(visited, at)
            parent[at] = root
        owner, within = divmod(root, chunk)
        if owner % columns == self._column:
            _set_bit(front, owner // columns * chunk + within)
        levels: list[Level] = []
        size, before, unseen, below = 1, 0, self._edges, direction == "up"
        while size:
            if direction == "auto":
                ahead = self._sum(edges_of_front(self._down.indptr, front))
                below = goes_below(below, ahead, unseen, size, before, self.n)
            following: Array = np.zeros_like(visited)
            expand, block = (expand_up, self._up) if below else (expand_down, self._down)
            looked_at = expand(
                block.indptr, block.indices, front, visited, following, parent, chunk, columns, self._column
            )
            inspected = self._sum(looked_at)
            levels.append(Level(size, inspected, "up" if below else "down"))
            unseen -= inspected
            following = self._along_row.merge(following, "or")
            visited |= following
            own = self._own(following)
            self._along_column.all_gather(own, front)
            before, size = size, self._sum(int(np.bitwise_count(own.view(np.uint64)).sum()))
        return self._own(self._along_row.merge(parent, "max")), levels

    def gather(self, own: NDArray[Any]) -> NDArray[Any]:
        """The chunks of all ranks as one array, [n]; every rank calls this."""
        whole = np.empty(self.world.size * self.grid.chunk, own.dtype)
        self.world.all_gather(own, whole)
        return whole[: self.n]

    def _own(self, of_row: NDArray[Any]) -> NDArray[Any]:
        """This rank's part of an array, or a bitmap, over its row."""
        part = len(of_row) // self.grid.columns
        return np.ascontiguousarray(of_row[self._column * part : (self._column + 1) * part])

    def _sum(self, number: int) -> int:
        return int(self.world.merge(np.array([number], np.int64), "sum")[0])


def _set_bit(words: NDArray[np.int64], place: int) -> None:
    words[place >> 6] |= np.left_shift(np.int64(1), np.int64(place & 63))
