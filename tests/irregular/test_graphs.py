"""Graphs, Kronecker's edges, breadth-first search, its five rules, and the partitioned search."""

from __future__ import annotations

import importlib
import tracemalloc
from hashlib import sha256
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from jobs.mpi.graph500 import graph500_on_ranks
from langford.errors import BadInput, CheckFailed
from langford.irregular import Graph, bfs, check_bfs, components, graph500, kronecker, search_states
from langford.irregular.arrays import offset_type
from langford.irregular.errors import BadGraph, TooLarge
from langford.irregular.graphs.graph500 import RULES
from langford.irregular.graphs.kronecker import edges_of
from langford.irregular.graphs.partition import PartitionedGraph
from langford.irregular.memory import present_bytes
from langford.irregular.rows import cuts, heads_of, sorted_rows
from langford.problem import Problem
from tests.irregular.ranks import ThreadRanks, on_threads
from tests.support.cases import exhaustive

DIRECTIONS = ["auto", "down", "up"]


def random_edges(n: int, count: int, seed: int = 1, kind: Any = np.int32) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    return random.integers(0, n, count).astype(kind), random.integers(0, n, count).astype(kind)


def depths_of_scipy(graph: Graph, root: int) -> list[int]:
    matrix = csr_array((np.ones(graph.m), graph.indices, graph.indptr), shape=(graph.n, graph.n))
    order, parents = breadth_first_order(matrix, root, directed=True)
    depth = np.full(graph.n, -1)
    depth[root] = 0
    for vertex in order[1:]:
        depth[vertex] = depth[parents[vertex]] + 1
    return depth.tolist()


@pytest.mark.parametrize("kind", [np.int32, *exhaustive([np.int64])])
def test_rows_keep_the_order_of_the_edges(kind: Any) -> None:
    sources, targets = random_edges(20, 100, kind=kind)
    graph = Graph.from_edges(20, sources, targets)
    assert graph.indices.dtype == kind
    order = np.argsort(sources, kind="stable")
    assert graph.order is not None
    assert graph.order.tolist() == order.tolist()
    assert graph.indices.tolist() == targets[order].tolist()
    assert graph.sources.tolist() == sources[order].tolist()
    assert Graph(graph.indptr, graph.indices).n == 20


def test_symmetric_graphs_have_every_reverse_and_loops_once() -> None:
    graph = Graph.from_edges(4, np.array([0, 1, 2, 0]), np.array([1, 1, 0, 1]), symmetric=True)
    pairs = sorted(zip(graph.sources.tolist(), graph.indices.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 1), (0, 2), (1, 0), (1, 0), (1, 1), (2, 0)]
    simple = graph.simple()
    assert sorted(zip(simple.sources.tolist(), simple.indices.tolist(), strict=True)) == [
        (0, 1), (0, 2), (1, 0), (2, 0)
    ]  # fmt: skip


def test_simple_rows_begin_with_the_vertices_of_many_edges() -> None:
    sources, targets = kronecker(8)
    graph = Graph.from_edges(256, sources, targets, symmetric=True)
    simple = graph.simple()
    for vertex in range(256):
        row = simple.indices[simple.indptr[vertex] : simple.indptr[vertex + 1]]
        assert len(set(row.tolist())) == len(row)
        assert (np.diff(graph.degrees[row]) <= 0).all()


