"""The Graph500 benchmark's protocol on one device: searches from random roots, each checked by five rules."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langford.errors import CheckFailed
from langford.irregular.arrays import (
    Array,
    module_of,
    on_host,
    require_indices,
    require_length,
    steps_to_end,
)
from langford.irregular.errors import BadGraph, TooLarge
from langford.irregular.graphs.bfs import bfs
from langford.irregular.graphs.graph import Graph, require_root, require_vertices
from langford.irregular.graphs.kronecker import edges_bytes, kronecker, require_scale
from langford.irregular.memory import require_memory
from langford.irregular.places import place_of

MAX_ON_GPU = 2**30
"""Edges that a GPU makes a simple graph of at once: CuPy chooses among fewer than 2³¹ numbers only."""
CHECKED = 2**22
"""Edges that are checked at once."""
RULES = {
    1: "the parents form a tree whose root is its own parent",
    2: "a vertex is one level below its parent",
    3: "an edge joins vertices of the same level or of neighbouring ones",
    4: "an edge joins two reached vertices or none",
    5: "a vertex and its parent are joined by an edge",
}
"""What every search must satisfy."""


def check_bfs(sources: Array, targets: Array, root: int, parent: Array, depth: Array | None = None) -> int:
    """Check the tree of a search in an undirected graph; returns the number of edges traversed.

    Args:
        sources, targets: the list of edges that the graph was made from, int32 or int64[·].
        root: where the search began.
        parent: of each vertex, int32 or int64[n]; −1: not reached.
        depth: of each vertex, [n]; computed from ``parent`` when it is not given.

    The edges traversed are those of the list inside the tree's component, multiples and loops too.
    Raises CheckFailed, which names the rule that is broken, or BadInput, BadGraph.
    """
    module_of(sources, targets, parent)
    for name, array in (("sources", sources), ("targets", targets), ("parent", parent)):
        require_indices(name, array)
    require_length("targets", targets, len(sources), "source")
    for name, array in (("source", sources), ("target", targets)):
        require_vertices(name, array, len(parent))
    require_root(root, len(parent))
    levels = levels_of(root, parent)
    if depth is not None:
        require_length("depth", depth, len(parent), "vertex")
        agree = bool((depth == levels).all())
        _require(2, agree, "a depth differs from the number of parents above its vertex")
    traversed, joined = check_edges(sources, targets, parent, levels)
    require_joined(root, parent, joined)
    return traversed


def require_joined(root: int, parent: Array, joined: Array) -> None:
    """Rule 5: ``joined`` says which vertices an edge joins with their parent, bool[n]; raises CheckFailed."""
    alone = (parent >= 0) & ~joined
    alone[root] = False
    places = module_of(parent).flatnonzero(alone)
    _require(5, len(places) == 0, f"none joins {int(places[0])} and its parent" if len(places) else "")


def levels_of(root: int, parent: Array) -> Array:
    """Parents above each vertex, int64[n], −1 where not reached; raises CheckFailed for rules 1 and 2."""
    xp = module_of(parent)
    n = len(parent)
    _require(1, int(parent.max()) < n and int(parent.min()) >= -1, "a parent is not a vertex")
    _require(1, int(parent[root]) == root, f"the root {root} has the parent {int(parent[root])}")
    reached = parent >= 0
    above = xp.where(reached, parent, xp.arange(n))
    _require(1, bool(reached[above[reached]].all()), "the parent of a reached vertex is not reached")
    levels, above = steps_to_end(above)
    # What is not below the root now runs in a circle, or ends at another root.
    astray = xp.flatnonzero(reached & (above != root))
    _require(1, len(astray) == 0, f"the parents of {int(astray[0])} do not lead to the root" if len(astray) else "")
    return xp.where(reached, levels, -1)


def check_edges(sources: Array, targets: Array, parent: Array, levels: Array) -> tuple[int, Array]:
    """Check rules 3 and 4 on some of the edges.

    Returns the number of edges traversed, and which vertices an edge joins with their parent, bool[n].
    Raises CheckFailed.
    """
    xp = module_of(parent)
    joined = xp.zeros(len(parent), bool)
    traversed = 0
    for first in range(0, len(sources), CHECKED):
        some, others = sources[first : first + CHECKED], targets[first : first + CHECKED]
        of_some, of_others = levels[some], levels[others]
        inside = (of_some >= 0) & (of_others >= 0)
        torn = xp.flatnonzero((of_some >= 0) != (of_others >= 0))
        _require(4, len(torn) == 0, _edge(some, others, torn))
        torn = xp.flatnonzero(xp.abs(of_some - of_others) > 1)
        _require(3, len(torn) == 0, _edge(some, others, torn))
        traversed += int(inside.sum())
        joined[others[parent[others] == some]] = True
        joined[some[parent[some] == others]] = True
    return traversed, joined


def _edge(sources: Array, targets: Array, places: Array) -> str:
    """The first of some edges, as text."""
    return f"not {int(sources[places[0]])} and {int(targets[places[0]])}" if len(places) else ""


def _require(rule: int, holds: bool, otherwise: str) -> None:
    """Raises CheckFailed unless the rule holds."""
    if not holds:
        raise CheckFailed(f"the search breaks rule {rule}: {RULES[rule]}; {otherwise}; search again, and report it")


@dataclass(frozen=True)
class Search:
    """One search of the protocol.

    Attributes:
        root: where it began.
        reached: vertices of the tree.
        edges: edges of the list inside the component.
        seconds: the search alone.
        valid: whether the five rules hold.
        frontiers: vertices of each level.
    """

    root: int
    reached: int
    edges: int
    seconds: float
    valid: bool
    frontiers: list[int]


@dataclass(frozen=True)
class Graph500:
    """The results of the protocol.

    Attributes:
        scale, edgefactor, seed: of the graph.
        construction: seconds from the list of edges to the graph.
        checking: seconds of all checks.
        searches: one per root.
    """

    scale: int
    edgefactor: int
    seed: int
    construction: float
    checking: float
    searches: list[Search]

    @property
    def gteps(self) -> float:
        """Harmonic mean over the searches of the edges traversed per second, in 10⁹."""
        if not self.searches or any(search.edges == 0 for search in self.searches):
            return 0.0
        return len(self.searches) / sum(search.seconds / search.edges for search in self.searches) / 1e9

    def document(self) -> dict[str, Any]:
        """The results for JSON."""
        return {
            "scale": self.scale,
            "edgefactor": self.edgefactor,
            "seed": self.seed,
            "construction_seconds": self.construction,
            "checking_seconds": self.checking,
            "gteps": self.gteps,
            "searches": [vars(search) for search in self.searches],
        }


def roots_among(connected: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """Some of the vertices that have an edge, at random; all of them when there are no more than ``count``.

    Raises BadGraph when there is none.
    """
    if len(connected) == 0:
        raise BadGraph("no vertex has an edge to another: choose a larger scale, edgefactor or another seed")
    return np.random.default_rng(seed).permutation(connected)[:count]


def graph500(scale: int, roots: int = 64, edgefactor: int = 16, seed: int = 1, device: str = "cpu") -> Graph500:
    """Run the protocol: generation, timed construction, and searches from vertices with an edge, each checked.

    Args:
        scale, edgefactor, seed: of the graph, as for :func:`langford.irregular.kronecker`.
        roots: how many searches.
        device: "cpu" for one core, "cuda" for GPU 0.

    Raises TooLarge before anything is generated, BadGraph, BadInput, CheckFailed, NoGpu.
    """
    require_scale(scale, edgefactor)
    place = place_of(device)
    if place.on_gpu and edgefactor << scale > MAX_ON_GPU:
        raise TooLarge(
            f"Graph500 at scale {scale} has more than {MAX_ON_GPU:,} edges, too many for one GPU without --mpi: "
            "use --mpi, even with one GPU"
        )
    # The list, the graph twice while it is made simple (a GPU sorts 64-bit keys), and some arrays per vertex; on a
    # core perhaps rather the list, the graph and what checks some edges.
    once = edges_bytes(scale, edgefactor)
    needed = (64 << scale) + 10 * once
    if not place.on_gpu:
        needed = (64 << scale) + max(5 * once, 3 * once + 40 * min(edgefactor << scale, CHECKED))
    require_memory(f"Graph500 at scale {scale}", needed, place.free_bytes())
    sources, targets = kronecker(scale, edgefactor, seed, device)
    place.wait()
    started = time.perf_counter()
    graph = Graph.from_edges(1 << scale, sources, targets, symmetric=True).simple()
    place.wait()
    construction = time.perf_counter() - started
    if place.on_gpu:
        on_its_gpu = graph.gpu_graph  # compiles the kernel, which is no part of the construction
        started = time.perf_counter()
        _ = on_its_gpu.below
        place.wait()
        construction += time.perf_counter() - started
    bfs(graph, 0)  # loads the kernel
    connected = on_host(module_of(sources).flatnonzero(graph.degrees))
    searches, checking = [], 0.0
    for root in roots_among(connected, roots, seed).tolist():
        started = time.perf_counter()
        tree = bfs(graph, root)
        place.wait()
        seconds = time.perf_counter() - started
        edges = check_bfs(sources, targets, root, tree.parent)
        checking += time.perf_counter() - started - seconds
        frontiers = [level.frontier for level in tree.levels]
        searches.append(Search(root, int((tree.parent >= 0).sum()), edges, seconds, True, frontiers))
    return Graph500(scale, edgefactor, seed, construction, checking, searches)
