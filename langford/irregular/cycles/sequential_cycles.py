"""Sequential algorithms for the least cycle mean, which the benchmark compares with :func:`cycle_mean`: Howard's in
passes, and that of Young, Tarjan and Orlin.

They look for the least mean of integer weights and compare means as floats, so that two that differ by less than
one part in 2⁵² may be taken for one another; the mean that they return is exactly that of a cycle.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from langford.errors import BadInput
from langford.irregular.arrays import Array, require_length
from langford.irregular.cpu.sequential_cycles import howard_passes, yto_pivots
from langford.irregular.errors import NoCycle
from langford.irregular.graphs.components import components
from langford.irregular.graphs.graph import Graph
from langford.irregular.policies import LARGEST, largest

_NO_CYCLE = "the graph has no cycle: give a graph with one"


def howard(graph: Graph, weights: Array) -> Fraction:
    """Howard's algorithm in its sequential form, one strong component after another.

    Raises BadInput, NoCycle, NotInstalled.
    """
    weights = _checked(graph, weights)
    labels = components(graph).labels
    sources = graph.sources
    inside = np.flatnonzero(labels[sources] == labels[graph.indices])
    if len(inside) == 0:
        raise NoCycle(_NO_CYCLE)
    inside = inside[np.argsort(labels[sources[inside]], kind="stable")]
    ends = np.flatnonzero(np.diff(labels[sources[inside]])) + 1
    return min(
        _howard_of_component(sources[edges], graph.indices[edges], weights[edges])
        for edges in np.split(inside, ends)
    )


def _howard_of_component(sources: Array, targets: Array, weights: Array) -> Fraction:
    vertices, numbers = np.unique(sources, return_inverse=True)
    part = Graph.from_edges(len(vertices), numbers, np.searchsorted(vertices, targets))
    own = weights[part.order]
    starts = part.indptr[:-1].astype(np.int64)
    distance = np.minimum.reduceat(own, starts).astype(np.float64)
    policy = np.array([begin + own[begin:end].argmin() for begin, end in zip(starts, part.indptr[1:], strict=True)])
    howard_passes(part.indptr, part.indices, own.astype(np.float64), policy, distance)
    return _mean_of_policy(policy, part.indices, own)


def _mean_of_policy(policy: Array, targets: Array, weights: Array) -> Fraction:
    """The least mean of the cycles of a policy."""
    seen: dict[int, int] = {}
    best: Fraction | None = None
    for start in range(len(policy)):
        vertex = start
        while vertex not in seen:
            seen[vertex] = start
            vertex = int(targets[policy[vertex]])
        if seen[vertex] == start:
            cycle = [vertex]
            while int(targets[policy[cycle[-1]]]) != vertex:
                cycle.append(int(targets[policy[cycle[-1]]]))
            mean = Fraction(sum(int(weights[policy[each]]) for each in cycle), len(cycle))
            best = mean if best is None else min(best, mean)
    assert best is not None  # every vertex of a policy leads to a cycle
    return best


def yto(graph: Graph, weights: Array) -> Fraction:
    """The algorithm of Young, Tarjan and Orlin (1991): a tree of shortest paths while the mean rises.

    Raises BadInput, NoCycle.
    """
    weights = _checked(graph, weights)
    back = Graph.from_edges(graph.n, graph.indices, graph.sources)
    parent_edge = np.full(graph.n, -1, np.int64)
    last, _ = yto_pivots(
        graph.indptr, graph.indices, weights, back.indptr, back.indices, weights[back.order], parent_edge
    )
    if last < 0:
        raise NoCycle(_NO_CYCLE)
    # Backwards from the source of the last edge to its target, along the tree.
    target = int(np.searchsorted(back.indptr, last, side="right") - 1)
    cycle, vertex = [last], int(back.indices[last])
    while vertex != target:
        cycle.append(int(parent_edge[vertex]))
        vertex = int(back.indices[parent_edge[vertex]])
    return Fraction(int(weights[back.order][cycle].sum()), len(cycle))


def _checked(graph: Graph, weights: Array) -> Array:
    """The weights as int64; raises BadInput."""
    require_length("weights", weights, graph.m, "edge")
    if weights.dtype.kind not in "iu" or largest(weights) * (graph.n + 1) >= LARGEST:
        raise BadInput("the sequential algorithms take integers whose sums fit into 62 bits: use cycle_mean")
    return weights.astype(np.int64)
