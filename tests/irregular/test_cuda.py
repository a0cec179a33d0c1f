"""The CUDA kernels of the irregular problems: on the host shim, on GPU 0, and compiled for GPUs."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from langford import irregular
from langford.irregular import Bfs, Graph, OptimalCycle, bfs, check_bfs, components, cycle_mean, cycle_ratio
from langford.irregular.cuda import bfs as cuda_bfs
from langford.irregular.cuda.components import strong_components
from langford.irregular.cuda.cycles import GpuIteration
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.cuda.source import MAIN, source_of
from langford.irregular.cycles.howard import Howard
from langford.irregular.errors import NoCycle, TooWide
from tests.library.programs import ARCHITECTURES, compile_only

INT, LONG, DOUBLE = np.int32, np.int64, np.float64


def there(gpu: Gpu, graph: Graph) -> Graph:
    """The graph on the device."""
    copy = Graph(gpu.put(graph.indptr, graph.indptr.dtype), gpu.put(graph.indices, graph.indices.dtype))
    copy.symmetric = graph.symmetric
    return copy


@pytest.mark.exhaustive
def test_compiles_for_gpus() -> None:
    # All files as one program: they define no name twice; the host compiles the other types.
    compile_only(source_of(*MAIN, VERTEX=LONG, OFFSET=INT, VALUE=DOUBLE), ARCHITECTURES[1])


@pytest.mark.parametrize("direction", ["auto", "down", "up"])
def test_searches_inspect_what_the_cpu_inspects(gpu: Gpu, direction: Any) -> None:
    sources, targets = irregular.kronecker(10, 8)
    graph = Graph.from_edges(1024, sources, targets, symmetric=True).simple()
    on_gpu = cuda_bfs.GpuGraph(gpu, there(gpu, graph))
    for root in np.flatnonzero(graph.degrees)[:300:60].tolist():
        known = bfs(graph, root, direction)
        found = Bfs(*on_gpu.search(root, direction))
        assert found.levels == known.levels
        check_bfs(sources, targets, root, gpu.on_host(found.parent), known.depth)
        assert gpu.on_host(found.depth).tolist() == known.depth.tolist()


def test_searches_of_directed_graphs_and_paths(gpu: Gpu) -> None:
    random = np.random.default_rng(1)
    directed = Graph.from_edges(100, *random.integers(0, 100, (2, 300)).astype(LONG))
    path = Graph.from_edges(200, np.arange(199), np.arange(1, 200), symmetric=True)
    for graph in (directed, path, Graph.from_edges(1, np.zeros(0, INT), np.zeros(0, INT))):
        for direction in ("auto", "down", "up"):
            found = Bfs(*cuda_bfs.GpuGraph(gpu, there(gpu, graph)).search(0, direction))
            known = bfs(graph, 0, direction)
            assert (gpu.on_host(found.depth).tolist(), found.levels) == (known.depth.tolist(), known.levels)


def test_a_search_from_above_turns_no_edges_round(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = there(gpu, Graph.from_edges(4, np.array([0, 1, 1]), np.array([1, 2, 0])))
    with monkeypatch.context() as patched:
        patched.setattr(Graph, "reversed", property(lambda graph: pytest.fail("a search from above needs none")))
        found = Bfs(*cuda_bfs.GpuGraph(gpu, graph).search(0, "down"))
    assert gpu.on_host(found.parent).tolist() == [0, 0, 1, -1]


def test_wide_offsets_of_a_caller_serve_both_ways(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges turned round on a GPU have offsets as narrow as they may be."""
    narrow = Graph.from_edges(4, np.array([0, 1, 1]), np.array([1, 2, 0]))
    back = there(gpu, narrow.reversed)
    assert back.indptr.dtype == np.int32
    graph = there(gpu, Graph(narrow.indptr.astype(np.int64), narrow.indices))
    monkeypatch.setattr(Graph, "reversed", back)
    assert gpu.on_host(cuda_bfs.GpuGraph(gpu, graph).search(0, "up")[0]).tolist() == [0, 0, 1, -1]


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_graph_leaves_memory_with_what_searches_need_of_it(gpu: Gpu, symmetric: bool) -> None:
    graph = there(gpu, Graph.from_edges(4, np.array([0, 1, 1]), np.array([1, 2, 0]), symmetric))
    on_gpu = vars(graph)["on_gpu"] = cuda_bfs.GpuGraph(gpu, graph)
    on_gpu.search(0, "auto")
    gone = weakref.ref(on_gpu)
    gc.disable()
    try:
        del graph, on_gpu
        assert gone() is None
    finally:
        gc.enable()


