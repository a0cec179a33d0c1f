"""Optimal cycles against every simple cycle, Karp in Fractions, and simulations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langford.errors import BadInput, CheckFailed
from langford.irregular import Graph, cycle_mean, cycle_ratio
from langford.irregular.errors import NoCycle, TooWide, ZeroTime

INT = np.int32
edges_of_small_graphs = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(-9, 9), st.integers(0, 3)), max_size=12
)


def graph_of(edges: list[tuple[int, int, int, int]]) -> tuple[Graph, Any, Any]:
    """A graph of five vertices with weights and times in its order."""
    columns = np.array(edges, np.int64).reshape(-1, 4).T
    graph = Graph.from_edges(5, columns[0].astype(np.int32), columns[1].astype(np.int32))
    return graph, columns[2][graph.order], columns[3][graph.order]


def all_cycles(edges: list[tuple[int, int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """(weight, time, length) of every simple cycle, with every choice among multiple edges."""
    parallel: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for source, target, weight, time in edges:
        parallel.setdefault((source, target), []).append((weight, time))
    for cycle in networkx.simple_cycles(networkx.DiGraph(list(parallel))):
        pairs = zip(cycle, cycle[1:] + cycle[:1], strict=True)
        for chosen in product(*(parallel[pair] for pair in pairs)):
            yield sum(edge[0] for edge in chosen), sum(edge[1] for edge in chosen), len(chosen)


def karp(graph: Graph, weights: Any) -> Fraction | None:
    """Karp's theorem in Fractions."""
    n, edges = graph.n, list(zip(graph.sources.tolist(), graph.indices.tolist(), weights.tolist(), strict=True))
    walks: list[dict[int, int]] = [dict.fromkeys(range(n), 0)]
    for _ in range(n):
        longer: dict[int, int] = {}
        for source, target, weight in edges:
            if source in walks[-1]:
                after = walks[-1][source] + weight
                longer[target] = min(longer.get(target, after), after)
        walks.append(longer)
    means = [
        max(Fraction(walks[n][end] - walks[k][end], n - k) for k in range(n) if end in walks[k]) for end in walks[n]
    ]
    return min(means, default=None)


@settings(max_examples=60)
@given(edges_of_small_graphs, st.booleans())
def test_means_of_small_graphs(edges: list[tuple[int, int, int, int]], maximum: bool) -> None:
    graph, weights, _ = graph_of(edges)
    means = [Fraction(weight, length) for weight, _, length in all_cycles(edges)]
    if not means:
        with pytest.raises(NoCycle, match="no cycle"):
            cycle_mean(graph, weights, maximum)
        return
    optimal = cycle_mean(graph, weights, maximum)
    assert optimal.value == (max(means) if maximum else min(means))
    assert optimal.potentials.dtype == np.int64
    optimal.check()
    if not maximum:
        assert karp(graph, weights) == optimal.value


@settings(max_examples=60)
@given(edges_of_small_graphs, st.booleans())
def test_ratios_of_small_graphs(edges: list[tuple[int, int, int, int]], maximum: bool) -> None:
    graph, weights, times = graph_of(edges)
    cycles = list(all_cycles(edges))
    if any(time == 0 for _, time, _ in cycles):
        with pytest.raises(ZeroTime, match="takes no time") as refusal:
            cycle_ratio(graph, weights, times, maximum)
        named = refusal.value.vertices
        timeless = {(source, target) for source, target, _, time in edges if time == 0}
        assert len(set(named)) == len(named) > 0
        assert set(zip(named, [*named[1:], named[0]], strict=True)) <= timeless
    elif not cycles:
        with pytest.raises(NoCycle):
            cycle_ratio(graph, weights, times, maximum)
    else:
        optimal = cycle_ratio(graph, weights, times, maximum)
        ratios = [Fraction(weight, time) for weight, time, _ in cycles]
        assert optimal.value == (max(ratios) if maximum else min(ratios))
        optimal.check()
        on_cycle = optimal.edges
        assert Fraction(int(weights[on_cycle].sum()), int(times[on_cycle].sum())) == optimal.value


def random_graph(n: int, m: int, seed: int, largest: int = 100) -> tuple[Graph, Any]:
    random = np.random.default_rng(seed)
    graph = Graph.from_edges(n, *random.integers(0, n, (2, m)).astype(np.int32))
    return graph, random.integers(-largest, largest, m)


def test_a_torus_whose_best_cycle_goes_all_the_way_round() -> None:
    side = 12
    places = np.arange(side * side, dtype=np.int32)
    right, down = places // side * side + (places + 1) % side, (places + side) % (side * side)
    graph = Graph.from_edges(side * side, np.concatenate([places, places]), np.concatenate([right, down]))
    weights = np.random.default_rng(1).integers(0, 1000, graph.m)
    optimal = cycle_mean(graph, weights)
    optimal.check()
    assert optimal.value == karp(graph, weights)
    assert len(optimal.edges) >= side


def two_circles(first: list[int], second: list[int]) -> tuple[Graph, Any]:
    a, b = len(first), len(second)
    sources = np.arange(a + b, dtype=INT)
    targets = np.concatenate([np.roll(sources[:a], -1), np.roll(sources[a:], -1)])
    # A bridge, so that the potentials must also prove an edge between components.
    graph = Graph.from_edges(a + b, np.append(sources, INT(0)), np.append(targets, INT(a)))
    return graph, np.array([*first, *second, 0])[graph.order]


