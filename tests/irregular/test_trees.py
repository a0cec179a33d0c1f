"""Trees, accumulations by every method, and matrices of trees."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.irregular_parts.shapes import broom, chain, random_tree, star
from langford.errors import BadInput
from langford.irregular import Tree, TreeMatrix, leaffix, rootfix
from langford.irregular.compression import best_offset, compress
from tests.irregular.references import euler_tour, list_rank

PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "xor": operator.xor,
}
ALL_METHODS = ["levels", "euler", "preorder", "compression"]
SHAPES = {
    "chain": chain(150),
    "star": star(150),
    "broom": broom(150, 75),
    "bushy": random_tree(150),
    "deep": random_tree(150, 0.5),
    "one": star(1),
    "roots": np.arange(7, dtype=np.int32),
    "none": star(0),
    "forest": np.array([0, 0, 2, 2, 3, 4, 6, 6, 1, 4], np.int32),
    "not reached": np.array([-1, 1, 1, 2, -1, 0], np.int32),
    "roots last": np.array([4, 4, 3, 3, 4, 2], np.int64),
}

forests = st.integers(0, 24).flatmap(
    lambda n: st.tuples(*(st.integers(0, vertex) for vertex in range(n))).flatmap(
        lambda parents: st.permutations(range(n)).map(
            # Renamed, so that a parent need not be smaller than its children.
            lambda names: np.array([names[parents[names.index(vertex)]] for vertex in range(n)], np.int32)
        )
    )
)


def ancestors(parent: Any, vertex: int) -> list[int]:
    """The vertices from one to its root."""
    path = [vertex]
    while parent[path[-1]] not in (-1, path[-1]):
        path.append(int(parent[path[-1]]))
    return path


def expected(parent: Any, values: list[Any], op: str) -> tuple[list[Any], list[Any]]:
    """Rootfix and leaffix by Python's sums over paths."""
    paths = [ancestors(parent, vertex) for vertex in range(len(parent))]
    below: list[list[int]] = [[] for _ in paths]
    for vertex, path in enumerate(paths):
        for above in path:
            below[above].append(vertex)
    return tuple(  # type: ignore[return-value]
        [functools.reduce(PYTHON[op], [values[v] for v in group]) for group in groups] for groups in (paths, below)
    )


def methods_for(op: str, floats: bool) -> list[str]:
    invertible = op in ("add", "xor") or (op == "mul" and floats)
    return [*ALL_METHODS, "auto"] if invertible else ["levels", "compression", "auto"]


@pytest.mark.parametrize("shape", SHAPES)
def test_orders_of_a_tree(shape: str) -> None:
    parent = SHAPES[shape]
    tree, n = Tree(parent), len(parent)
    paths = [ancestors(parent, vertex) for vertex in range(n)]
    assert tree.depth.tolist() == [len(path) - 1 for path in paths]
    subtrees = [{v for v in range(n) if above in paths[v]} for above in range(n)]
    assert tree.size.tolist() == [len(below) for below in subtrees]
    at = np.argsort(tree.preorder)
    for vertex in range(n):
        begin = tree.preorder[vertex]
        assert set(at[begin : begin + tree.size[vertex]].tolist()) == subtrees[vertex]
    assert (np.diff(tree.depth[tree.order]) >= 0).all()
    assert sorted(tree.order.tolist()) == list(range(n))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_euler_tour_ranked_is_the_one_of_the_preorder(shape: str) -> None:
    tree = Tree(SHAPES[shape])
    n = len(tree)
    first = int(np.argmin(tree.opened)) if n else 0
    ranks = list_rank(euler_tour(tree), first)
    assert ranks[:n].tolist() == tree.opened.tolist()
    assert ranks[n:].tolist() == tree.closed.tolist()


@pytest.mark.parametrize("op", PYTHON)
@pytest.mark.parametrize("shape", SHAPES)
def test_integers_are_equal_bit_for_bit_by_every_method(shape: str, op: Any) -> None:
    parent = SHAPES[shape]
    values = np.random.default_rng(3).integers(-9, 10, len(parent))
    # Products of hundreds of factors: as they wrap in 64 bits.
    wrapped = [[(v + 2**63) % 2**64 - 2**63 for v in row] for row in expected(parent, values.tolist(), op)]
    for method in methods_for(op, floats=False):
        down, up = (fix(Tree(parent), values, op, method) for fix in (rootfix, leaffix))  # type: ignore[arg-type]
        assert [down.tolist(), up.tolist()] == wrapped
        assert down.dtype == up.dtype == values.dtype