def test_a_search_meets_a_vertex_at_any_place_of_its_row(gpu: Gpu) -> None:
    """Rows of up to 40 neighbours of which only one is reached, at each place: lanes take some at a time."""
    rows = [(length, place) for length in range(1, 41) for place in range(length)]
    # Vertex 0 is the root; 1 … 40 are never reached; each other vertex has some of these, and the root once.
    sources = [vertex for vertex, (length, _) in enumerate(rows, 41) for _ in range(length)]
    targets = [0 if at == place else 1 + at for length, place in rows for at in range(length)]
    graph = Graph.from_edges(41 + len(rows), np.array(targets, INT), np.array(sources, INT))
    for direction in ("auto", "up"):
        found = Bfs(*cuda_bfs.GpuGraph(gpu, there(gpu, graph)).search(0, direction))
        assert gpu.on_host(found.parent).tolist() == [0] + 40 * [-1] + len(rows) * [0]
        assert found.levels == bfs(graph, 0, direction).levels


def test_vertices_of_many_edges_are_shared_out(gpu: Gpu) -> None:
    hubs, n = 3, 4000
    sources = np.repeat(np.arange(hubs), n)
    targets = np.tile(np.arange(n), hubs)
    graph = Graph.from_edges(n + 1, sources, targets, symmetric=True)
    for direction in ("down", "auto", "up"):
        for root in (0, n - 1):
            found = Bfs(*cuda_bfs.GpuGraph(gpu, there(gpu, graph)).search(root, direction))
            known = bfs(graph, root, direction)
            assert found.levels == known.levels
            check_bfs(sources, targets, root, gpu.on_host(found.parent), known.depth)


def small_graphs() -> list[tuple[Graph, Any, Any]]:
    random = np.random.default_rng(6)
    graphs = []
    for n, m in ((1, 2), (12, 14), (12, 30), (40, 60), (60, 200)):
        graph = Graph.from_edges(n, *random.integers(0, n, (2, m)).astype(INT))
        graphs.append((graph, random.integers(-20, 21, m), random.integers(1, 4, m)))
    ring = np.arange(150)
    graph = Graph.from_edges(150, np.append(ring, ring[:-1]), np.append(np.roll(ring, -1), ring[1:]))
    return [*graphs, (graph, random.integers(0, 1000, graph.m), np.ones(graph.m, LONG))]


def rings(lengths: list[int]) -> tuple[Any, Any]:
    """Sources and targets of circles, one after another, against the order of their vertices."""
    ends = np.cumsum(lengths)
    sources = np.arange(ends[-1], dtype=INT)
    targets = sources - 1
    targets[ends - lengths] = ends - 1
    return sources, targets


def test_components_are_those_of_the_cpu(gpu: Gpu) -> None:
    none, random = np.zeros(0, INT), np.random.default_rng(8)
    one_ring, many = rings([20_000]), rings([1, 2, 3, 4, 5] * 60)
    names = random.permutation(20_000).astype(INT)
    path = np.arange(5000, dtype=INT)
    graphs = [
        *(graph for graph, _, _ in small_graphs()),
        *(Graph.from_edges(n, none, none) for n in (0, 1, 3)),
        Graph.from_edges(2, np.array([0, 0, 1], INT), np.array([0, 0, 1], INT)),
        Graph.from_edges(20_000, *one_ring),
        Graph.from_edges(20_000, names[one_ring[0]], names[one_ring[1]]),
        Graph.from_edges(900, *many),
        # Bridges from each circle to the next.
        Graph.from_edges(900, np.append(many[0], np.arange(899, dtype=INT)), np.append(many[1], np.arange(1, 900))),
        Graph.from_edges(5001, path, path + 1),
        Graph.from_edges(5001, path + 1, path),
    ]
    for graph in graphs:
        found, known = strong_components(gpu, there(gpu, graph)), components(graph)
        labels = gpu.on_host(found.labels).tolist()
        assert found.count == known.count == len(set(zip(labels, known.labels.tolist(), strict=True)))
        assert set(labels) == set(range(found.count))


