"""The tables of irregular.md about trees and their matrices."""

from __future__ import annotations

import time
from functools import partial
from math import fsum, prod
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Table, paired
from benchmarks.irregular_parts.bench import Bench, ms
from benchmarks.irregular_parts.cub_scan import CubScan
from benchmarks.irregular_parts.shapes import broom, chain, random_tree, star
from langford import irregular
from langford.irregular.arrays import module_of, on_host
from langford.irregular.compression import ADD
from langford.irregular.cuda.gpu import gpu_of
from langford.irregular.cuda.solve import PARTS, passes_on_gpu, start
from langford.irregular.cuda.treefix import scanned
from langford.irregular.trees.treefix import TreefixMethod

DEEP = 20_000
"""Levels of a tree above which a GPU is not timed by levels: a barrier of all blocks for each."""
SIZES = {"cpu": (2**22, 10**6), "cuda": (2**24, 10**7)}
"""Vertices of the trees, and of the matrices."""
METHODS: tuple[TreefixMethod, ...] = ("levels", "preorder", "euler", "compression")
EXPONENTS = {"cpu": range(15, 21), "cuda": range(15, 25)}
"""Of the sizes of stars and chains."""
TABLE_1 = {
    "af_shell9": (504_855, 490), "audikw1": (943_695, 236), "ldoor": (952_203, 784),
    "af_shell10": (1_508_065, 1098), "G3_circuit": (1_585_478, 705), "kkt_power": (2_063_494, 36),
    "nlpkkt120": (3_542_400, 123), "cage15": (5_154_859, 81), "nlpkkt160": (8_345_600, 163),
    "nlpkkt200": (16_240_000, 203),
}  # fmt: skip
"""Vertices and depth of the trees in table I of Defour and Marin."""
FACTORS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Depth factors of Rostrup, Srivastava and Singhal."""


def treefix(bench: Bench) -> None:
    """Leaffix of int32 by every method, on several shapes."""
    n = 2**12 if bench.quick else SIZES[bench.device][0]
    table = bench.report.table("tree", "method", "ms, alone", "ms, in a row", "share of 12 bytes per vertex")
    random = np.random.default_rng(1)
    shapes = {
        "star": star(n), "chain": chain(n), "broom": broom(n, n // 2), "random, 3 children": random_tree(n),
        "random, in preorder": in_preorder(random_tree(n)),
        "random, labels at random": relabelled(random_tree(n), random),
    }  # fmt: skip
    for name, parent in shapes.items():
        tree = irregular.Tree(bench.put(parent))
        values = bench.put(random.integers(-9, 10, n).astype(np.int32))
        expected = irregular.leaffix(tree, values, "add", "preorder")
        for method in METHODS:
            if method == "levels" and bench.device == "cuda" and tree.height > DEEP:
                continue
            taken = bench.timed(3, lambda: irregular.leaffix(tree, values, "add", method))
            if not bool((taken.outcome == expected).all()):
                raise SystemExit(f"{method} is wrong on {name}")
            seconds = bench.in_a_row(3, lambda: irregular.leaffix(tree, values, "add", method))
            table.row(name, method, ms(taken.median), ms(seconds), bench.share(12 * n, seconds))


def relabelled(parent: Any, random: Any) -> Any:
    """The same tree with its vertices renamed at random."""
    return renamed(parent, random.permutation(len(parent)).astype(parent.dtype))


def in_preorder(parent: Any) -> Any:
    """The same tree with its vertices numbered in preorder."""
    return renamed(parent, irregular.Tree(parent).preorder)


def renamed(parent: Any, names: Any) -> Any:
    """The same tree with these names of its vertices."""
    other = np.empty_like(parent)
    other[names] = names[parent]
    return other


def sizes(bench: Bench) -> None:
    """Stars and chains of many sizes, as in the figures of Defour and Marin; the transfer of the data apart."""
    table = bench.report.table("tree", "vertices", *_columns())
    for name, shape in (("star", star), ("chain", chain)):
        for exponent in (10, 12) if bench.quick else EXPONENTS[bench.device]:
            _row_of_methods(bench, table, (name, f"2^{exponent}"), shape(2**exponent))


def grids(bench: Bench) -> None:
    """Spanning trees of grids with as many vertices and levels as those of Defour and Marin's table I."""
    table = bench.report.table("tree like", "vertices", "depth", *_columns())
    chosen = list(TABLE_1.items())
    for name, (vertices, depth) in chosen[:1] if bench.quick else chosen[: 10 if bench.device == "cuda" else 4]:
        parent = grid_tree(bench.xp, sides_of(vertices, depth))
        height = int(irregular.Tree(parent).height)
        _row_of_methods(bench, table, (name, Figure(len(parent), "{:,}"), height), parent)