@settings(max_examples=60)
@given(forests, st.sampled_from(sorted(PYTHON)), st.data())
def test_any_forest_by_every_method(parent: Any, op: Any, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(-100, 100), min_size=len(parent), max_size=len(parent)))
    wrapped = [[(v + 2**63) % 2**64 - 2**63 for v in row] for row in expected(parent, values, op)]
    for method in methods_for(op, floats=False):
        results = [fix(Tree(parent), np.array(values, np.int64), op, method) for fix in (rootfix, leaffix)]  # type: ignore[arg-type]
        assert [result.tolist() for result in results] == wrapped


def gamma(k: Any) -> Any:
    """Higham's γ(k) for float64."""
    return k * 2.0**-53 / (1 - k * 2.0**-53)


def require_bounds(parent: Any, put: Callable[[Any], Any] = np.asarray, host: Callable[[Any], Any] = list) -> None:
    """Fails unless sums of floats are as exact as the docstring says.

    ``put``, ``host``: bring an array to a device and back.
    """
    random, known, n = np.random.default_rng(5), Tree(parent), len(parent)
    tree = Tree(put(parent))
    # Badly conditioned: large values of both signs that cancel.
    values = random.normal(size=n) * 10.0 ** random.integers(-8, 9, n)
    exact = expected(parent, list(map(Fraction, values)), "add")
    size = np.abs(values)
    on_path, below = (np.array(list(map(float, row))) for row in expected(parent, list(map(Fraction, size)), "add"))
    before = np.cumsum(size[np.argsort(known.preorder)])
    up_to = before[known.preorder], before[known.preorder + known.size - 1]
    for method in ALL_METHODS:
        bounds = {
            "levels": (gamma(known.depth) * on_path, gamma(known.size - 1) * below),
            "compression": (gamma(known.depth) * on_path, gamma(known.size - 1) * below),
            "preorder": (2 * gamma(2 * n) * up_to[0], 2 * gamma(2 * n) * up_to[1]),
            "euler": (2 * gamma(4 * n) * up_to[0], 2 * gamma(4 * n) * up_to[1]),
        }[method]
        results = (host(fix(tree, put(values), "add", method)) for fix in (rootfix, leaffix))  # type: ignore[arg-type]
        for result, truth, bound in zip(results, exact, bounds, strict=True):
            errors = [abs(Fraction(float(got)) - true) for got, true in zip(result, truth, strict=True)]
            assert all(error <= limit for error, limit in zip(errors, bound, strict=True)), method


@pytest.mark.parametrize("shape", ["chain", "star", "broom", "bushy", "deep", "forest"])
def test_sums_of_floats_stay_within_the_bounds_of_the_docstring(shape: str) -> None:
    require_bounds(SHAPES[shape])


def test_products_of_floats_by_every_method() -> None:
    parent = SHAPES["deep"]
    values = np.random.default_rng(1).uniform(0.5, 2, len(parent))
    for op in ("mul", "min", "max"):
        down, up = expected(parent, list(map(Fraction, values)), op)
        for method in methods_for(op, floats=True):
            for fix, truth in ((rootfix, down), (leaffix, up)):
                result = fix(Tree(parent), values, op, method)  # type: ignore[arg-type]
                assert result == pytest.approx([float(value) for value in truth], rel=1e-12)


@pytest.mark.exhaustive
def test_integers_of_any_size_wrap_as_their_type_does() -> None:
    kind = "i1"
    parent, limits = SHAPES["forest"], np.iinfo(kind)
    # Read-only, and not side by side.
    values = np.random.default_rng(4).integers(limits.min, limits.max, 2 * len(parent), kind, endpoint=True)[::2]
    values.flags.writeable = False
    for op in PYTHON:
        truth = [[value % 2**limits.bits for value in row] for row in expected(parent, values.tolist(), op)]
        for method in methods_for(op, floats=False):
            results = [fix(Tree(parent), values, op, method) for fix in (rootfix, leaffix)]  # type: ignore[arg-type]
            assert [[value % 2**limits.bits for value in result.tolist()] for result in results] == truth
            assert all(result.dtype == kind for result in results)


