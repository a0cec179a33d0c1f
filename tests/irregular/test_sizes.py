"""Trees of millions of vertices and graphs of billions of edges, on a GPU with much memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from benchmarks.irregular_parts.shapes import random_tree
from langford import irregular
from langford.irregular.cuda.gpu import gpu_by_number
from langford.kernels.gpu.runtime import NoGpu

VERTICES = 45_000_000
SCALE, EDGEFACTOR = 26, 40
"""More than 2³² edges, both directions of each counted."""

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def cupy() -> Any:
    """CuPy, where there is a GPU."""
    try:
        return gpu_by_number(0).xp
    except NoGpu as error:
        pytest.skip(f"needs a GPU: {error}")


@pytest.fixture(params=[16])
def xp(cupy: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """CuPy, on a GPU with that many GB of free memory."""
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    if gpu_by_number(0).free_bytes() < request.param * 10**9:
        pytest.skip(f"needs a GPU with {request.param} GB of free memory")
    yield cupy
    pool.free_all_blocks()


@pytest.fixture(scope="module")
def parent(cupy: Any) -> Any:
    """Labels without order, so that a parent may come after its children."""
    grown = random_tree(VERTICES)
    labels = np.random.default_rng(1).permutation(VERTICES).astype(grown.dtype)
    moved = np.empty_like(grown)
    moved[labels] = labels[grown]
    return moved


def test_a_large_tree(xp: Any, parent: Any) -> None:
    tree = irregular.Tree(xp.asarray(parent))
    values = xp.random.default_rng(2).integers(-1000, 1000, VERTICES, np.int64)
    for way in (irregular.rootfix, irregular.leaffix):
        known = way(tree, values, "add", "levels")
        for method in ("preorder", "euler", "compression"):
            assert bool((way(tree, values, "add", method) == known).all()), method
        root = int((tree.parent == xp.arange(VERTICES)).argmax())
        total = int(values[root]) if way is irregular.rootfix else int(values.sum())
        assert int(known[root]) == total


def test_a_large_matrix(xp: Any, parent: Any) -> None:
    there, random = xp.asarray(parent), xp.random.default_rng(3)
    edge, b = random.random(VERTICES), random.random(VERTICES)
    is_root = there == xp.arange(VERTICES)
    edge[is_root] = 0
    # More than what stands beside it in its row: the matrix is far from singular.
    diagonal = 1 + edge + xp.bincount(there, edge, VERTICES)
    x = irregular.TreeMatrix(there, diagonal, edge).solve(b)
    product = diagonal * x + edge * xp.where(is_root, 0, x[there]) + xp.bincount(there, edge * x, VERTICES)
    assert float(abs(product - b).max()) < 1e-12 * float(abs(diagonal).max())


@pytest.mark.parametrize("xp", [110], indirect=True)
def test_more_edges_than_32_bits_can_number(xp: Any) -> None:
    edges = irregular.kronecker(SCALE, EDGEFACTOR, device="cuda")
    graph = irregular.Graph.from_edges(1 << SCALE, *edges, symmetric=True)
    assert graph.m > 2**32
    assert graph.indptr.dtype == np.int64
    root = int(graph.degrees.argmax())
    found = irregular.bfs(graph, root)
    del graph
    traversed = irregular.check_bfs(*edges, root, found.parent)
    # Nearly all edges are in one component; a vertex in two or three has none.
    assert traversed > 0.99 * (EDGEFACTOR << SCALE)
