"""One rank's block of a partitioned graph, made on its GPU from the lists of edges of all ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from langford.irregular.arrays import Array, offset_type, stable_order
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.graphs.partition import BlockGrid, Communicator

TOLD = 8
"""Words after a bitmap, as in partition.cu."""
SENT, SORTED = 2**25, 2**28
"""Edges of its list that a rank sends at a time, and about how many it sorts at a time: they limit the memory."""


@dataclass(frozen=True)
class SparseRows:
    """Compressed sparse rows.

    Attributes:
        indptr: where each row begins, int32 or int64.
        indices: what the rows hold.
    """

    indptr: Array
    indices: Array


@dataclass(frozen=True)
class EdgeBlock:
    """The edges from a column of chunks to a row of them, both ways, without loops and multiple edges.

    A target has its number within the row.  Sources are numbered chunk by chunk of the column, with a gap after
    each that is as long as what a rank sends after its bitmap.

    Attributes:
        down: the targets of each source.
        up: the sources of each target, those of many edges first.
        sources, targets: numbers of the block, gaps included.
        edges: of all blocks.
        degrees: edges of each target in all blocks of the row.
    """

    down: SparseRows
    up: SparseRows
    sources: int
    targets: int
    edges: int
    degrees: Array


def stride(grid: BlockGrid) -> int:
    """From a source to that of the same place in the next chunk."""
    return grid.chunk + 32 * TOLD


def vertex_kind(n: int, grid: BlockGrid) -> DTypeLike:
    """The type of vertices and of numbers within a block."""
    return offset_type(max(n, grid.rows * stride(grid), grid.columns * grid.chunk))


def block_of(
    gpu: Gpu, world: Communicator, along_row: Communicator, along_column: Communicator, n: int, grid: BlockGrid,
    sources: Array, targets: Array,
) -> EdgeBlock:  # fmt: skip
    """The block of this rank; all ranks call this with their shares of the list of edges."""
    xp, kind = gpu.xp, vertex_kind(n, grid)
    width, height = grid.rows * stride(grid), grid.columns * grid.chunk
    received = _received(gpu, world, grid, sources, targets)
    degrees = xp.zeros(height, kind)
    for keys in received:
        degrees += xp.bincount(keys // width, minlength=height).astype(kind)
    # Rank i·C + j owns chunk j of its row, and that is chunk i of its column.
    owned = xp.zeros(stride(grid), kind)
    first = along_row.rank * grid.chunk
    owned[: grid.chunk] = along_row.merge(degrees, "sum")[first : first + grid.chunk]
    of_sources = xp.empty(width, kind)
    along_column.all_gather(owned, of_sources)
    sequence = stable_order(-of_sources).astype(kind)
    place = xp.empty_like(sequence)
    place[sequence] = xp.arange(width, dtype=kind)

    def by_target(keys: Array, first: int, last: int) -> Array:
        keys = keys[(keys >= first * width) & (keys < last * width)]
        target = keys // width
        return target * width + place[keys - target * width]

    def by_source(keys: Array, first: int, last: int) -> Array:
        source = keys % width
        inside = (source >= first) & (source < last)
        return source[inside] * height + keys[inside] // width

    up = _compressed(gpu, received, sequence, height, by_target)
    down = _compressed(gpu, received, xp.arange(height, dtype=kind), width, by_source)
    edges = int(world.merge(np.array([len(up.indices)], np.int64), "sum")[0])
    degrees = along_row.merge((up.indptr[1:] - up.indptr[:-1]).astype(kind), "sum")
    return EdgeBlock(down, up, width, height, edges, degrees)


def _received(gpu: Gpu, world: Communicator, grid: BlockGrid, sources: Array, targets: Array) -> list[Array]:
    """What the ranks have for this one, in arrays of target · sources of the block + source, without loops."""
    xp, width = gpu.xp, grid.rows * stride(grid)
    turns = int(world.merge(np.array([-(-len(sources) // SENT)], np.int64), "max")[0])
    received: list[Array] = []
    for turn in range(turns):
        some, others = (gpu.put(array[turn * SENT : (turn + 1) * SENT], np.int64) for array in (sources, targets))
        unlike = some != others
        ways = (some[unlike], others[unlike]), (others[unlike], some[unlike])
        source, target = (xp.concatenate(ends) for ends in ways)
        owners = grid.owner_of_edge(source, target)
        from_chunk, in_row = source // grid.chunk, target % (grid.columns * grid.chunk)
        keys = in_row * width + from_chunk // grid.columns * stride(grid) + source % grid.chunk
        received += world.exchange([keys[owners == rank] for rank in range(world.size)])
    return [keys for keys in received if len(keys)]


def _compressed(
    gpu: Gpu, received: list[Array], names: Array, lines: int, chosen: Callable[[Array, int, int], Array]
) -> SparseRows:
    """Rows without repeats, their entries in the order of ``names``.

    Args:
        gpu: where they are.
        received: the edges.
        names: the entries that there can be.
        lines: number of rows.
        chosen: of some edges those of the lines first … last − 1, as line · len(names) + place of the entry.
    """
    xp: Any = gpu.xp
    others = len(names)
    total = sum(map(len, received))
    indptr, indices = xp.zeros(lines + 1, np.int64), xp.empty(total, names.dtype)
    step = max(1, lines * SORTED // max(total, 1))
    used = 0
    for first in range(0, lines if total else 0, step):
        last = min(first + step, lines)
        keys = xp.concatenate([chosen(some, first, last) for some in received])
        keys.sort()
        new = xp.ones(len(keys), bool)
        new[1:] = keys[1:] != keys[:-1]
        keys = keys[new]
        indptr[first + 1 : last + 1] = used
        if len(keys):
            indptr[first + 1 : last + 1] += xp.searchsorted(keys, xp.arange(first + 1, last + 1) * others)
        indices[used : used + len(keys)] = names[keys % others]
        used += len(keys)
    return SparseRows(indptr.astype(offset_type(used)), indices[:used])
