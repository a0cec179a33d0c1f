"""Table 1.2 of Loiseau's thesis on one machine: backtracking and its regularised form, with and without a GPU.

    python benchmarks/miller.py              both tables, L(3,n), and L(4,24) with --quartets
    python benchmarks/miller.py --quick      up to n = 17

With the GPU, GPU 0 and all cores count everything.  The cores alone count a random sample of
tasks for some seconds; the whole is projected by nodes, which the count with the GPU has told.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial

import numpy as np

from langford.devices import cores
from langford.kernels.cuda.runtime import CudaProgram, device_name
from langford.methods import METHODS, largest_first, merge
from langford.methods.search import SearchPlan
from langford.methods.search_cuda import SearchEvaluator, Settings
from langford.problem import Problem
from langford.profile import chosen_from, settings_of
from langford.reference import published

SAMPLE_SECONDS = 5.0
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


def with_gpu(method: str, problem: Problem) -> tuple[float, int, float]:
    """Seconds, nodes and share of the sub-tasks on the cores of a count with GPU 0 and all cores."""
    plan = METHODS[method].plan(problem, 1)
    assert isinstance(plan, SearchPlan)
    settings = chosen_from(Settings(), settings_of(device_name(0), method))
    gpu = SearchEvaluator(plan, partial(CudaProgram, 0), cores(), settings)
    start = time.perf_counter()
    results = [gpu.evaluate(index) for index in largest_first(plan)]
    seconds = time.perf_counter() - start
    count, known = merge(plan, results), published(problem)
    if known is not None and count.published != known:
        raise SystemExit(f"{problem} by {method} gave {count.published}: wrong")
    return seconds, count.evaluated, gpu.on_cores / max(1, gpu.on_cores + gpu.on_gpu)


def nodes_per_second(method: str, problem: Problem, threads: int) -> float:
    """Of so many cores, on tasks drawn at random."""
    depth = 4 if method == "miller" else 5
    plan = METHODS[method].plan(problem, depth)
    plan.warm_up()
    order = np.random.default_rng(1).permutation(len(plan.work)).tolist()
    start = time.perf_counter()
    nodes = 0

    def some() -> int:
        own = 0
        while order and time.perf_counter() - start < SAMPLE_SECONDS:
            own += plan.evaluate(order.pop()).evaluated
        return own

    with ThreadPoolExecutor(threads) as pool:
        for done in as_completed([pool.submit(some) for _ in range(threads)]):
            nodes += done.result()
    return nodes / (time.perf_counter() - start)


def row(method: str, problem: Problem) -> None:
    """Print one line of the table."""
    seconds, nodes, share = with_gpu(method, problem)
    rate = nodes_per_second(method, problem, cores())
    thesis = THESIS.get((method, problem.n), "") if problem.copies == 2 else ""
    print(
        f"| {method} | {problem} | {nodes:.3g} | {nodes / rate:.3g} | {seconds:.3g} | {nodes / seconds:.3g} | "
        f"{100 * share:.2g}% | {nodes / rate / seconds:.0f} | {thesis} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--quartets", action="store_true")
    options = parser.parse_args()
    print(f"{device_name(0)}, {cores()} cores")
    print(
        "| method | problem | nodes | cores alone, s (projected) | with GPU, s | nodes/s | sub-tasks on cores | "
        "times faster | thesis, s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    with_gpu("miller", Problem.langford(14))  # whatever is made once
    for method, copies, n in TABLE + TRIPLES:
        if n <= 17 or not options.quick:
            row(method, Problem.langford(n, copies))
    if options.quartets:
        row("miller", Problem.langford(24, 4))


if __name__ == "__main__":
    main()
