"""Optimal cycle mean and cycle ratio, exactly (Barnat, Bauch, Brim, Češka; Howard's algorithm)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from langford.errors import BadInput, CheckFailed
from langford.irregular.arrays import Array, module_of, on_gpu, on_host, require_length
from langford.irregular.cycles.cpu_iteration import CpuIteration
from langford.irregular.cycles.howard import Howard
from langford.irregular.errors import NoCycle, TooWide, ZeroTime
from langford.irregular.graphs.components import components
from langford.irregular.graphs.graph import Graph
from langford.irregular.policies import BITS, LARGEST, PolicyIteration, largest, longest
from langford.words import some

in_words = partial(some, most=10, between=" → ")
"""The vertices of a cycle, or the first of many, as they are named in a message."""


@dataclass(frozen=True)
class OptimalCycle:
    """The cycle of a graph with the least weight per time, or the largest, and the proof of it.

    Attributes:
        value: the ratio p/q.
        edges: of the cycle, in order, as places in ``graph.indices``, int64[·].
        potentials: of the vertices, int64[n]; with s = 1 for the least and −1 for the largest ratio,
            π(v) ≤ π(u) + s·(q·w − p·t) on every edge u → v: around any cycle the right sides sum up to at
            least 0.
        iterations: rounds of policy iteration.
        graph, weights, times, maximum: the arguments.
    """

    value: Fraction
    edges: Array
    potentials: Array
    iterations: int
    graph: Graph
    weights: Array
    times: Array | None
    maximum: bool

    @property
    def vertices(self) -> Array:
        """The vertices of the cycle, in order: each edge leaves one of them."""
        xp = module_of(self.edges)
        return xp.searchsorted(self.graph.indptr, self.edges, side="right") - 1

    def check(self) -> None:
        """Verify cycle and potentials in one pass over the edges; raises CheckFailed."""
        xp = module_of(self.weights)
        graph, edges = self.graph, self.edges
        vertices = self.vertices
        closed = bool((graph.indices[edges] == xp.roll(vertices, -1)).all())
        _require(len(edges) > 0 and closed, "the edges are no cycle")
        total = sum(on_host(self.weights[edges]).tolist())
        duration = len(edges) if self.times is None else sum(on_host(self.times[edges]).tolist())
        mean = Fraction(total, duration)
        _require(mean == self.value, f"the ratio of the cycle is {mean}")
        lengths = edge_lengths(self.weights, self.times, self.value, self.maximum)
        slack = self.potentials[graph.sources] + lengths - self.potentials[graph.indices]
        _require(bool((slack >= 0).all()), "the potentials prove nothing about some edge")


def cycle_mean(graph: Graph, weights: Array, maximum: bool = False) -> OptimalCycle:
    """The cycle with the least mean weight per edge, or the largest.

    Args:
        graph: any directed graph.
        weights: of the edges in the order of ``graph.indices``, integers [m].
        maximum: look for the largest.

    Raises BadInput, NoCycle; TooWide when a potential needs more than 62 bits.
    """
    return _optimal(graph, weights, None, maximum)


def cycle_ratio(graph: Graph, weights: Array, times: Array, maximum: bool = False) -> OptimalCycle:
    """The cycle with the least weight per time, or the largest.

    Args:
        graph, weights, maximum: as for :func:`cycle_mean`.
        times: of the edges, integers from 0 on [m].

    Raises ZeroTime when the times of a cycle add up to 0, BadInput when one is negative, and as :func:`cycle_mean`.
    """
    _require_whole("times", times, graph)
    if len(times) and bool((times < 0).any()):
        raise BadInput(f"the time of edge {int((times < 0).argmax())} is negative: times must be 0 or more")
    return _optimal(graph, weights, times, maximum)


def _optimal(graph: Graph, weights: Array, times: Array | None, maximum: bool) -> OptimalCycle:
    xp = module_of(graph.indptr, weights)
    _require_whole("weights", weights, graph)
    # Kernels take the address of the first number: the others must follow it in memory.
    signed = xp.ascontiguousarray(-weights.astype(xp.int64) if maximum else weights, xp.int64)
    durations = None if times is None else xp.ascontiguousarray(times, xp.int64)
    timeless = [] if times is None else timeless_cycle(graph, times)
    if timeless:
        message = f"the cycle {in_words(timeless)} takes no time: give one of its edges a time"
        raise ZeroTime(message, timeless)
    iteration: Callable[..., PolicyIteration] = CpuIteration
    if on_gpu(graph.indptr):
        from langford.irregular.cuda.cycles import GpuIteration
        from langford.irregular.cuda.gpu import gpu_of

        iteration = partial(GpuIteration, gpu_of(graph.indptr))
    howard = Howard(graph, components(graph), signed, durations, iteration)
    if howard.empty:
        raise NoCycle("the graph has no cycle: give a graph with one")
    value, edges, rounds = howard.solve()
    potentials = howard.potentials(value)
    sign = -1 if maximum else 1
    return OptimalCycle(sign * value, edges, potentials, rounds, graph, weights, times, maximum)


def _require_whole(name: str, numbers: Array, graph: Graph) -> None:
    """Raises BadInput unless there is an integer for each edge, TooWide for more than 62 bits."""
    require_length(name, numbers, graph.m, "edge")
    if numbers.dtype.kind not in "iu":
        raise BadInput(
            f"the {name} must be integers, not {numbers.dtype}: multiply all by one factor and round them, for an "
            "exact answer"
        )
    if largest(numbers) >= LARGEST:
        raise TooWide(f"the {name} need more than {BITS} bits: divide them by a common factor")


def timeless_cycle(graph: Graph, times: Array) -> list[int]:
    """The vertices of a cycle whose times are all zero, in order; empty when there is no such cycle."""
    free = times == 0
    if not bool(free.any()):
        return []
    sources, targets = graph.sources[free], graph.indices[free]
    labels = components(Graph.from_edges(graph.n, sources, targets)).labels
    inside = labels[sources] == labels[targets]
    # Each vertex with such an edge to it has one from it, too, so that a walk along them never ends.
    following = dict(zip(*(on_host(ends[inside]).tolist() for ends in (sources, targets)), strict=True))
    walk: dict[int, int] = {}
    vertex = next(iter(following), None)
    while vertex is not None and vertex not in walk:
        walk[vertex] = len(walk)
        vertex = following[vertex]
    return [] if vertex is None else list(walk)[walk[vertex] :]


def edge_lengths(weights: Array, times: Array | None, value: Fraction, maximum: bool) -> Array:
    """s·(q·w − p·t) for every edge, int64[m] (OptimalCycle.potentials); raises TooWide."""
    xp, sign = module_of(weights), -1 if maximum else 1
    p, q = value.numerator, value.denominator
    if q * largest(weights) + abs(p) * longest(times) >= LARGEST:
        raise TooWide(f"the lengths of edges at {value} need more than {BITS} bits: divide the weights")
    return sign * (q * weights.astype(xp.int64) - (p if times is None else p * times.astype(xp.int64)))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise CheckFailed(f"the optimal cycle contradicts itself: {otherwise}; compute it again, and report it")
