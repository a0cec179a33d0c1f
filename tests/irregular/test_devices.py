"""The public functions with arrays of a GPU: on GPU 0 with CuPy, and on the host shim, which takes its place."""

from __future__ import annotations

import resource
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.irregular_parts.shapes import chain, random_tree, star
from langford import irregular
from langford.errors import BadInput
from langford.irregular.cuda import tree as cuda_tree
from langford.irregular.cuda.gpu import Gpu, gpu_by_number
from langford.kernels.gpu.host import HostProgram
from langford.kernels.gpu.runtime import NoGpu
from tests.irregular.references import euler_tour, list_rank
from tests.library.programs import needs
from tests.support.cases import exhaustive

TREES = [random_tree(200), np.array([-1, 1, 1, 2, -1, 0], np.int32)]
SHIM = Gpu(np, HostProgram)


@pytest.fixture(params=[*exhaustive(["host"]), pytest.param("gpu", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the device's arrays; for the shim, NumPy's arrays are taken for those of a GPU."""
    if request.param == "gpu":
        try:
            return gpu_by_number(0).xp
        except NoGpu as error:
            pytest.skip(f"needs a GPU: {error}")
    needs("g++")
    graphs = ("graphs.bfs", "graphs.components", "graphs.graph", "cycles.optimal")
    for name in (*graphs, "trees.tree", "trees.tree_matrix", "trees.treefix"):
        monkeypatch.setattr(import_module(f"langford.irregular.{name}"), "on_gpu", lambda array: True)
    for name in ("gpu", "solve", "treefix"):
        monkeypatch.setattr(import_module(f"langford.irregular.cuda.{name}"), "gpu_of", lambda array: SHIM)
    return np


@pytest.mark.exhaustive
def test_programs_on_the_host_take_little_memory() -> None:
    """A run of the tests makes hundreds: the stacks of their threads are as large as what is reached of them."""
    needs("g++")

    def taken() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    parents, before = chain(9), taken()
    for _ in range(4):
        assert cuda_tree.orders(Gpu(np, HostProgram), parents).astray == -1
    assert taken() - before < 4 * 2**24


def host(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.get()


@pytest.mark.gpu
def test_arrays_of_a_gpu_that_is_not_in_use() -> None:
    try:
        xp = gpu_by_number(1).xp
    except NoGpu as error:
        pytest.skip(f"needs two GPUs: {error}")
    with xp.cuda.Device(1):
        tree, ones = irregular.Tree(xp.asarray(chain(9))), xp.ones(9, np.int32)
        assert irregular.leaffix(tree, ones, "add").tolist() == list(range(9, 0, -1))
    with pytest.raises(BadInput, match="on GPU 1, and GPU 0 is in use"):
        irregular.leaffix(tree, ones, "add")


def test_searches(xp: Any) -> None:
    sources, targets = map(xp.asarray, irregular.kronecker(9, 6))
    graph = irregular.Graph.from_edges(512, sources, targets, symmetric=True)
    pairs = sorted(zip(host(graph.sources).tolist(), host(graph.indices).tolist(), strict=True))
    both = list(zip(host(sources).tolist(), host(targets).tolist(), strict=True))
    assert pairs == sorted(both + [(target, source) for source, target in both if source != target])
    simple = graph.simple()
    assert len(set(pairs) - {(vertex, vertex) for vertex in range(512)}) == simple.m
    root = int(sources[0])
    for direction in ("auto", "down", "up"):
        found = irregular.bfs(simple, root, direction)
        assert type(found.parent) is type(sources)
        traversed = irregular.check_bfs(sources, targets, root, found.parent, found.depth)
        assert traversed == (host(found.parent)[host(sources)] >= 0).sum()


def test_weights_follow_the_order_of_directed_graphs(xp: Any) -> None:
    random = np.random.default_rng(1)
    sources, targets = random.integers(0, 30, (2, 80)).astype(np.int32)
    weights = random.integers(-9, 10, 80)
    graph = irregular.Graph.from_edges(30, xp.asarray(sources), xp.asarray(targets))
    assert host(graph.sources).tolist() == np.sort(sources).tolist()
    assert host(graph.reversed.reversed.indptr).tolist() == host(graph.indptr).tolist()
    optimal = irregular.cycle_mean(graph, xp.asarray(weights)[graph.order], maximum=True)
    optimal.check()
    assert type(optimal.potentials) is type(graph.indptr)
    on_cycle = host(xp.asarray(weights)[graph.order][optimal.edges])
    assert optimal.value == Fraction(int(on_cycle.sum()), len(on_cycle))
    assert irregular.components(graph).count >= 1


@pytest.mark.parametrize("maximum", [False, True])
def test_weights_and_times_may_be_columns_of_a_table(xp: Any, maximum: bool) -> None:
    ends = xp.asarray([[0, 1], [1, 2], [2, 0], [0, 0]], np.int32)
    graph = irregular.Graph.from_edges(3, ends[:, 0], ends[:, 1])
    table = xp.asarray([[5, 100, 1], [1, -50, 2], [6, 7, 3], [9, -80, 4]])[graph.order]
    weights, times = table[:, 0], table[:, 2]
    for given in (None, times):
        copies = weights.copy(), None if given is None else given.copy()
        one, other = (
            irregular.cycle_mean(graph, first, maximum)
            if second is None
            else irregular.cycle_ratio(graph, first, second, maximum)
            for first, second in ((weights, given), copies)
        )
        one.check()
        assert one.value == other.value
    both = xp.asarray([[0, 1], [2, 2], [3, 0], [4, 3]], np.int32)
    rows = irregular.Graph(both[:, 0].copy(), xp.asarray([[1, 9], [2, 9], [0, 9], [0, 9]], np.int32)[:, 0])
    assert host(rows.indices).tolist() == [1, 2, 0, 0]
    assert (
        irregular.cycle_mean(rows, weights, maximum).value == irregular.cycle_mean(rows, copies[0], maximum).value
    )


@pytest.mark.parametrize("number", range(len(TREES)))
def test_trees(xp: Any, number: int) -> None:
    parent = xp.asarray(TREES[number])
    tree, random = irregular.Tree(parent), np.random.default_rng(2)
    n = len(tree)
    following = host(euler_tour(tree))
    assert list_rank(following, int(tree.opened.argmin()))[:n].tolist() == host(tree.opened).tolist()
    whole, real = random.integers(-5, 6, n), random.uniform(0.5, 2, n)
    for op in ("add", "xor", "min", "max", "mul"):
        for fix in (irregular.rootfix, irregular.leaffix):
            known: Any = fix(tree, xp.asarray(whole), op, "levels")
            invertible = ("preorder", "euler") if op in ("add", "xor") else ()
            for method in ("auto", "compression", *invertible):
                result = fix(tree, xp.asarray(whole), op, method)  # type: ignore[arg-type]
                assert type(result) is type(parent)
                assert host(result).tolist() == host(known).tolist()
    products = [
        host(irregular.leaffix(tree, xp.asarray(real), "mul", method))  # type: ignore[arg-type]
        for method in ("levels", "compression", "preorder", "euler")
    ]
    assert all(product == pytest.approx(products[0], rel=1e-9) for product in products)


def test_bad_input_is_refused_there_too(xp: Any) -> None:
    with pytest.raises(BadInput, match=r"cycle through vertex [012]"):
        irregular.Tree(xp.asarray(np.array([1, 2, 0, 0])))
    tree = irregular.Tree(xp.asarray(star(3)))
    with pytest.raises(BadInput):
        irregular.rootfix(tree, xp.asarray(np.arange(3)), "max", "euler")
    with pytest.raises(BadInput, match="32 or 64 bits"):
        irregular.rootfix(tree, xp.asarray(np.arange(3, dtype=np.int8)), "add")
    with pytest.raises(BadInput, match="vertex 0"):
        irregular.TreeMatrix(*map(xp.asarray, (star(2), np.ones(2), np.ones(2))))


@pytest.mark.gpu
def test_the_protocol_and_edges_on_the_gpu() -> None:
    try:
        sources, _ = irregular.kronecker(12, device="cuda")
    except NoGpu as error:
        pytest.skip(f"needs a GPU: {error}")
    assert sources.get().tolist() == irregular.kronecker(12)[0].tolist()
    on_gpu, known = irregular.graph500(12, roots=4, device="cuda"), irregular.graph500(12, roots=4)
    for search, same in zip(on_gpu.searches, known.searches, strict=True):
        assert (search.root, search.edges, search.frontiers) == (same.root, same.edges, same.frontiers)