def test_kronecker_depends_on_the_seed_and_the_number_of_the_edge_alone() -> None:
    whole = kronecker(9, 4, seed=3)
    parts = [edges_of(np, 9, 3, first, 256) for first in range(0, 2048, 256)]
    for column in (0, 1):
        assert np.concatenate([part[column] for part in parts]).tolist() == whole[column].tolist()
    assert kronecker(9, 4, seed=4)[0].tolist() != whole[0].tolist()
    assert len(np.unique(kronecker(0, 3)[0])) == 1
    # Those of every version, and of every device.
    columns = kronecker(13, 16, seed=2**40 + 3)
    assert sha256(columns[0].tobytes() + columns[1].tobytes()).hexdigest()[:16] == "2b5b5ac685894fe5"
    assert kronecker(32, 0)[0].dtype == np.int64


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("kind", [np.int32, *exhaustive([np.int64])])
def test_depths_are_those_of_scipy(direction: Any, kind: Any) -> None:
    for n, count in ((1, 0), (1, 3), (50, 60), (50, 400), (200, 210)):
        sources, targets = random_edges(n, count, n, kind)
        graph = Graph.from_edges(n, sources, targets)
        for root in range(0, n, 7):
            found = bfs(graph, root, direction)
            assert found.depth.tolist() == depths_of_scipy(graph, root)
            assert found.parent.dtype == kind
            assert sum(level.frontier for level in found.levels) == (found.parent >= 0).sum()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_kronecker_searches_pass_the_rules(direction: Any) -> None:
    sources, targets = kronecker(12)
    graph = Graph.from_edges(4096, sources, targets, symmetric=True).simple()
    root = int(sources[0])
    found = bfs(graph, root, direction)
    inside = found.parent[sources] >= 0
    assert check_bfs(sources, targets, root, found.parent, found.depth) == inside.sum() > 60_000
    assert {level.direction for level in found.levels} == {
        "auto": {"down", "up"}, "down": {"down"}, "up": {"up"}
    }[direction]  # fmt: skip


def test_a_change_of_direction_looks_at_fewer_edges() -> None:
    sources, targets = kronecker(13)
    graph = Graph.from_edges(8192, sources, targets, symmetric=True).simple()
    root = int(sources[5])
    inspected = {way: sum(level.inspected for level in bfs(graph, root, way).levels) for way in DIRECTIONS}
    assert inspected["auto"] < inspected["down"] / 10
    assert inspected["auto"] < inspected["up"]
    reached = bfs(graph, root).parent >= 0
    assert inspected["down"] == graph.degrees[reached].sum()


PATH = (np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]))


@pytest.mark.parametrize(
    ("rule", "parent", "depth", "extra"),
    [
        (1, [1, 0, 1, 2, 3], None, []),  # the root has a parent
        (1, [0, 0, 1, 4, 3], None, []),  # a circle
        (1, [0, 0, 1, 3, 3], None, []),  # another root
        (1, [0, 0, 1, 9, 3], None, []),  # no vertex
        (1, [0, 0, -1, 2, 3], None, []),  # a parent that is not reached
        (2, [0, 0, 1, 2, 3], [0, 1, 2, 3, 5], []),
        (3, [0, 0, 1, 2, 3], None, [(0, 3)]),
        (4, [0, 0, 1, 2, -1], None, []),
        (4, [0, -1, -1, -1, -1], None, []),
        (5, [0, 0, 1, 2, 2], None, [(3, 4)]),
    ],
)
def test_broken_rules_are_found_out(rule: int, parent: list[int], depth: Any, extra: list[tuple[int, int]]) -> None:
    sources, targets = (np.concatenate([PATH[end], [edge[end] for edge in extra]]).astype(int) for end in (0, 1))
    depths = None if depth is None else np.array(depth)
    with pytest.raises(CheckFailed, match=f"rule {rule}"):
        check_bfs(sources, targets, 0, np.array(parent), depths)
    assert rule in RULES


def test_trees_are_not_checked_against_what_is_no_list_of_edges() -> None:
    sources, targets = PATH
    parent = np.array([0, 0, 1, 2, 3])
    refused: list[tuple[type[Exception], str, Any]] = [
        (BadGraph, "source 9 is not a vertex", lambda: check_bfs(sources + 6 * (sources == 3), targets, 0, parent)),
        (BadGraph, "target -4 is not a vertex", lambda: check_bfs(sources, -targets, 0, parent)),
        (BadInput, "one per source", lambda: check_bfs(sources[:1], targets, 0, parent)),
        (BadInput, "sources must be a one-dimensional array", lambda: check_bfs(sources * 1.0, targets, 0, parent)),
        (
            BadInput,
            "parent must be a one-dimensional array",
            lambda: check_bfs(sources, targets, 0, parent[:, None]),
        ),
        (BadInput, "list", lambda: check_bfs(sources, targets, 0, parent, [0, 1, 2, 3, 4])),
        (BadInput, "depth has shape", lambda: check_bfs(sources, targets, 0, parent, np.zeros((5, 5)))),
    ]
    for kind, message, call in refused:
        with pytest.raises(kind, match=message):
            call()