def _columns() -> list[str]:
    return ["prepared in ms", "transfer, ms", *(f"{fix} {m}, ms" for fix in ("root", "leaf") for m in METHODS)]


def _row_of_methods(bench: Bench, table: Table, first: tuple[object, ...], parent: Any) -> None:
    """Both accumulations of int32 by all methods; the transfer is that of parents, values and the result."""
    parents, ones = on_host(parent), np.ones(len(parent), np.int32)
    moved = bench.timed(3, lambda: [bench.put(parents), on_host(bench.put(ones))])
    prepared = bench.timed(1, lambda: irregular.Tree(bench.put(parents)))
    tree, values = prepared.outcome, bench.put(ones)
    cells: list[object] = []
    for fix in (irregular.rootfix, irregular.leaffix):
        # Whole numbers: all methods agree bit for bit.
        expected = tree.depth + 1 if fix is irregular.rootfix else tree.size
        for method in METHODS:
            if method == "levels" and bench.device == "cuda" and tree.height > DEEP:
                cells.append("")
                continue
            if not bool((fix(tree, values, "add", method) == expected).all()):
                raise SystemExit(f"{fix.__name__} by {method} is wrong on {first}")
            cells.append(ms(bench.in_a_row(3, lambda: fix(tree, values, "add", method))))
    table.row(*first, ms(prepared.median), ms(moved.median), *cells)


def sides_of(vertices: int, depth: int) -> list[int]:
    """The sides of a grid with about as many vertices, whose corners are so far from each other.

    All sides but one are equal; there are as few as possible.
    """
    for dimensions in range(1, 21):
        fits = []
        for side in range(2, depth + 2):
            long = depth + 1 - (dimensions - 1) * (side - 1)
            if long >= side:
                fits.append([long, *[side] * (dimensions - 1)])
        best = min(fits, key=lambda sides: abs(prod(sides) - vertices), default=[])
        if best and abs(prod(best) - vertices) < 0.15 * vertices:
            return best
    raise SystemExit(f"no grid has {vertices:,} vertices and depth {depth}")


def grid_tree(xp: Any, sides: list[int]) -> Any:
    """Parents of a spanning tree of a grid, shortest paths to its corner: each vertex goes along its largest
    coordinate."""
    vertices = xp.arange(prod(sides), dtype=np.int32)
    largest, down = xp.zeros_like(vertices), xp.zeros_like(vertices)
    stride = 1
    for side in sides:
        coordinate = vertices // np.int32(stride) % np.int32(side)
        further = coordinate > largest
        largest[further], down[further] = coordinate[further], stride
        stride *= side
    return vertices - down


def scan(bench: Bench) -> None:
    """Sums over 2^24 numbers: what a GPU's preorder is made of, against CUB's and CuPy's; without Python's time."""
    if bench.device != "cuda":
        print("one core scans with NumPy")
        return
    cub = CubScan()
    table = bench.report.table("numbers", "ms, ours", "of a copy", "ms, CUB", "of CUB's speed", "ms, CuPy's cumsum")
    n = 2**12 if bench.quick else SIZES[bench.device][0]
    for kind in (np.int32, np.int64, np.float64):
        values = bench.xp.arange(n).astype(kind) % 7
        theirs, compute = cub.sums_of(values)
        compute()
        gpu, nowhere = gpu_of(values), bench.xp.empty(0, np.int32)
        program = gpu.program("treefix.cu", VERTEX=np.int32, VALUE=kind)
        row = np.int32(0), nowhere  # each step has its own place
        sums = partial(scanned, gpu, program, "scan_vertices", np.int32(ADD), n, values, *row)
        if not bool((sums()[1:] == theirs).all()):
            raise SystemExit(f"sums of {kind.__name__} are wrong")
        cumsum = bench.alone(9, lambda: bench.xp.cumsum(values, dtype=kind))
        # In turn: whatever else the GPU does meets both.
        pairs = paired(9, lambda: bench.alone(1, sums), lambda: bench.alone(1, compute))
        ours, cubs = pairs.medians
        table.row(
            kind.__name__, ms(ours), bench.share(2 * values.nbytes, ours), ms(cubs),
            Figure(cubs / ours, "{:.2f}"), ms(cumsum),
        )  # fmt: skip


