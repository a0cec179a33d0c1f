"""The CUDA kernels of trees and of their matrices: on the host shim, and on GPU 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.irregular_parts.shapes import broom, chain, random_tree, star
from langford import irregular
from langford.irregular import Tree
from langford.irregular.arrays import steps_to_end
from langford.irregular.cuda import solve as cuda_solve
from langford.irregular.cuda import tree as cuda_tree
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.cuda.passes import Passes, accumulate, by_levels, packed
from langford.irregular.cuda.treefix import GpuTree, by_scans, tile_of
from tests.irregular.references import euler_tour

INT, LONG, DOUBLE = np.int32, np.int64, np.float64
OPERATORS = ["add", "mul", "min", "max", "xor"]
SHAPES = {
    "chain": chain(200),
    "star": star(200),
    "broom": broom(200, 60),
    "bushy": random_tree(400),
    "deep": random_tree(300, 0.5),
    "forest": np.array([0, 0, 2, 2, 3, 4, 6, 6, 1, 4], INT),
    "one": star(1),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_orders_and_ranks_are_those_of_the_cpu(gpu: Gpu, shape: str) -> None:
    tree = Tree(SHAPES[shape])
    found = cuda_tree.orders(gpu, gpu.put(tree.above, tree.above.dtype))
    assert found.astray == -1
    for name in ("indptr", "children", "depth", "size", "preorder"):
        assert gpu.on_host(getattr(found, name)).tolist() == getattr(tree, name).tolist(), name
    order = gpu.on_host(found.order)
    assert sorted(order.tolist()) == list(range(len(tree)))
    assert (np.diff(tree.depth[order]) >= 0).all()
    tour, n = euler_tour(tree), len(tree)
    assert (2 * n - 1 - steps_to_end(tour)[0][:n]).tolist() == tree.opened.tolist()


def test_a_circle_of_parents_is_seen(gpu: Gpu) -> None:
    parent = np.array([0, 2, 3, 1, 3, 4, 0], INT)
    assert cuda_tree.orders(gpu, gpu.put(parent, INT)).astray in {1, 2, 3, 4, 5}


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("shape", ["chain", "bushy", "forest", "one"])
def test_integers_are_those_of_the_cpu_bit_for_bit(gpu: Gpu, shape: str, op: Any) -> None:
    tree = Tree(SHAPES[shape])
    values = np.random.default_rng(2).integers(-9, 10, len(tree))
    there, steps = on_device(gpu, tree)
    for down, fix in ((True, irregular.rootfix), (False, irregular.leaffix)):
        known = fix(tree, values, op).tolist()
        for passes in steps:
            assert gpu.on_host(accumulate(gpu, passes, gpu.put(values, LONG), op, down)).tolist() == known
        for by_tour in (True, False) if op in ("add", "xor") else ():
            assert gpu.on_host(by_scans(gpu, there, gpu.put(values, LONG), op, by_tour, down)).tolist() == known


class Moved:
    """A tree that a core has ordered, as a device reads it."""

    above: Any

    def __init__(self, gpu: Gpu, tree: Tree) -> None:
        self.height = tree.height
        for name in ("above", "order", "depth", "size", "preorder"):
            setattr(self, name, gpu.put(getattr(tree, name), tree.above.dtype))

    def __len__(self) -> int:
        return len(self.above)


def on_device(gpu: Gpu, tree: Tree) -> tuple[GpuTree, list[Passes]]:
    """What the device reads of a tree that a core has ordered, and its steps by levels and by compression."""
    moved = Moved(gpu, tree)
    there = GpuTree(gpu, moved)
    return there, [there.passes(moved, method) for method in ("levels", "compression")]


def renamed(parent: Any, random: Any) -> Any:
    """The same forest with other numbers for its vertices."""
    names = random.permutation(len(parent)).astype(INT)
    other = np.empty_like(parent)
    other[names] = names[parent]
    return other


def test_scans_over_several_tiles(gpu: Gpu) -> None:
    random, kind = np.random.default_rng(7), DOUBLE
    # Around the borders of packs, rows and tiles, in preorder and renamed.
    tile = tile_of(np.dtype(kind).itemsize)
    for n in (1, 3, 32, 33, tile - 1, 2 * tile + 5):
        any_tree = renamed(random_tree(n, 0.1, seed=n), random)
        for parent in (star(n), chain(n), any_tree) if n < tile else (any_tree,):
            tree = Tree(parent)
            there, _ = on_device(gpu, tree)
            values = random.integers(0, 100, n).astype(kind)
            for down, fix in ((True, irregular.rootfix), (False, irregular.leaffix)):
                # Sums of small whole numbers are exact in every type.
                known = fix(tree, values, "add", "levels").tolist()
                # The same values again one place after a border of packs.
                for begin in (gpu.put(values, kind), gpu.put(np.append(99, values), kind)[1:]):
                    for by_tour in (True, False):
                        result = by_scans(gpu, there, begin, "add", by_tour, down)
                        assert gpu.on_host(result).tolist() == known


@pytest.mark.parametrize("whole", [0, 7, 39, 139])
@pytest.mark.parametrize("kind", [INT, LONG, DOUBLE])
def test_a_tile_looks_back_for_the_sums_of_all_before_it(gpu: Gpu, kind: Any, whole: int) -> None:
    # As if other blocks had begun 140 tiles, of one of which the whole sum is known; of later ones it is not yet.
    size = np.dtype(kind).itemsize
    begun, tile = 140, tile_of(size)
    n = begun * tile + 100
    values = np.random.default_rng(9).integers(0, 5, n).astype(kind)
    known = np.concatenate([[0], np.cumsum(values, dtype=kind)])
    words = size // 4
    states = np.zeros(1 + (begun + 1) * words, np.uint64)
    states[0] = begun
    for other in range(begun):
        end = (other + 1) * tile
        state, total = (2, known[end]) if other == whole else (1, known[end] - known[end - tile])
        if other < whole:
            total = kind(99)  # nobody may add it: the whole sum has it
        halves = np.array([total], kind).view(np.uint32).astype(np.uint64)
        states[1 + other * words : 1 + (other + 1) * words] = np.uint64(state << 32) | halves
    sums = gpu.zeros(n + 1, kind)
    gpu.program("treefix.cu", VERTEX=INT, VALUE=kind).launch(
        "scan_vertices", INT(0), LONG(n), INT(0), gpu.put([0], INT), gpu.put(values, kind), sums,
        gpu.put(states, np.uint64),
    )  # fmt: skip
    first = begun * tile + 1
    assert gpu.on_host(sums)[first:].tolist() == known[first:].tolist()


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 400), st.integers(0, 2**32), st.floats(0, 1))
def test_scans_and_passes_over_any_forest(gpu: Gpu, n: int, seed: int, roots: float) -> None:
    random = np.random.default_rng(seed)
    parent = (random.random(n) * np.arange(n)).astype(INT)
    chosen = np.flatnonzero(random.random(n) < roots)
    parent[chosen] = chosen
    tree = Tree(renamed(parent, random))
    values = random.integers(-(2**31), 2**31, n).astype(INT)
    there, steps = on_device(gpu, tree)
    for op in ("add", "xor"):
        for down, fix in ((True, irregular.rootfix), (False, irregular.leaffix)):
            known = fix(tree, values, op, "levels").tolist()  # type: ignore[arg-type]
            for by_tour in (True, False):
                assert gpu.on_host(by_scans(gpu, there, gpu.put(values, INT), op, by_tour, down)).tolist() == known
            for passes in steps:
                assert gpu.on_host(accumulate(gpu, passes, gpu.put(values, INT), op, down)).tolist() == known


def test_rows_of_equal_targets_that_several_warps_share(gpu: Gpu) -> None:
    random = np.random.default_rng(8)
    # Stars of many sizes: targets that end within a row, at its border, and after many rows.
    sizes = np.concatenate([random.integers(1, 90, 60), [32, 64, 30_000, 1, 31, 33]])
    roots = np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(INT)
    # And a deep tree: steps of all blocks, and of one.
    for parent in (np.repeat(roots, sizes), renamed(random_tree(7000, 0.2), random)):
        tree = Tree(parent)
        values = random.integers(-9, 10, len(tree))
        _, steps = on_device(gpu, tree)
        for op in OPERATORS:
            for down, fix in ((True, irregular.rootfix), (False, irregular.leaffix)):
                known = fix(tree, values, op, "levels").tolist()  # type: ignore[arg-type]
                result = accumulate(gpu, steps[1], gpu.put(values, LONG), op, down)
                assert gpu.on_host(result).tolist() == known


@pytest.mark.parametrize("shape", SHAPES)
def test_solves_are_those_of_the_cpu(gpu: Gpu, shape: str) -> None:
    tree, random = Tree(SHAPES[shape]), np.random.default_rng(4)
    n = len(tree)
    edge, b = random.normal(size=n), random.normal(size=(n, 2))
    diagonal = 1 + np.abs(edge) + np.bincount(tree.above, np.abs(edge), n)
    known = irregular.TreeMatrix(tree.parent, diagonal, edge)
    above, order, depth = (gpu.put(array, array.dtype) for array in (tree.above, tree.order, tree.depth))
    pivots, factors = gpu.put(known.pivots, DOUBLE), gpu.put(known.factors, DOUBLE)
    moved = [
        type(step)(gpu.put(step.targets, LONG), gpu.put(step.sources, LONG), gpu.put(step.factors, DOUBLE))
        for step in known.steps
    ]
    for passes in (packed(gpu, n, moved), by_levels(gpu, above, order, depth, factors)):
        for what in ("forward", "backward", "solve"):
            for side in (b, b[:, 0]):
                x = cuda_solve.solve(gpu, passes, pivots, gpu.put(side, DOUBLE), what)
                assert gpu.on_host(x) == pytest.approx(getattr(known, what)(side), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_seen_in_the_solve(gpu: Gpu, wrong: float) -> None:
    b = np.ones(50)
    b[17] = wrong
    ones = gpu.put(np.ones(50), DOUBLE)
    assert cuda_solve.solve(gpu, packed(gpu, 50, []), ones, gpu.put(b, DOUBLE), "forward") is None