def test_a_correct_tree_passes_and_its_edges_count_multiples_and_loops() -> None:
    sources, targets = np.array([0, 0, 1, 1, 3, 4]), np.array([1, 1, 1, 2, 4, 4])
    assert check_bfs(sources, targets, 0, np.array([0, 0, 1, -1, -1]), np.array([0, 1, 2, -1, -1])) == 4
    assert check_bfs(sources, targets, 4, np.array([-1, -1, -1, 4, 4])) == 2


@settings(max_examples=60)
@given(st.integers(2, 9), st.data())
def test_any_single_wrong_parent_is_found_out(n: int, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=20))
    sources, targets = (np.array([pair[end] for pair in pairs]) for end in (0, 1))
    graph = Graph.from_edges(n, sources, targets, symmetric=True)
    found = bfs(graph, 0)
    vertex = data.draw(st.integers(0, n - 1))
    wrong = found.parent.copy()
    wrong[vertex] = data.draw(st.integers(-1, n - 1).filter(lambda parent: parent != found.parent[vertex]))
    neighbours = set(graph.indices[graph.indptr[vertex] : graph.indptr[vertex + 1]].tolist())
    also_right = (
        wrong[vertex] in neighbours and vertex != 0 and found.depth[wrong[vertex]] == found.depth[vertex] - 1 >= 0
    )
    if also_right:
        check_bfs(sources, targets, 0, wrong)
    else:
        with pytest.raises(CheckFailed):
            check_bfs(sources, targets, 0, wrong)


@settings(max_examples=60)
@given(st.integers(1, 8), st.booleans(), st.integers(1, 40), st.data())
def test_rows_do_not_depend_on_what_is_sorted_at_once(
    n: int, symmetric: bool, most: int, data: st.DataObject
) -> None:
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    sources, targets = (np.array([pair[end] for pair in pairs], np.int32) for end in (0, 1))
    back = [(target, source) for source, target in pairs if source != target] if symmetric else []
    numbered = sorted(enumerate([*pairs, *back]), key=lambda edge: edge[1][0])
    indptr, indices, order = sorted_rows(n, sources, targets, symmetric, most)
    assert indices.tolist() == [target for _, (_, target) in numbered]
    assert np.repeat(np.arange(n), np.diff(indptr)).tolist() == [source for _, (source, _) in numbered]
    assert (order is None) if symmetric else order.tolist() == [place for place, _ in numbered]


@given(st.lists(st.lists(st.integers(0, 8), max_size=4), max_size=8))
def test_the_head_of_a_row_says_whether_there_is_more(rows: list[list[int]]) -> None:
    indptr = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    indices = np.array([entry for row in rows for entry in row], np.int32)
    for row, head in zip(rows, heads_of(indptr, indices).tolist(), strict=True):
        assert head == (0 if not row else row[0] if len(row) > 1 else -1 - row[0])


def test_offsets_leave_room_to_count_beyond_the_last_edge() -> None:
    assert offset_type(2**31 - 2**10 - 1) is np.int32
    assert offset_type(2**31 - 2**10) is np.int64


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_cuts_are_right_up_to_the_last_offset_of_32_bits(kind: Any) -> None:
    last = 2**31 - 1
    offsets = np.array([0, 5, 2**30, 2**30, last - 2**29, last - 1, last], kind)
    assert cuts(offsets, 2**29) == [0, 1, 2, 4, 6]
    assert cuts(offsets, 2**31) == [0, 6]


