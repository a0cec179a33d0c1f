"""Speed of the irregular problems, on one core or on GPU 0: the tables of irregular.md.

    python benchmarks/irregular.py search treefix solve cycles states accuracy
    python benchmarks/irregular.py search treefix solve cycles --device cuda

Arrays are where the device wants them before the clock starts, kernels are compiled, times are medians: on a core
those of the processor, on a GPU those of the clock.  "share" is the bytes that a method cannot avoid to move per
second, as a share of what a copy moves on the same device.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from table import Table, Timing, require_published, timed

from langford import irregular
from langford.irregular.arrays import on_host
from langford.irregular.client_server import Scenario, Transition
from langford.irregular.sequential_cycles import howard, yto
from langford.irregular.tree import broom, chain, random_tree, star
from langford.problem import Problem
from langford.reference import published

ROOTS, SCALES = {"cpu": 16, "cuda": 64}, {"cpu": (16, 18, 20, 22), "cuda": (20, 22, 24)}
LARGEST_SCALE = 26
"""Of a search of its own: its edges fill most of the memory of a GPU while the graph is made."""
DEEP = 20_000
"""Levels of a tree above which a GPU, with a launch for each, is not timed by levels."""
STATES = {"cpu": (11, 12), "cuda": (12, 15, 16)}
"""n of the counts by states."""
SIZES = {"cpu": (2**22, 10**6), "cuda": (2**24, 10**7)}
"""Vertices of the trees, and of the matrices."""


class Bench:
    """A device: where arrays go, and when what was started is done.

    Attributes:
        xp: numpy or cupy.
        device: "cpu" or "cuda".
        quick: smaller sizes, for a test of the program.
    """

    def __init__(self, device: str, quick: bool) -> None:
        self.xp: Any = np
        self.device, self.quick = device, quick
        if device == "cuda":
            import cupy

            self.xp = cupy
        source = self.xp.zeros(2**20 if quick else 2**26, np.int64)
        copies = self.timed(5, source.copy)
        self.bandwidth = 2 * source.nbytes / copies.median

    def put(self, array: Any) -> Any:
        """The array on the device."""
        return self.xp.asarray(array)

    def timed(self, runs: int, action: Callable[[], Any], warm: bool = False) -> Timing[Any]:
        """Time an action; once before for the compiler, unless that has its code already."""

        def whole() -> Any:
            outcome = action()
            if self.xp is not np:
                self.xp.cuda.Device().synchronize()
            return outcome

        if not warm:
            whole()
        if self.xp is not np:
            return timed(runs, whole)
        # Time of the processor: other programs on the machine take none of it.
        seconds = []
        for _ in range(runs):
            started = time.process_time()
            outcome = action()
            seconds.append(time.process_time() - started)
        return Timing(tuple(seconds), outcome)

    def share(self, moved: int, seconds: float) -> str:
        """Bytes that must be moved per second, as a share of what a copy moves."""
        return f"{moved / seconds / self.bandwidth:.0%}"


def search(bench: Bench) -> None:
    """Graph500: harmonic means, and the table of directions."""
    searches(bench, (10,) if bench.quick else SCALES[bench.device])
    print()
    directions(bench, 10 if bench.quick else 20)


def largest(bench: Bench) -> None:
    """Graph500 at the largest scale."""
    searches(bench, (10,) if bench.quick else (LARGEST_SCALE,))


def searches(bench: Bench, scales: tuple[int, ...]) -> None:
    """Graph500 at these scales."""
    table = Table("scale", "edges searched in", "GTEPS, harmonic mean", "ms, median", "construction s", "share")
    for scale in scales:
        edge_list = irregular.kronecker(scale, device=bench.device)
        built = bench.timed(1, lambda: irregular.Graph.from_edges(1 << scale, *edge_list, symmetric=True).simple())
        graph = built.outcome
        connected = np.flatnonzero(on_host(graph.degrees))
        roots = np.random.default_rng(1).permutation(connected)[: ROOTS[bench.device]].tolist()
        seconds, edges = [], []
        for root in roots:
            taken = bench.timed(1, lambda: irregular.bfs(graph, root))
            seconds.append(taken.median)
            edges.append(irregular.check_bfs(*edge_list, root, taken.outcome.parent))
        slowness = np.mean([taken / count for taken, count in zip(seconds, edges, strict=True)])
        # The parents are written; a bitmap of the reached is read and written.
        moved = 4 * (1 << scale) + (1 << scale) // 4
        median = float(np.median(seconds))
        table.row(
            scale, f"{max(edges):,}", f"{1e-9 / slowness:.3g}", f"{1000 * median:.3g}", f"{built.median:.2f}",
            bench.share(moved, median),
        )  # fmt: skip


def directions(bench: Bench, scale: int) -> None:
    """Edges looked at in each level from above, from below and with a change of direction."""
    graph = irregular.Graph.from_edges(
        1 << scale, *map(bench.put, irregular.kronecker(scale)), symmetric=True
    ).simple()
    root = int(graph.degrees.argmax())
    table = Table("level", "from above", "from below", "chosen", "direction")
    ways = [irregular.bfs(graph, root, way).levels for way in ("down", "up", "auto")]
    for number, (down, up, auto) in enumerate(zip(*ways, strict=True)):
        table.row(number, *(f"{level.inspected:,}" for level in (down, up, auto)), auto.direction)
    table.row("total", *(f"{sum(level.inspected for level in levels):,}" for levels in ways), "")


def treefix(bench: Bench) -> None:
    """Leaffix of int32 by every method, on several shapes."""
    n = 2**12 if bench.quick else SIZES[bench.device][0]
    table = Table("tree", "method", "ms", "share of 12 bytes per vertex")
    random = np.random.default_rng(1)
    shapes = {
        "star": star(n), "chain": chain(n), "broom": broom(n, n // 2), "random, 3 children": random_tree(n),
        "random, labels at random": relabelled(random_tree(n), random),
    }  # fmt: skip
    for name, parent in shapes.items():
        tree = irregular.Tree(bench.put(parent))
        values = bench.put(random.integers(-9, 10, n).astype(np.int32))
        expected = irregular.leaffix(tree, values, "add")
        for method in ("levels", "preorder", "euler", "compression"):
            if method == "levels" and bench.device == "cuda" and tree.height > DEEP:
                continue
            taken = bench.timed(3, lambda: irregular.leaffix(tree, values, "add", method))
            if not bool((taken.outcome == expected).all()):
                raise SystemExit(f"{method} is wrong on {name}")
            table.row(name, method, f"{1000 * taken.median:.3g}", bench.share(12 * n, taken.median))


def relabelled(parent: Any, random: Any) -> Any:
    """The same tree with its vertices renamed at random."""
    names = random.permutation(len(parent)).astype(parent.dtype)
    renamed = np.empty_like(parent)
    renamed[names] = names[parent]
    return renamed


def solve(bench: Bench) -> None:
    """Matrices of trees: one right side, by both methods."""
    n = 10_000 if bench.quick else SIZES[bench.device][1]
    table = Table("tree", "height", "method", "prepared in s", "ms", "share of 40 bytes per vertex")
    random = np.random.default_rng(1)
    for factor in ("star", 0.0, 0.05, 0.5, "chain"):
        parent = {"star": star, "chain": chain}[factor](n) if isinstance(factor, str) else random_tree(n, factor)
        edge = bench.put(random.uniform(-1, 1, n))
        strength = np.bincount(parent, minlength=n).astype(float)
        matrix = irregular.TreeMatrix(bench.put(parent), bench.put(strength + 2.0), edge)
        b = bench.put(random.normal(size=n))
        for method in ("levels", "compression"):
            if method == "levels" and bench.device == "cuda" and matrix.tree.height > DEEP:
                continue
            started = time.process_time()
            matrix.solve(b, method)
            first = time.process_time() - started
            taken = bench.timed(3, lambda: matrix.solve(b, method))
            table.row(
                factor, f"{matrix.tree.height:,}", method, f"{max(first - taken.median, 0):.2f}",
                f"{1000 * taken.median:.3g}", bench.share(40 * n, taken.median),
            )  # fmt: skip


def scenarios(clients: int) -> list[Scenario]:
    """Clients of five states, a ring with two shortcuts; each holds the server in its state 2."""
    random = np.random.default_rng(7)
    made = []
    for _ in range(clients):
        moves = [(k, (k + 1) % 5) for k in range(5)] + [(0, 3), (4, 2)]
        made.append(Scenario(5, [Transition(a, b, int(random.integers(1, 1000))) for a, b in moves], {2}))
    return made


def graphs_with_cycles(quick: bool) -> Iterator[tuple[str, irregular.Graph, Any]]:
    """Systems of clients of up to 2 million states, and graphs on which sequential algorithms are quick."""
    random = np.random.default_rng(3)
    for clients in (3,) if quick else (7, 8, 9):
        for server in (False, True):
            system = irregular.client_server(scenarios(clients), server)
            yield f"{clients} clients{' and a server' if server else ''}", system.graph, system.weights
    n = 2**10 if quick else 2**20
    graph = irregular.Graph.from_edges(n, *random.integers(0, n, (2, 8 * n)).astype(np.int32))
    yield f"random, {n:,} × 8", graph, random.integers(1, 10_000, graph.m)
    side = 32 if quick else 1024
    places = np.arange(side * side, dtype=np.int32)
    ends = places // side * side + (places + 1) % side, (places + side) % (side * side)
    graph = irregular.Graph.from_edges(side * side, np.tile(places, 2), np.concatenate(ends).astype(np.int32))
    yield f"torus {side}²", graph, random.integers(1, 10_000, graph.m)


def cycles(bench: Bench) -> None:
    """Howard's algorithm with components, against the sequential ones where they end in time."""
    table = Table(
        "graph", "vertices", "edges", "value", "rounds", "components, ms", "all, ms", "check, ms", "YTO s",
        "sequential Howard s",
    )  # fmt: skip
    there = bench.xp is not np
    runs = 3 if there else 1
    for number, (name, graph, weights) in enumerate(graphs_with_cycles(bench.quick)):
        moved, on_edges = irregular.Graph(bench.put(graph.indptr), bench.put(graph.indices)), bench.put(weights)
        # A core has its code after the first graph; CuPy compiles what a graph is the first to need.
        warm = number > 0 and not there
        parts = bench.timed(runs, lambda: irregular.components(moved), warm)
        taken = bench.timed(runs, lambda: irregular.cycle_mean(moved, on_edges), warm)
        checked = bench.timed(runs, taken.outcome.check, warm)
        peers = []
        for peer in (yto, howard):
            if graph.m > 6_000_000 or there:
                peers.append("")
                continue
            against = bench.timed(1, lambda: peer(graph, weights), warm)
            if against.outcome != taken.outcome.value:
                raise SystemExit(f"{peer.__name__} says {against.outcome} of {name}, not {taken.outcome.value}")
            peers.append(f"{against.median:.2f}")
        table.row(
            name, f"{graph.n:,}", f"{graph.m:,}", taken.outcome.value, taken.outcome.iterations,
            *(f"{1000 * timing.median:.3g}" for timing in (parts, taken, checked)), *peers,
        )  # fmt: skip