def optimum_on(gpu: Gpu, graph: Graph, weights: Any, times: Any) -> OptimalCycle:
    """The optimal cycle as a device finds it, with its arrays on the host."""
    moved = there(gpu, graph)
    columns = [None if array is None else gpu.put(array, LONG) for array in (weights, times)]
    howard = Howard(moved, strong_components(gpu, moved), *columns, partial(GpuIteration, gpu))
    if howard.empty:
        raise NoCycle
    value, edges, rounds = howard.solve()
    potentials = howard.potentials(value)
    return OptimalCycle(value, gpu.on_host(edges), gpu.on_host(potentials), rounds, graph, weights, times, False)


def test_cycles_are_those_of_the_cpu(gpu: Gpu) -> None:
    random = np.random.default_rng(9)
    graphs = small_graphs()
    for _ in range(8):
        # Of few weights: many cycles are as good as the best.
        graph = Graph.from_edges(9, *random.integers(0, 9, (2, 20)).astype(INT))
        graphs.append((graph, random.integers(-1, 2, 20), random.integers(1, 3, 20)))
    for graph, weights, times in graphs:
        for durations in (None, times):
            try:
                known = cycle_mean(graph, weights) if durations is None else cycle_ratio(graph, weights, durations)
            except NoCycle:
                with pytest.raises(NoCycle):
                    optimum_on(gpu, graph, weights, durations)
                continue
            answer = optimum_on(gpu, graph, weights, durations)
            answer.check()
            assert answer.value == known.value
            again = optimum_on(gpu, graph, weights, durations)
            assert np.array_equal(answer.potentials, again.potentials)
            assert answer.edges.tolist() == again.edges.tolist()


def test_the_best_of_many_components(gpu: Gpu) -> None:
    lengths = [1, 2, 3, 4, 5] * 60
    sources, targets = rings(lengths)
    # The ends of the bridges are in different circles, or in the same.
    sources, targets = np.append(sources, np.arange(899)), np.append(targets, np.arange(1, 900))
    graph = Graph.from_edges(900, sources.astype(INT), targets.astype(INT))
    assert graph.order is not None
    random = np.random.default_rng(5)
    around = random.integers(10**6, 10**6 + 100, 900)
    weights = np.append(around, np.full(899, 10**7))[graph.order]
    begins = np.cumsum(lengths) - lengths
    totals = np.add.reduceat(around, begins).tolist()
    means = [Fraction(total, length) for total, length in zip(totals, lengths, strict=True)]
    answer = optimum_on(gpu, graph, weights, None)
    answer.check()
    assert answer.value == min(means)
    place = means.index(min(means))
    assert sorted(answer.vertices.tolist()) == list(range(begins[place], begins[place] + lengths[place]))


def test_a_policy_as_long_as_the_graph(gpu: Gpu) -> None:
    n = 30_000
    sources, targets = rings([n])
    # Every vertex must go round to vertex 0 and its loop; a shorter way costs more than it saves.
    graph = Graph.from_edges(n, np.append(sources, [0, n - 1]).astype(INT), np.append(targets, [0, 1]).astype(INT))
    assert graph.order is not None
    weights = np.append(np.full(n, 7), [3, 10**7])[graph.order]
    answer = optimum_on(gpu, graph, weights, None)
    answer.check()
    assert (answer.value, answer.vertices.tolist()) == (3, [0])
    assert np.ptp(answer.potentials) == 4 * (n - 1)
    without_loop = Graph.from_edges(n, sources, targets)
    around = optimum_on(gpu, without_loop, np.arange(n) % 5, None)
    around.check()
    assert (around.value, len(around.edges), around.iterations) == (2, n, 1)


def test_wide_distances_are_refused(gpu: Gpu) -> None:
    edges = 9
    path = np.arange(edges)
    graph = Graph.from_edges(edges + 1, np.append(path, [edges, edges]), np.append(path + 1, [edges, 0]))
    assert graph.order is not None
    weights = np.append(np.full(edges, 2**59), [0, 2**59])[graph.order]
    with pytest.raises(TooWide):
        cycle_mean(graph, weights)
    howard = Howard(
        there(gpu, graph), strong_components(gpu, there(gpu, graph)), gpu.put(weights, LONG),
        None, partial(GpuIteration, gpu),
    )  # fmt: skip
    with pytest.raises(TooWide):
        howard.solve()