@settings(max_examples=60)
@given(st.integers(1, 8), st.data())
def test_components_are_those_of_networkx(n: int, data: st.DataObject) -> None:
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=16))
    sources, targets = (np.array([pair[end] for pair in pairs], np.int32) for end in (0, 1))
    parts = components(Graph.from_edges(n, sources, targets))
    peer = networkx.DiGraph(pairs)
    peer.add_nodes_from(range(n))
    theirs = list(networkx.strongly_connected_components(peer))
    assert parts.count == len(theirs)
    for part in theirs:
        assert len({int(parts.labels[vertex]) for vertex in part}) == 1


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 2, 1, 3], [0, 1, 2], "decrease after vertex 1"),
        ([0, 1, 2], [0, 1, 1], "last offset is 2 and there are 3"),
        ([0, 1, 2], [0, 2], "target 2 is not a vertex"),
        ([0, 1, 2], [0, -1], "target -1 is not a vertex"),
        ([1, 2], [0, 0], "the first is 0"),
        ([], [], "the first is 0"),
    ],
)
def test_bad_graphs(indptr: list[int], indices: list[int], message: str) -> None:
    with pytest.raises(BadGraph, match=message):
        Graph(np.array(indptr, np.int64), np.array(indices, np.int64))


def test_bad_arrays_edges_roots_and_scales() -> None:
    with pytest.raises(BadInput, match="float64"):
        Graph(np.zeros(1), np.zeros(0, np.int32))
    with pytest.raises(BadInput, match="list"):
        Graph([0], np.zeros(0, np.int32))  # type: ignore[arg-type]
    with pytest.raises(BadGraph, match="source 3"):
        Graph.from_edges(3, np.array([3]), np.array([0]))
    with pytest.raises(BadGraph, match="give one of each"):
        Graph.from_edges(3, np.array([1, 2]), np.array([0]))
    empty = Graph(np.zeros(1, np.int32), np.zeros(0, np.int32))
    assert (empty.n, empty.m, components(empty).count) == (0, 0, 0)
    with pytest.raises(BadInput, match="is not a vertex"):
        bfs(empty, 0)
    with pytest.raises(BadInput, match="-1"):
        check_bfs(*PATH, -1, np.zeros(5, int))
    with pytest.raises(TooLarge, match=r"needs [\d,]{16,} bytes of memory, but only [\d,]+ are free"):
        kronecker(44)
    with pytest.raises(TooLarge, match="bytes"):
        graph500(40)
    with pytest.raises(BadGraph, match="scale"):
        kronecker(49)
    with pytest.raises(BadGraph, match="-1 vertices"):
        Graph.from_edges(-1, np.zeros(0, int), np.zeros(0, int))
    with pytest.raises(BadInput, match="'sideways' is not a valid direction: choose one of auto, down, up"):
        bfs(empty, 0, "sideways")  # type: ignore[arg-type]
    for call in (kronecker, graph500):
        with pytest.raises(BadInput, match="'gpu' is not a valid device"):
            call(3, device="gpu")
    with pytest.raises(BadInput, match="not a valid device"):
        search_states(Problem.langford(4), device="CUDA")
    with pytest.raises(BadGraph, match="no vertex has an edge"):
        graph500(0)
    for not_whole in (1.0, "1", None):
        with pytest.raises(BadInput, match="whole number"):
            bfs(empty, not_whole)  # type: ignore[arg-type]
        for call in (kronecker, lambda n: Graph.from_edges(n, np.zeros(0, int), np.zeros(0, int))):
            with pytest.raises(BadGraph, match="whole number"):
                call(not_whole)
    assert len(kronecker(np.int8(9))[0]) == 16 << 9
    assert Graph.from_edges(np.uint8(255), np.zeros(0, int), np.zeros(0, int)).n == 255


def test_the_protocol_of_graph500() -> None:
    outcome = graph500(10, roots=5, seed=2)
    document = outcome.document()
    assert len({search["root"] for search in document["searches"]}) == 5
    assert all(search["valid"] and sum(search["frontiers"]) == search["reached"] for search in document["searches"])
    slowness = np.mean([search.seconds / search.edges for search in outcome.searches])
    assert document["gteps"] == pytest.approx(1e-9 / slowness)