def states(bench: Bench) -> None:
    """Counts by states of the search."""
    table = Table("problem", "states", "placements", "s")
    for n in (7,) if bench.quick else STATES[bench.device]:
        problem = Problem.langford(n)
        taken = bench.timed(1, lambda: irregular.search_states(problem, device=bench.device))
        found = taken.outcome
        require_published(problem, found.arrangements // 2, published(problem))
        table.row(
            problem, f"{sum(len(level.frees) for level in found.levels):,}",
            f"{sum(level.nodes for level in found.levels):,}", f"{taken.median:.2f}",
        )  # fmt: skip


def accuracy(bench: Bench) -> None:
    """Defour and Marin's figure 10: a chain of 10,000 numbers of a given condition, in single precision."""
    table = Table("condition", "rootfix levels", "euler", "preorder", "leaffix levels", "euler", "preorder")
    n = 1000 if bench.quick else 10_000
    tree = irregular.Tree(bench.put(chain(n)))
    for power in range(1, 11):
        worst = np.zeros(6)
        for seed in range(5):
            random = np.random.default_rng(100 * power + seed)
            values = random.normal(size=n).astype(np.float32)
            # The last numbers bring the sum down to Σ|w| / condition.
            for place in range(n - 8, n):
                values[place] = np.float32(-float(sum(map(Fraction, map(float, values[:place])))))
                if place == n - 1:
                    values[place] += np.float32(np.abs(values).sum() / 10.0**power)
            exact = float(sum(map(Fraction, map(float, values))))
            errors = []
            for fix, end in ((irregular.rootfix, n - 1), (irregular.leaffix, 0)):
                for method in ("levels", "euler", "preorder"):
                    result = fix(tree, bench.put(values), "add", method)
                    errors.append(abs(float(result[end]) - exact) / abs(exact))
            worst = np.maximum(worst, errors)
        table.row(f"10^{power}", *(f"{error:.1e}" for error in worst))


SECTIONS = {
    "search": search, "largest": largest, "treefix": treefix, "solve": solve, "cycles": cycles, "states": states,
    "accuracy": accuracy,
}  # fmt: skip


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="+", choices=SECTIONS)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--quick", action="store_true", help="small sizes: try the program")
    arguments = parser.parse_args()
    bench = Bench(arguments.device, arguments.quick)
    print(f"copy: {bench.bandwidth / 1e9:.1f} GB/s read and written\n")
    for name in arguments.sections:
        print(f"## {name}\n")
        SECTIONS[name](bench)
        print()


if __name__ == "__main__":
    main()
