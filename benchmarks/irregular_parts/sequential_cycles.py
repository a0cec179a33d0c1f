"""Sequential algorithms for the least cycle mean, to compare with cycle_mean.

They look for the least mean of integer weights and compare means as floats, so that two that differ by less than
one part in 2⁵² may be taken for one another; the mean that they return is exactly that of a cycle.
"""

from __future__ import annotations

from fractions import Fraction
from heapq import heappop, heappush

import numpy as np

from langford.errors import BadInput
from langford.irregular.arrays import Array, require_length
from langford.irregular.errors import NoCycle
from langford.irregular.graphs.components import components
from langford.irregular.graphs.graph import Graph
from langford.irregular.policies import LARGEST, largest
from langford.kernels.cpu.compiled import kernel, part

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
    last = yto_pivots(
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


# -- kernels ----------------------------------------------------------------------------------


@kernel
def howard_passes(indptr, targets, weights, policy, distance):
    """Howard's algorithm on a strongly connected graph, one pass over the edges per improvement (Dasdan 2004).

    ``policy`` [n] and ``distance`` [n] hold each vertex's lightest edge and its weight; the policy ends with an
    optimal cycle.
    """
    n = policy.size
    seen, order = np.zeros(n, np.int64), np.empty(n, np.int64)
    while True:
        # The best cycle of the policy.
        seen[:] = 0
        mean, root = np.inf, 0
        for start in range(n):
            vertex = start
            while seen[vertex] == 0:
                seen[vertex] = start + 1
                vertex = targets[policy[vertex]]
            if seen[vertex] == start + 1:
                total, length, at = 0.0, 0, vertex
                while True:
                    total += weights[policy[at]]
                    length += 1
                    at = targets[policy[at]]
                    if at == vertex:
                        break
                if total / length < mean:
                    mean, root = total / length, vertex
        # Distances of what the policy leads to the root; the others keep theirs.
        seen[:] = 0
        seen[root] = 1
        for start in range(n):
            length, vertex = 0, start
            while seen[vertex] == 0:
                seen[vertex] = 2
                order[length] = vertex
                length += 1
                vertex = targets[policy[vertex]]
            good = seen[vertex] == 1
            for at in range(length - 1, -1, -1):
                if good:
                    edge = policy[order[at]]
                    distance[order[at]] = distance[targets[edge]] + weights[edge] - mean
                    seen[order[at]] = 1
                else:
                    seen[order[at]] = 3
        better = False
        for vertex in range(n):
            for edge in range(indptr[vertex], indptr[vertex + 1]):
                gain = distance[vertex] - (distance[targets[edge]] + weights[edge] - mean)
                if gain > 0:
                    if gain > 1e-9 * (1 + abs(distance[vertex])):
                        better = True
                    distance[vertex] -= gain
                    policy[vertex] = edge
        if not better:
            return


@part
def least_key(vertex, back_indptr, back_sources, back_weights, cost, length):
    """The smallest mean at which another edge into the vertex is as good as its tree edge, and that edge."""
    key, best = np.inf, -1
    for edge in range(back_indptr[vertex], back_indptr[vertex + 1]):
        source = back_sources[edge]
        longer = length[source] + 1 - length[vertex]
        if longer > 0:
            at = (cost[source] + back_weights[edge] - cost[vertex]) / longer
            if at < key:
                key, best = at, edge
    return key, best


@kernel
def yto_pivots(indptr, targets, weights, back_indptr, back_sources, back_weights, parent_edge):
    """Young, Tarjan and Orlin: raise the mean until a cycle of edges of the tree and one more has it.

    ``parent_edge`` [n], −1: becomes the edge (by target) over which the tree reaches each vertex.
    Returns the edge that closes the cycle, or −1.
    """
    n = parent_edge.size
    cost, length = np.zeros(n, back_weights.dtype), np.zeros(n, np.int64)
    first, after, before = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    keys, chosen = np.full(n, np.inf), np.full(n, -1, np.int64)
    inside, stack = np.zeros(n, np.bool_), np.empty(n, np.int64)
    heap = [(0.0, np.int64(-1))]
    heap.pop()
    for vertex in range(n):
        keys[vertex], chosen[vertex] = least_key(vertex, back_indptr, back_sources, back_weights, cost, length)
        if chosen[vertex] >= 0:
            heappush(heap, (keys[vertex], np.int64(vertex)))
    while len(heap) > 0:
        key, vertex = heappop(heap)
        if key != keys[vertex] or chosen[vertex] < 0:
            continue
        edge = chosen[vertex]
        source = back_sources[edge]
        # The vertices below the target; if the source is among them, the edge closes a cycle.
        count, done = 1, 0
        stack[0], inside[vertex] = vertex, True
        while done < count:
            child = first[stack[done]]
            done += 1
            while child >= 0:
                stack[count], inside[child] = child, True
                count += 1
                child = after[child]
        if inside[source]:
            return edge
        heavier = cost[source] + back_weights[edge] - cost[vertex]
        longer = length[source] + 1 - length[vertex]
        old = back_sources[parent_edge[vertex]] if parent_edge[vertex] >= 0 else -1
        if old >= 0:
            if before[vertex] >= 0:
                after[before[vertex]] = after[vertex]
            else:
                first[old] = after[vertex]
            if after[vertex] >= 0:
                before[after[vertex]] = before[vertex]
        parent_edge[vertex] = edge
        before[vertex], after[vertex] = -1, first[source]
        if first[source] >= 0:
            before[first[source]] = vertex
        first[source] = vertex
        for at in range(count):
            cost[stack[at]] += heavier
            length[stack[at]] += longer
        for at in range(count):
            below = stack[at]
            keys[below], chosen[below] = least_key(below, back_indptr, back_sources, back_weights, cost, length)
            if chosen[below] >= 0:
                heappush(heap, (keys[below], np.int64(below)))
        # Edges that leave the subtree meet their targets at a smaller mean than before.
        for at in range(count):
            below = stack[at]
            for out in range(indptr[below], indptr[below + 1]):
                target = targets[out]
                if inside[target]:
                    continue
                more = length[below] + 1 - length[target]
                if more > 0 and (cost[below] + weights[out] - cost[target]) / more < keys[target]:
                    keys[target], chosen[target] = least_key(
                        target, back_indptr, back_sources, back_weights, cost, length
                    )
                    heappush(heap, (keys[target], np.int64(target)))
        for at in range(count):
            inside[stack[at]] = False
    return -1