@pytest.mark.parametrize("size", [1, 3, 4, 6])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_partitioned_searches_have_the_depths_of_one_process(size: int, direction: Any) -> None:
    sources, targets = kronecker(9, 4)
    n, root = 500, 77  # not a multiple of anything
    inside = (sources < n) & (targets < n)
    sources, targets = sources[inside], targets[inside]
    known = bfs(Graph.from_edges(n, sources, targets, symmetric=True).simple(), root, direction)

    def search(world: ThreadRanks) -> Any:
        mine = slice(world.rank, None, world.size)
        graph = PartitionedGraph(world, n, sources[mine], targets[mine])
        own, levels = graph.search(root, direction)
        return graph.gather(own), levels, graph.connected

    for parent, levels, connected in on_threads(size, search):
        check_bfs(sources, targets, root, parent, known.depth)
        assert [level.frontier for level in levels] == [level.frontier for level in known.levels]
        different = sources != targets
        assert connected.tolist() == np.union1d(sources[different], targets[different]).tolist()


def test_the_protocol_is_the_same_on_any_number_of_ranks() -> None:
    alone = graph500(8, roots=4)
    for outcome in on_threads(6, lambda world: graph500_on_ranks(world, 8, roots=4)):
        for search, known in zip(outcome.searches, alone.searches, strict=True):
            assert (search.root, search.edges, search.frontiers) == (known.root, known.edges, known.frontiers)


@pytest.mark.parametrize(
    ("line", "group", "limit", "used", "cached"),
    [
        ("0::/batch/job", "sys/fs/cgroup/batch", "memory.max", "memory.current", "inactive_file"),
        ("0::/batch", "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
        (
            "4:cpu,memory:/batch/job", "sys/fs/cgroup/memory/batch", "memory.limit_in_bytes",
            "memory.usage_in_bytes", "total_inactive_file",
        ),
    ],
)  # fmt: skip
def test_memory_is_what_the_narrowest_group_leaves(
    line: str, group: str, limit: str, used: str, cached: str, tmp_path: Path
) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 8000 kB\n")
    assert present_bytes(tmp_path) == 8000 * 1024
    (tmp_path / "proc/self/cgroup").write_text(f"9:cpuset:/\n{line}\n")
    assert present_bytes(tmp_path) == 8000 * 1024
    folder = tmp_path / group
    folder.mkdir(parents=True)
    (folder / used).write_text("4000000\n")
    (folder / "memory.stat").write_text(f"anon 5\n{cached} 1000\n")
    for text, left in (
        ("5000000\n", 1_001_000),
        ("3000000\n", 0),
        ("max\n", 8000 * 1024),
        (f"{2**63}\n", 8000 * 1024),
    ):
        (folder / limit).write_text(text)
        assert present_bytes(tmp_path) == left
    assert 0 < present_bytes() < 2**50


@pytest.mark.parametrize(("scale", "edgefactor"), [(14, 16), (16, 1)])
@pytest.mark.parametrize("ranks", [0, 3])
def test_the_protocol_needs_no_more_memory_than_it_asks_for(
    ranks: int, scale: int, edgefactor: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(scale: int) -> None:
        if ranks:
            on_threads(ranks, lambda world: graph500_on_ranks(world, scale, 1, edgefactor, ranks_here=ranks))
        else:
            graph500(scale, 1, edgefactor)

    asked: list[int] = []
    for name in ("jobs.mpi.graph500", "langford.irregular.graphs.graph500", "langford.irregular.graphs.kronecker"):
        monkeypatch.setattr(
            importlib.import_module(name), "require_memory", lambda what, needed, present: asked.append(needed)
        )
    run(6)  # compiles
    asked.clear()
    tracemalloc.start()
    run(scale)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(asked) / 4 < peak < max(asked)