def test_a_chain_of_a_million() -> None:
    n = 10**6
    tree = Tree(chain(n))
    ones = np.ones(n, np.int64)
    for method in ALL_METHODS:
        assert np.array_equal(rootfix(tree, ones, "add", method), np.arange(1, n + 1))  # type: ignore[arg-type]
        assert np.array_equal(leaffix(tree, ones, "add", method), np.arange(n, 0, -1))  # type: ignore[arg-type]


def test_compression_takes_few_entries_and_few_steps() -> None:
    n = 2**15
    for parent, steps, entries in ((chain(n), 30, 2 * n), (star(n), 1, n), (random_tree(n), 40, 1.75 * n)):
        found = compress(Tree(parent).above, Tree(parent).depth)
        assert len(found) <= steps
        assert sum(len(step.sources) for step in found) <= entries
        for step in found:
            assert not set(step.targets.tolist()) & set(step.sources.tolist())
            assert (np.diff(step.targets) >= 0).all()


@given(st.lists(st.integers(0, 50), min_size=2, max_size=40))
def test_the_offset_with_the_fewest_entries(vertices: list[int]) -> None:
    def more(offset: int) -> int:
        numbers = [level + offset + 1 for level in range(len(vertices))]
        zeros = [(number & -number).bit_length() - 1 for number in numbers]
        return sum(count * several for count, several in zip(vertices, zeros, strict=True))

    offset, entries = best_offset(np.array(vertices))
    assert entries == more(offset) == min(more(other) for other in range(256))


# -- matrices ---------------------------------------------------------------------------------


def matrix_of(seed: int, parent: Any) -> tuple[TreeMatrix, Any]:
    """A random positive definite matrix with the graph of the tree, and the same densely."""
    random, n = np.random.default_rng(seed), len(parent)
    above = np.where(parent < 0, np.arange(n), parent)
    edge = random.normal(size=n)
    strength = np.abs(edge)
    diagonal = random.uniform(0.1, 1, n) + strength + np.bincount(above, strength, n)
    dense = np.diag(diagonal)
    for vertex in range(n):
        if above[vertex] != vertex:
            dense[vertex, above[vertex]] = dense[above[vertex], vertex] = edge[vertex]
    return TreeMatrix(parent, diagonal, edge), dense


@pytest.mark.parametrize("method", ["compression", "levels"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (0, 0)])
def test_a_matrix_without_vertices(method: Any, shape: tuple[int, ...]) -> None:
    matrix, _ = matrix_of(4, SHAPES["none"])
    for solve in (matrix.solve, matrix.forward, matrix.backward):
        assert solve(np.empty(shape), method).shape == shape


@pytest.mark.parametrize("method", ["compression", "levels"])
@pytest.mark.parametrize("kind", ["u1", ">i4", "f2", "f4", ">f8"])
def test_right_sides_of_any_type_and_order(method: Any, kind: str) -> None:
    matrix, dense = matrix_of(4, SHAPES["forest"])
    b = np.arange(60).reshape(10, 6).astype(kind)
    b.flags.writeable = False
    for right in (np.asfortranarray(b), b[:, ::2], b[:, 0]):
        x = matrix.solve(right, method)
        assert x.dtype == np.float64
        assert x == pytest.approx(np.linalg.solve(dense, right.astype(float)), rel=1e-9)


@pytest.mark.parametrize("shape", ["chain", "deep", "roots last"])
@pytest.mark.parametrize("method", ["compression", "levels"])
def test_solutions_are_those_of_a_dense_solver(shape: str, method: Any) -> None:
    parent = SHAPES[shape]
    n = len(parent)
    matrix, dense = matrix_of(4, parent)
    b = np.random.default_rng(5).normal(size=(n, 3))
    x = matrix.solve(b, method)
    assert x == pytest.approx(np.linalg.solve(dense, b), rel=1e-9, abs=1e-12)
    assert matrix.solve(b[:, 0], method) == pytest.approx(x[:, 0], rel=1e-12)
    # The residual, relative to |A|·|x|, within what depth and condition allow.
    residual = np.abs(dense @ x - b).max() / (np.abs(dense).sum(axis=1).max() * np.abs(x).max())
    assert residual <= gamma(4 * matrix.tree.height + 4) * np.linalg.cond(dense)
    # The halves, against the factors written out.
    lower = np.eye(n)
    others = matrix.tree.above != np.arange(n)
    lower[matrix.tree.above[others], np.flatnonzero(others)] = -matrix.factors[others]
    assert lower @ np.diag(matrix.pivots) @ lower.T == pytest.approx(dense, abs=1e-9)
    assert lower @ matrix.forward(b, method) == pytest.approx(b, abs=1e-9)
    assert lower.T @ matrix.backward(b, method) == pytest.approx(b, abs=1e-9)


