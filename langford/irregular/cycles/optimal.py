"""Optimal cycle mean and cycle ratio, exact for integers (Barnat, Bauch, Brim, Češka; Howard's algorithm)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from langford.errors import BadInput, CheckFailed
from langford.irregular.arrays import Array, module_of, on_gpu, on_host, require_length, require_numbers
from langford.irregular.cycles.cpu_iteration import CpuIteration
from langford.irregular.cycles.howard import Howard
from langford.irregular.errors import NoCycle, TooWide, ZeroTime
from langford.irregular.graphs.components import components
from langford.irregular.graphs.graph import Graph
from langford.irregular.policies import BITS, LARGEST, PolicyIteration, exact_sum, largest, longest
from langford.words import some

MAX_FLOAT = 1e300
in_words = partial(some, most=10, between=" → ")
"""The vertices of a cycle, or the first of many, as they are named in a message."""


@dataclass(frozen=True)
class OptimalCycle:
    """The cycle of a graph with the least weight per time, or the largest, and the proof of it.

    Attributes:
        value: the ratio, an exact Fraction p/q for integer weights and times, else a float: rounded once, of a
            cycle that others are better than by a rounding error of the heaviest weight and longest time at most.
        edges: of the cycle, in order, as places in ``graph.indices``, int64[·].
        potentials: of the vertices, [n]; with s = 1 for the least and −1 for the largest ratio,
            π(v) ≤ π(u) + s·(q·w − p·t) on every edge u → v: around any cycle the right sides sum up to at
            least 0.  int64 for integers; else floats, with q = 1, up to rounding.
        iterations: rounds of policy iteration.
        graph, weights, times, maximum: the arguments.
    """

    value: Fraction | float
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
        exact = isinstance(self.value, Fraction)
        # As they were computed with: whole numbers beside floats were rounded.
        kind = xp.int64 if exact else xp.float64
        total = exact_sum(self.weights[edges].astype(kind))
        duration = Fraction(len(edges)) if self.times is None else exact_sum(self.times[edges].astype(kind))
        mean = total / duration
        _require(mean == self.value if exact else float(mean) == self.value, f"the ratio of the cycle is {mean}")
        value = Fraction(self.value) if exact else self.value
        lengths = edge_lengths(self.weights, self.times, value, self.maximum)
        slack = self.potentials[graph.sources] + lengths - self.potentials[graph.indices]
        _require(bool((slack >= -self._tolerance()).all()), "the potentials prove nothing about some edge")

    def _tolerance(self) -> float:
        """How far rounding may take the floating-point potentials beyond an edge's length; 0 for integers."""
        if isinstance(self.value, Fraction):
            return 0
        heaviest = largest(self.weights) + abs(self.value) * longest(self.times)
        return 1e-9 * float(heaviest + largest(self.potentials))


def cycle_mean(graph: Graph, weights: Array, maximum: bool = False) -> OptimalCycle:
    """The cycle with the least mean weight per edge, or the largest.

    Args:
        graph: any directed graph.
        weights: of the edges in the order of ``graph.indices``, integers or floats [m].
        maximum: look for the largest.

    Raises BadInput, NoCycle; TooWide when a potential needs more than 62 bits, or a sum of
    floats may pass MAX_FLOAT.
    """
    return _optimal(graph, weights, None, maximum)


def cycle_ratio(graph: Graph, weights: Array, times: Array, maximum: bool = False) -> OptimalCycle:
    """The cycle with the least weight per time, or the largest.

    Args:
        graph, weights, maximum: as for :func:`cycle_mean`.
        times: of the edges, 0 or more, integers or floats [m].

    Raises ZeroTime when the times of a cycle add up to 0, BadInput when one is negative, and as :func:`cycle_mean`.
    """
    require_length("times", times, graph.m, "edge")
    require_numbers("times", times)
    if len(times) and bool((times < 0).any()):
        raise BadInput(f"the time of edge {int((times < 0).argmax())} is negative: times must be 0 or more")
    return _optimal(graph, weights, times, maximum)


def _optimal(graph: Graph, weights: Array, times: Array | None, maximum: bool) -> OptimalCycle:
    xp = module_of(graph.indptr, weights)
    require_length("weights", weights, graph.m, "edge")
    require_numbers("weights", weights)
    exact = weights.dtype.kind in "iu" and (times is None or times.dtype.kind in "iu")
    kind = xp.int64 if exact else xp.float64
    for name, array in (("weights", weights), ("times", times)):
        if exact and array is not None and largest(array) >= LARGEST:
            raise TooWide(f"the {name} need more than {BITS} bits: give floats, or divide them by a common factor")
    if not exact:
        _require_range(weights, times)
    # Kernels take the address of the first number: the others must follow it in memory.
    signed = xp.ascontiguousarray(-weights.astype(kind) if maximum else weights, kind)
    durations = None if times is None else xp.ascontiguousarray(times, kind)
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


def _require_range(weights: Array, times: Array | None) -> None:
    """Raises TooWide when sums of floats, their ratios, or what times are worth may pass MAX_FLOAT."""
    xp = module_of(weights)
    most, least = float(longest(times)), 1.0
    if times is not None and len(times):
        least = float(xp.where(times > 0, times, most).min()) or 1.0
    ratio = float(largest(weights)) / least
    if len(weights) * max(ratio, most, ratio * most) > MAX_FLOAT:
        raise TooWide(f"sums, or weights per time, may exceed {MAX_FLOAT:g}: use other units")


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


def edge_lengths(weights: Array, times: Array | None, value: Fraction | float, maximum: bool) -> Array:
    """s·(q·w − p·t) for every edge, int64 or float64[m] (OptimalCycle.potentials); raises TooWide."""
    xp, sign = module_of(weights), -1 if maximum else 1
    if not isinstance(value, Fraction):
        return sign * (weights.astype(xp.float64) - value * (1.0 if times is None else times.astype(xp.float64)))
    p, q = value.numerator, value.denominator
    if q * largest(weights) + abs(p) * longest(times) >= LARGEST:
        raise TooWide(f"the lengths of edges at {value} need more than {BITS} bits: give floats")
    return sign * (q * weights.astype(xp.int64) - (p if times is None else p * times.astype(xp.int64)))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise CheckFailed(f"the optimal cycle contradicts itself: {otherwise}; compute it again, and report it")