def test_means_that_differ_by_far_less_than_a_billionth_are_told_apart() -> None:
    # By one part in 10^18, far below what floats tell apart.
    graph, weights = two_circles([10**9] * 9, [10**9] * 8 + [10**9 - 1])
    for maximum, mean, vertices in ((False, 10**9 - Fraction(1, 9), range(9, 18)), (True, 10**9, range(9))):
        optimal = cycle_mean(graph, weights, maximum)
        assert (optimal.value, optimal.vertices.tolist()) == (mean, list(vertices))
        optimal.check()


@pytest.mark.parametrize("kind", ["i1", ">i4", "u8"])
def test_weights_and_times_of_any_type(kind: str) -> None:
    graph, weights = random_graph(60, 240, 5, largest=90)
    weights, times = np.abs(weights), np.random.default_rng(6).integers(1, 90, graph.m)
    for answer, known in (
        (cycle_mean(graph, weights.astype(kind)), cycle_mean(graph, weights)),
        (cycle_ratio(graph, weights.astype(kind), times.astype(kind)), cycle_ratio(graph, weights, times)),
    ):
        assert answer.value == known.value
        answer.check()


def test_the_check_finds_what_is_wrong() -> None:
    graph, weights = random_graph(50, 200, 1)
    optimal = cycle_mean(graph, weights)
    moved = optimal.potentials.copy()
    moved[int(optimal.vertices[0])] += 1
    wrong: list[Any] = [
        replace(optimal, potentials=moved),
        replace(optimal, value=optimal.value + Fraction(1, 10**6)),
        replace(optimal, value=optimal.value - Fraction(1, 10**6)),
        replace(optimal, edges=optimal.edges[:-1]),
        replace(optimal, edges=optimal.edges[:0]),
        replace(optimal, weights=weights + (np.arange(len(weights)) == optimal.edges[0])),
        replace(optimal, maximum=True),
    ]
    optimal.check()
    for answer in wrong:
        with pytest.raises(CheckFailed, match="contradicts itself"):
            answer.check()


def test_results_do_not_depend_on_how_edges_are_listed() -> None:
    graph, weights = random_graph(60, 240, 5)
    order = np.random.default_rng(2).permutation(graph.m)
    other = Graph.from_edges(60, graph.sources[order], graph.indices[order])
    assert cycle_mean(other, weights[order][other.order]).value == cycle_mean(graph, weights).value
    again = cycle_mean(graph, weights)
    assert np.array_equal(again.potentials, cycle_mean(graph, weights).potentials)


def test_bad_weights_and_times() -> None:
    graph = Graph.from_edges(2, np.array([0, 1], INT), np.array([1, 0], INT))
    whole = np.array([3, 4])
    refused: list[tuple[type[Exception], str, Any]] = [
        (BadInput, "give 2 of them", lambda: cycle_mean(graph, np.arange(3))),
        (BadInput, "times has shape", lambda: cycle_ratio(graph, whole, np.arange(3))),
        (BadInput, "weights must be integers, not float64", lambda: cycle_mean(graph, np.array([1, np.nan]))),
        (BadInput, "times must be integers, not float64", lambda: cycle_ratio(graph, whole, whole / 2)),
        (BadInput, "time of edge 1 is negative", lambda: cycle_ratio(graph, whole, np.array([1, -1]))),
        (BadInput, "must be integers", lambda: cycle_mean(graph, np.array(["a", "b"]))),
        (ZeroTime, "cycle 0 → 1 takes no time", lambda: cycle_ratio(graph, whole, np.array([0, 0]))),
        (TooWide, "62 bits", lambda: cycle_mean(graph, np.array([2**62, 1]))),
        (TooWide, "62 bits", lambda: cycle_mean(graph, np.array([2**61, -(2**61) + 1]))),
        (BadInput, "list", lambda: cycle_ratio(graph, whole, [1, 2])),
        (BadInput, "shape", lambda: cycle_mean(graph, whole[:, None])),
        (BadInput, "shape", lambda: cycle_ratio(graph, whole, whole[:, None])),
    ]
    for kind, message, call in refused:
        with pytest.raises(kind, match=message):
            call()
    empty = Graph(np.zeros(1, np.int32), np.zeros(0, np.int32))
    with pytest.raises(NoCycle):
        cycle_mean(empty, np.zeros(0, np.int64))
    loop = Graph.from_edges(1, np.zeros(1, INT), np.zeros(1, INT))
    assert cycle_mean(loop, np.array([5])).value == 5
    assert cycle_ratio(loop, np.array([1]), np.array([4])).value == Fraction(1, 4)


def test_potentials_of_long_paths_are_exact_up_to_62_bits() -> None:
    # A loop of weight 0 below a path whose edges add up.
    def path(edges: int, weight: int) -> tuple[Graph, Any]:
        vertices = np.arange(edges)
        sources = np.append(vertices, [edges, edges]).astype(INT)
        targets = np.append(vertices + 1, [edges, 0]).astype(INT)
        graph = Graph.from_edges(edges + 1, sources, targets)
        return graph, np.concatenate([np.full(edges, weight), [0, weight]])[graph.order]

    graph, weights = path(7, 2**59)
    optimal = cycle_mean(graph, weights)
    assert optimal.value == 0
    assert np.ptp(optimal.potentials) >= 7 * 2**59
    optimal.check()
    with pytest.raises(TooWide, match="62 bits"):
        cycle_mean(*path(9, 2**59))


def test_sums_of_cycles_are_exact_up_to_62_bits() -> None:
    ring = np.arange(9, dtype=INT)
    graph = Graph.from_edges(9, ring, np.roll(ring, -1))
    with pytest.raises(TooWide, match="62 bits"):
        cycle_mean(graph, np.full(9, 2**60))
    assert cycle_mean(graph, np.full(9, 2**58)).value == 2**58
