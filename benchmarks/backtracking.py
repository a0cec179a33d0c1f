"""Table 1.2 of Loiseau's thesis on one machine: backtracking and its regularised form, with and without a GPU.

    python benchmarks/backtracking.py               both tables, L(3,n), and L(4,24) with --quartets
    python benchmarks/backtracking.py --quick       up to n = 15

With the GPU, GPU 0 and all cores count everything.  The cores alone count a random sample of
tasks for some seconds; the whole is projected by nodes, the number of which is known from the count with the GPU.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np

import langford
from benchmarks.energy import Meter, of_gpu, of_processor
from benchmarks.harness import Figure, Report, Table, parser_of, require_published, run, timed
from langford.devices import Cuda
from langford.kernels.gpu.runtime import device_name
from langford.machine.cores import cores
from langford.methods import Count, merge
from langford.methods.backtracking.cuda import MillerOnGpu, RegularOnGpu
from langford.problem import Problem
from langford.problem.reference import published

GPU = Cuda(0)
EVALUATORS: dict[str, Any] = {"miller": MillerOnGpu, "regular": RegularOnGpu}
SAMPLE_SECONDS, QUICK_SAMPLE_SECONDS = 5.0, 0.5
QUICK_N = 15
TABLE = [("miller", 2, n) for n in range(15, 20)] + [("regular", 2, n) for n in range(15, 19)]
TRIPLES = [("miller", 3, n) for n in (17, 18, 19)]
THESIS = {
    ("miller", 17): 7.3,
    ("miller", 18): 73.6,
    ("miller", 19): 803.5,
    ("regular", 15): 1.5,
    ("regular", 16): 14.3,
    ("regular", 17): 120.5,
    ("regular", 18): 1178.2,
}
"""Seconds on 258 (miller) and 40 (regular) K20X GPUs with their hosts' cores."""


def with_gpu(method: str, problem: Problem, energy: Meter) -> tuple[float, int, float]:
    """Seconds, nodes and share of the sub-tasks on the cores of a metered count with GPU 0 and all cores."""
    plan = langford.plan(problem, method, 1)
    gpu = EVALUATORS[method](plan, GPU.compiler, cores())

    def count() -> Count:
        return merge(plan, [gpu.evaluate(index) for index in plan.largest_first()])

    with energy:
        timing = timed(1, count)
    require_published(f"{problem} by {method}", timing.outcome.published, published(problem))
    return timing.median, timing.outcome.evaluated, gpu.on_cores / max(1, gpu.on_cores + gpu.on_gpu)


def nodes_per_second(method: str, problem: Problem, threads: int, seconds: float) -> float:
    """Of all threads together, on tasks drawn at random, until some seconds are over."""
    plan = langford.plan(problem, method, 4 if method == "miller" else 5)
    plan.evaluator()
    order = np.random.default_rng(1).permutation(len(plan.tasks)).tolist()
    start = time.perf_counter()
    nodes = 0

    def some() -> int:
        own = 0
        while order and time.perf_counter() - start < seconds:
            own += plan.evaluate(order.pop()).evaluated
        return own

    with ThreadPoolExecutor(threads) as pool:
        for done in as_completed([pool.submit(some) for _ in range(threads)]):
            nodes += done.result()
    return nodes / (time.perf_counter() - start)


def measure(table: Table, method: str, problem: Problem, sample_seconds: float, energy: Meter) -> None:
    """Print one row of the table."""
    seconds, nodes, share = with_gpu(method, problem, energy)
    rate = nodes_per_second(method, problem, cores(), sample_seconds)
    table.row(
        method,
        problem,
        Figure(nodes, "{:.3g}"),
        Figure(nodes / rate, "{:.3g}"),
        Figure(seconds, "{:.3g}"),
        Figure(nodes / seconds, "{:.3g}"),
        Figure(100 * share, "{:.2g}%"),
        Figure(nodes / rate / seconds, "{:.0f}"),
        THESIS.get((method, problem.n), "") if problem.copies == 2 else "",
        energy.figure,
    )


def main(options: argparse.Namespace, report: Report) -> None:
    """Print table 1.2, L(3,n), and L(4,24) where it is asked for."""
    report.note(f"{device_name(GPU.index)}, {cores()} cores")
    energy = Meter([*of_gpu(), *of_processor()])
    table = report.table(
        "method", "problem", "nodes", "cores alone, s (projected)", "with GPU, s", "nodes/s", "sub-tasks on cores",
        "times faster", "thesis, s", energy.heading,
    )  # fmt: skip
    with_gpu("miller", Problem.langford(14), energy)  # buffers and tables are made once
    sample_seconds = QUICK_SAMPLE_SECONDS if options.quick else SAMPLE_SECONDS
    for method, copies, n in TABLE + TRIPLES:
        if n <= QUICK_N or not options.quick:
            measure(table, method, Problem.langford(n, copies), sample_seconds, energy)
    if options.quartets:
        measure(table, "miller", Problem.langford(24, 4), sample_seconds, energy)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--quartets", action="store_true", help="L(4,24) too")
    run(parser, main)
