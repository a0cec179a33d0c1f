"""The tables of irregular.md about graphs: breadth-first search, cycles, and counts by states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness import Figure, require_published
from benchmarks.irregular_parts.bench import Bench, ms
from benchmarks.irregular_parts.sequential_cycles import howard, yto
from langford import irregular
from langford.irregular.arrays import on_host
from langford.problem import Problem
from langford.problem.reference import published

ROOTS, SCALES = {"cpu": 16, "cuda": 64}, {"cpu": (16, 18, 20, 22), "cuda": (20, 22, 24)}
MAX_SCALE = 26
"""Of a search of its own: its edges fill most of the memory of a GPU while the graph is made."""
STATES = {"cpu": (11, 12), "cuda": (12, 15, 16)}
"""n of the counts by states."""


def search(bench: Bench) -> None:
    """Graph500: harmonic means, and the table of directions."""
    searches(bench, (10,) if bench.quick else SCALES[bench.device])
    print()
    directions(bench, 10 if bench.quick else 20)


def largest(bench: Bench) -> None:
    """Graph500 at the largest scale."""
    searches(bench, (10,) if bench.quick else (MAX_SCALE,))


def searches(bench: Bench, scales: tuple[int, ...]) -> None:
    """Graph500 at these scales."""
    table = bench.report.table(
        "scale", "edges searched in", "GTEPS, harmonic mean", "ms, median", "launches alone: GTEPS", "ms",
        "construction s", "share",
    )  # fmt: skip
    for scale in scales:
        edge_list = irregular.kronecker(scale, device=bench.device)
        built = bench.timed(1, lambda: constructed(bench, 1 << scale, edge_list))
        graph = built.outcome
        connected = np.flatnonzero(on_host(graph.degrees))
        roots = np.random.default_rng(1).permutation(connected)[: ROOTS[bench.device]].tolist()
        seconds, alone, edges = [], [], []
        for root in roots:
            taken = bench.timed(1, lambda: irregular.bfs(graph, root))
            seconds.append(taken.median)
            if bench.device == "cuda":
                alone.append(bench.alone(1, lambda: graph.gpu_graph.start(root, "auto"), calls=1))
            edges.append(irregular.check_bfs(*edge_list, root, taken.outcome.parent))
        speeds = [harmonic(edges, times) for times in (seconds, alone) if times]
        # The parents are written, a bitmap of the reached is read and written; a GPU reads their first neighbours.
        reached = float((taken.outcome.parent >= 0).mean())
        moved = 4 * (1 << scale) + (1 << scale) // 4 + int(4 * reached * (1 << scale)) * (bench.device == "cuda")
        names = "gteps", "gteps_of_launch"
        for name, value in (*zip(names, speeds, strict=False), ("reached", reached), ("copy", bench.bandwidth)):
            bench.figures.setdefault(name, {})[str(scale)] = float(f"{value:.4g}")
        median = float(np.median(seconds))
        table.row(
            scale, Figure(max(edges), "{:,}"), Figure(speeds[0], "{:.3g}"), ms(median),
            *([Figure(speeds[1], "{:.3g}"), ms(np.median(alone))] if alone else ["", ""]),
            Figure(built.median, "{:.2f}"), bench.share(moved, median),
        )  # fmt: skip


def constructed(bench: Bench, n: int, edge_list: tuple[Any, Any]) -> irregular.Graph:
    """The simple graph, with what searches from below need on a GPU."""
    graph = irregular.Graph.from_edges(n, *edge_list, symmetric=True).simple()
    if bench.device == "cuda":
        _ = graph.gpu_graph.below
    return graph


def harmonic(edges: list[int], seconds: list[float]) -> float:
    """GTEPS of searches, their harmonic mean."""
    return float(1e-9 / np.mean([taken / count for taken, count in zip(seconds, edges, strict=True)]))


def directions(bench: Bench, scale: int) -> None:
    """Edges looked at in each level from above, from below and with a change of direction."""
    sources, targets = map(bench.put, irregular.kronecker(scale))
    graph = irregular.Graph.from_edges(1 << scale, sources, targets, symmetric=True).simple()
    root = int(graph.degrees.argmax())
    table = bench.report.table("level", "from above", "from below", "chosen", "direction")
    ways = [irregular.bfs(graph, root, way).levels for way in ("down", "up", "auto")]
    for number, (down, up, auto) in enumerate(zip(*ways, strict=True)):
        table.row(number, *(Figure(level.inspected, "{:,}") for level in (down, up, auto)), auto.direction)
    table.row("total", *(Figure(sum(level.inspected for level in levels), "{:,}") for levels in ways), "")


MOVES = [*((k, (k + 1) % 5) for k in range(5)), (0, 3), (4, 2)]
"""Of a client: a ring with two shortcuts.  It holds the server in its state 2."""


def clients_system(clients: int, server: bool) -> tuple[irregular.Graph, Any]:
    """All states of clients together, and the weights of the moves: one client moves at a time.

    With a server only one client at a time holds it (Barnat, Bauch, Brim, Češka, section 4).
    """
    random = np.random.default_rng(7)
    numbers = np.arange(5**clients).reshape((5,) * clients)
    holders = sum((np.indices(numbers.shape, np.int8) == 2).astype(np.int8), np.int8(0)).ravel()
    allowed = holders <= (1 if server else clients)
    places = (np.cumsum(allowed) - 1).astype(np.int32)
    columns = []
    for client in range(clients):
        for before, after in MOVES:
            ends = np.stack([np.take(numbers, state, axis=client).ravel() for state in (before, after)])
            ends = ends[:, allowed[ends].all(axis=0)]
            columns.append((*places[ends], np.full(ends.shape[1], random.integers(1, 1000))))
    sources, targets, weights = map(np.concatenate, zip(*columns, strict=True))
    graph = irregular.Graph.from_edges(int(allowed.sum()), sources, targets)
    return graph, weights[graph.order]


def graphs_with_cycles(quick: bool) -> Iterator[tuple[str, irregular.Graph, Any]]:
    """Systems of clients of up to 2 million states, and graphs on which sequential algorithms are quick."""
    random = np.random.default_rng(3)
    for clients in (3,) if quick else (7, 8, 9):
        for server in (False, True):
            yield f"{clients} clients{' and a server' if server else ''}", *clients_system(clients, server)
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
    table = bench.report.table(
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
        peers: list[object] = []
        for peer in (yto, howard):
            if graph.m > 6_000_000 or there:
                peers.append("")
                continue
            against = bench.timed(1, lambda: peer(graph, weights), warm)
            if against.outcome != taken.outcome.value:
                raise SystemExit(f"{peer.__name__} says {against.outcome} of {name}, not {taken.outcome.value}")
            peers.append(Figure(against.median, "{:.2f}"))
        table.row(
            name, Figure(graph.n, "{:,}"), Figure(graph.m, "{:,}"), taken.outcome.value, taken.outcome.iterations,
            *(ms(timing.median) for timing in (parts, taken, checked)), *peers,
        )  # fmt: skip


def states(bench: Bench) -> None:
    """Counts by states of the search."""
    table = bench.report.table("problem", "states", "placements", "s")
    for n in (7,) if bench.quick else STATES[bench.device]:
        problem = Problem.langford(n)
        taken = bench.timed(1, lambda: irregular.search_states(problem, device=bench.device))
        found = taken.outcome
        require_published(problem, found.arrangements // 2, published(problem))
        table.row(
            problem, Figure(sum(len(level.frees) for level in found.levels), "{:,}"),
            Figure(sum(level.nodes for level in found.levels), "{:,}"), Figure(taken.median, "{:.2f}"),
        )  # fmt: skip


SECTIONS = {"search": search, "largest": largest, "cycles": cycles, "states": states}