def solve(bench: Bench) -> None:
    """Matrices of trees against the depth of the tree: one right side, by both methods."""
    n = 10_000 if bench.quick else SIZES[bench.device][1]
    table = bench.report.table(
        "depth factor", "height", "method", "prepared in s", "forward, ms", "backward, ms", "solve, ms, alone",
        "in a row", "launches alone: forward, ms", "backward, ms", "solve, ms", "share of 40 bytes per vertex",
    )  # fmt: skip
    random = np.random.default_rng(1)
    edge, b = random.uniform(-1, 1, n), bench.put(random.normal(size=n))
    for factor in ("star", *FACTORS, "chain"):
        parent = {"star": star, "chain": chain}[factor](n) if isinstance(factor, str) else random_tree(n, factor)
        strength = np.bincount(parent, minlength=n).astype(float)
        matrix = irregular.TreeMatrix(*map(bench.put, (parent, strength + 2.0, edge)))
        for method in ("levels", "compression"):
            if method == "levels" and bench.device == "cuda" and matrix.tree.height > DEEP:
                continue
            started = time.perf_counter()
            _check(matrix, b, matrix.solve(b, method))
            first = time.perf_counter() - started
            alone = bench.timed(3, lambda: matrix.solve(b, method)).median
            halves = [bench.in_a_row(3, lambda: half(b, method)) for half in (matrix.forward, matrix.backward)]
            whole = bench.in_a_row(3, lambda: matrix.solve(b, method))
            launches = _launches_of_solves(bench, matrix, b, method) if bench.device == "cuda" else ["", "", ""]
            table.row(
                factor, Figure(matrix.tree.height, "{:,}"), method, Figure(max(first - alone, 0), "{:.2f}"),
                *(ms(seconds) for seconds in (*halves, alone, whole)), *launches,
                bench.share(40 * n, whole),
            )  # fmt: skip


def _launches_of_solves(bench: Bench, matrix: irregular.TreeMatrix, b: Any, method: str) -> list[Figure]:
    """Milliseconds that a GPU works for forward, backward and solve."""
    passes, pivots = passes_on_gpu(matrix, method), matrix.pivots
    return [ms(bench.alone(3, lambda: start(gpu_of(b), passes, pivots, b, what), calls=3)) for what in PARTS]


def _check(matrix: irregular.TreeMatrix, b: Any, x: Any) -> None:
    """Ends the benchmark when L·D·Lᵀ·x is not b."""
    xp, above = module_of(x), matrix.tree.above
    inner = above != xp.arange(len(x))
    z = x - xp.where(inner, matrix.factors * x[above], 0.0)
    z = matrix.pivots * z
    children = xp.bincount(above[inner], (matrix.factors * z)[inner], len(x))
    error = float(abs(z - children - b).max())
    if error > 1e-9 * float(abs(b).max()) * max(1.0, float(abs(x).max())):
        raise SystemExit(f"a solution is wrong by {error}")


def accuracy(bench: Bench) -> None:
    """Defour and Marin's figure 10: a chain of 10,000 numbers of a given condition, in single precision."""
    table = bench.report.table(
        "condition", "rootfix levels", "euler", "preorder", "leaffix levels", "euler", "preorder"
    )
    n = 1000 if bench.quick else 10_000
    tree = irregular.Tree(bench.put(chain(n)))
    for power in range(1, 11):
        worst = np.zeros(6)
        for seed in range(5):
            random = np.random.default_rng(100 * power + seed)
            values = random.normal(size=n).astype(np.float32)
            # The last numbers bring the sum down to Σ|w| / condition.
            for place in range(n - 8, n):
                values[place] = np.float32(-fsum(values[:place]))
                if place == n - 1:
                    values[place] += np.float32(np.abs(values).sum() / 10.0**power)
            exact = fsum(values)
            errors = []
            for fix, end in ((irregular.rootfix, n - 1), (irregular.leaffix, 0)):
                for method in ("levels", "euler", "preorder"):
                    result = fix(tree, bench.put(values), "add", method)
                    errors.append(abs(float(result[end]) - exact) / abs(exact))
            worst = np.maximum(worst, errors)
        table.row(f"10^{power}", *(Figure(error, "{:.1e}") for error in worst))


SECTIONS = {
    "treefix": treefix, "sizes": sizes, "grids": grids, "scan": scan, "solve": solve, "accuracy": accuracy,
}  # fmt: skip
