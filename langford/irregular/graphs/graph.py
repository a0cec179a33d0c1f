"""Directed graphs as compressed sparse rows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from langford.errors import BadInput, whole
from langford.irregular.arrays import Array, module_of, offset_type, on_gpu, require_indices, stable_order
from langford.irregular.cpu.graph import count_rows, fill_rows, transpose, without_repeats
from langford.irregular.errors import BadGraph
from langford.irregular.rows import sorted_rows, sources_of

if TYPE_CHECKING:
    from langford.irregular.cuda.bfs import GpuGraph


class Graph:
    """A directed graph: row v lists the targets of the edges that leave vertex v.

    Loops and multiple edges are allowed.

    Attributes:
        indptr: where each row begins, int32 or int64[n + 1].
        indices: the targets, int32 or int64[m].
        symmetric: whether the graph was made with every edge's reverse.
        order: the number of each edge in the list that the graph was made from, int64[m], so that
            ``weights[graph.order]`` are the weights in the order of ``indices``; None for a symmetric graph, and
            for one that was made from rows.
    """

    def __init__(self, indptr: Array, indices: Array) -> None:
        """A graph of compressed rows; raises BadInput or BadGraph.

        Args:
            indptr: where each row begins, int32 or int64[n + 1].
            indices: the targets, int32 or int64[m].
        """
        require_indices("indptr", indptr)
        require_indices("indices", indices)
        module_of(indptr, indices)
        if len(indptr) == 0 or int(indptr[0]) != 0:
            raise BadGraph("a graph of n vertices needs n + 1 offsets, of which the first is 0")
        falling = indptr[1:] < indptr[:-1]
        if bool(falling.any()):
            raise BadGraph(
                f"the offsets decrease after vertex {int(falling.argmax())}: sort the edges by their source"
            )
        if int(indptr[-1]) != len(indices):
            raise BadGraph(
                f"the last offset is {int(indptr[-1])} and there are {len(indices)} targets: they must be equal"
            )
        xp = module_of(indptr)
        self.indptr, self.indices = xp.ascontiguousarray(indptr), xp.ascontiguousarray(indices)
        self.symmetric = False
        self.order: Array | None = None
        require_vertices("target", indices, self.n)

    @classmethod
    def from_edges(cls, n: int, sources: Array, targets: Array, symmetric: bool = False) -> Self:
        """The graph of n vertices with these edges, in their order within each row.

        Args:
            n: number of vertices.
            sources, targets: of each edge, int32 or int64[·].
            symmetric: add the reverse of every edge; a loop remains one edge.

        Raises BadInput or BadGraph.
        """
        require_indices("sources", sources)
        require_indices("targets", targets)
        module_of(sources, targets)
        n = whole("the number of vertices", n, BadGraph)
        if n < 0:
            raise BadGraph(f"a graph has {n} vertices: give 0 or more")
        if len(sources) != len(targets):
            raise BadGraph(f"{len(sources)} sources and {len(targets)} targets: give one of each per edge")
        require_vertices("source", sources, n)
        require_vertices("target", targets, n)
        graph = cls.__new__(cls)
        graph.symmetric = symmetric
        if on_gpu(sources):
            graph.indptr, graph.indices, graph.order = sorted_rows(n, sources, targets, symmetric)
            return graph
        loops = int((sources == targets).sum()) if symmetric else 0
        edges = 2 * len(sources) - loops if symmetric else len(sources)
        graph.indptr = np.zeros(n + 1, offset_type(edges))
        graph.indices = np.empty(edges, targets.dtype)
        order = np.empty(0 if symmetric else edges, np.int64)
        count_rows(sources, targets[targets != sources] if symmetric else targets[:0], graph.indptr)
        fill_rows(sources, targets, symmetric, graph.indptr, graph.indices, order)
        graph.order = None if symmetric else order
        return graph

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.indptr) - 1

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.indices)

    @property
    def degrees(self) -> Array:
        """Edges that leave each vertex, [n]."""
        return self.indptr[1:] - self.indptr[:-1]

    @property
    def sources(self) -> Array:
        """The source of each edge, [m]."""
        return sources_of(self.indptr, self.indices)

    @cached_property
    def reversed(self) -> Graph:
        """The graph with all edges turned round; itself when it is symmetric."""
        if self.symmetric:
            return self
        if on_gpu(self.indptr):
            return Graph.from_edges(self.n, self.indices, self.sources)
        return self._transposed(np.arange(self.n, dtype=self.indices.dtype))

    @cached_property
    def gpu_graph(self) -> GpuGraph:
        """The arrays for searches of this graph on its GPU, made once."""
        from langford.irregular.cuda.bfs import GpuGraph
        from langford.irregular.cuda.gpu import gpu_of

        return GpuGraph(gpu_of(self.indptr), self)

    def _transposed(self, sequence: Array) -> Graph:
        graph = Graph.__new__(Graph)
        graph.indptr, graph.indices = np.zeros_like(self.indptr), np.empty_like(self.indices)
        graph.symmetric, graph.order = self.symmetric, None
        transpose(self.indptr, self.indices, sequence, graph.indptr, graph.indices)
        return graph

    def simple(self) -> Graph:
        """The symmetric graph without loops and multiple edges; each row lists vertices of many edges first.

        A search from below meets those first.  Raises BadGraph unless the graph is symmetric.
        """
        if not self.symmetric:
            raise BadGraph("only symmetric graphs have a simple form: create the graph with symmetric=True")
        xp = module_of(self.indptr)
        sequence = stable_order(-self.degrees).astype(self.indices.dtype)
        if xp is not np:
            return self._simple_on_gpu(xp, sequence)
        graph = self._transposed(sequence)
        indptr = np.zeros_like(graph.indptr)
        left = without_repeats(graph.indptr, graph.indices, indptr)
        graph.indptr, graph.indices = indptr, graph.indices[:left].copy()
        return graph

    def _simple_on_gpu(self, xp: Array, sequence: Array) -> Graph:
        """By two stable sorts: by the rank of the neighbour, then by the row."""
        rank = xp.empty_like(sequence)
        rank[sequence] = xp.arange(self.n, dtype=sequence.dtype)
        sources = self.sources
        other = sources != self.indices
        keys = xp.unique(sources[other].astype(xp.int64) * self.n + rank[self.indices[other]])
        graph = Graph.from_edges(self.n, (keys // self.n).astype(sequence.dtype), sequence[keys % self.n])
        graph.symmetric, graph.order = True, None
        return graph


def require_root(root: int, n: int) -> None:
    """Raises BadInput unless the root of a search is a vertex."""
    if not 0 <= root < n:
        raise BadInput(f"the root {root} is not a vertex: there are {n:,}, numbered from 0")


def require_vertices(what: str, vertices: Array, n: int) -> None:
    """Raises BadGraph unless all are vertices."""
    if len(vertices) == 0:
        return
    low, high = int(vertices.min()), int(vertices.max())
    if low < 0 or high >= n:
        wrong = low if low < 0 else high
        raise BadGraph(f"{what} {wrong} is not a vertex: there are {n:,}, numbered from 0")