def test_a_zero_pivot_is_named() -> None:
    with pytest.raises(BadInput, match="vertex 2"):
        TreeMatrix(np.array([0, 0, 1]), np.array([1.0, 1, 0]), np.array([0, 1.0, 1]))
    # It arises on the way: 1 − 1²/1.
    with pytest.raises(BadInput, match="vertex 0"):
        TreeMatrix(np.array([0, 0]), np.array([1.0, 1]), np.array([0, 1.0]))
    with pytest.raises(BadInput, match="3 of them"):
        TreeMatrix(np.array([0, 0, 1]), np.ones(2), np.ones(3))
    with pytest.raises(BadInput, match="diagonal number 1 is nan"):
        TreeMatrix(np.array([0, 0]), np.array([1, np.nan]), np.ones(2))
    with pytest.raises(BadInput, match="pivot of vertex 0 exceeds"):
        TreeMatrix(np.array([0, 0]), np.array([1, 1e-300]), np.array([0, 1e200]))
    with pytest.raises(BadInput, match="edge has shape"):
        TreeMatrix(np.array([0, 0]), np.ones(2), np.ones((2, 2)))
    with pytest.raises(BadInput, match="'fast' is not a valid method"):
        matrix_of(4, SHAPES["one"])[0].solve(np.ones(1), "fast")  # type: ignore[arg-type]


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ([1, 2, 0], "cycle through vertex [012]"),
        ([0, 2, 3, 2, 1], "cycle through vertex [23]"),
        ([0, 5], "vertex 1 has the parent 5"),
        ([0, -2], "vertex 1 has the parent -2"),
    ],
)
def test_bad_trees(parent: list[int], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Tree(np.array(parent))


def test_values_and_methods_that_do_not_fit() -> None:
    tree = Tree(star(3))
    whole, real = np.arange(3), np.array([1.0, 0.0, 2.0])
    refused: list[tuple[type[Exception], str, Any]] = [
        (BadInput, "give 3 of them", lambda: rootfix(tree, np.arange(4), "add")),
        (BadInput, "values number 1 is nan", lambda: leaffix(tree, np.array([0, np.nan, 0]), "add")),
        (BadInput, "xor combines integers", lambda: rootfix(tree, real, "xor")),
        (BadInput, "complex128", lambda: rootfix(tree, real + 0j, "add")),
        (BadInput, "not a valid operator", lambda: rootfix(tree, whole, "plus")),  # type: ignore[arg-type]
        (BadInput, "one per vertex", lambda: rootfix(tree, np.ones((3, 2)), "add")),
        (BadInput, "not a valid method", lambda: rootfix(tree, whole, "add", "fast")),  # type: ignore[arg-type]
        (BadInput, ">i8", lambda: rootfix(tree, whole.astype(">i8"), "add")),
        (BadInput, ">f8", lambda: leaffix(tree, real.astype(">f8"), "add", "preorder")),
        (BadInput, "float16", lambda: rootfix(tree, real.astype(np.float16), "add")),
        (BadInput, "float128", lambda: rootfix(tree, real.astype(np.longdouble), "add")),
        (BadInput, "max has no inverse", lambda: rootfix(tree, whole, "max", "euler")),
        (BadInput, "min has no inverse", lambda: leaffix(tree, whole, "min", "preorder")),
        (BadInput, "product of integers", lambda: leaffix(tree, whole, "mul", "euler")),
        (BadInput, "vertex 1 is zero", lambda: rootfix(tree, real, "mul", "euler")),
        (BadInput, "float64", lambda: Tree(real)),
    ]
    for kind, message, call in refused:
        with pytest.raises(kind, match=message):
            call()
