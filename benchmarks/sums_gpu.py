"""Speed of the algebraic sums on GPU 0: whole small counts, and tasks of larger ones.

    python benchmarks/sums_gpu.py
    python benchmarks/sums_gpu.py --only shifted        or polyphase, or points

Kernels are compiled before they are timed.  "kernel" is the time between CUDA events around
each launch, "wall" includes what the host prepares.  An odd product is one product of the
odd sums at one surviving point; the projection is by points.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from math import ceil
from random import Random
from typing import Any

import cupy
from table import Table, Timing, require_published

import langford
from langford.kernels.cuda.runtime import CudaProgram, device_name
from langford.methods import merge
from langford.methods.godfrey.cuda import GodfreyOnGpu
from langford.methods.polyphase.cuda import PolyphaseOnGpu
from langford.methods.shifted.cuda import ShiftedOnGpu
from langford.problem import Problem
from langford.reference import published

WHOLE = [(Problem.langford(20), 4, 5), (Problem.langford(23), 4, 1), (Problem.langford(24), 4, 1)]
COMPARED = Problem.langford(20)
SAMPLES = [(Problem.langford(28), 20, 5), (Problem.langford(31), 24, 3)]
SHIFTED_WHOLE = [(Problem.langford(20), 4), (Problem.langford(23), 8), (Problem.langford(24), 8)]
SHIFTED_SAMPLES = [(Problem.langford(28), 12, 14), (Problem.langford(31), 16, 6)]
"""With the least number of tasks that are drawn over the whole plan: 2% of L(2,28)'s."""


class TimedProgram(CudaProgram):
    """Notes the kernel time of every launch."""

    def __init__(self, index: int, source: str, main: str, threads: int) -> None:
        super().__init__(index, source, main, threads)
        self._events: list[tuple[Any, Any]] = []

    def launch(self, name: str, *arguments: Any) -> None:
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        super().launch(name, *arguments)
        end.record()
        self._events.append((start, end))

    def seconds(self) -> float:
        """Kernel time since the last call."""
        cupy.cuda.Device().synchronize()
        total = sum(cupy.cuda.get_elapsed_time(*pair) for pair in self._events) / 1000
        self._events.clear()
        return float(total)


def measure(table: Table, problem: Problem, depth: int, runs: int, whole: bool) -> None:
    """Print one row of the table."""
    plan = langford.plan(problem, "polyphase", depth)
    gpu: Any = PolyphaseOnGpu(plan, partial(TimedProgram, 0))  # type: ignore[arg-type]
    tasks = plan.tasks if whole else [len(plan.tasks) - 5]
    gpu.evaluate(tasks[-1])
    gpu.program.seconds()
    walls, kernels = [], []
    for _ in range(runs):
        start = time.perf_counter()
        results = [gpu.evaluate(task) for task in tasks]
        walls.append(time.perf_counter() - start)
        kernels.append(gpu.program.seconds())
    for result in results:
        plan.expectation(result.index).check(result)
    if whole:
        require_published(problem, merge(plan, results).published, published(problem))
    kernel, wall = Timing(tuple(kernels), results).median, Timing(tuple(walls), results).median
    products = sum(result.evaluated for result in results)
    share = plan.work[list(tasks)].sum() / plan.work.sum()
    table.row(
        problem,
        depth,
        f"{len(tasks)} of {len(plan.tasks)}",
        f"{kernel:.3f}",
        f"{wall:.3f}",
        f"{products / kernel:.3g}",
        f"{kernel / share:,.3g}",
    )


def measure_shifted(table: Table, problem: Problem, depth: int, drawn: int | None) -> None:
    """Print one row: tasks of the shifted sum drawn over the whole, or all; by wall time, tables included.

    Tasks of fewer points take longer for each point: every size is drawn from, and projected alone.
    """
    plan: Any = langford.plan(problem, "shifted", depth)
    gpu: Any = ShiftedOnGpu(plan, partial(TimedProgram, 0))
    results, tasks, whole, wall = [], 0, 0.0, 0.0
    for size in sorted(set(plan.work.tolist())):
        of_size = [task for task in plan.tasks if plan.work[task] == size]
        count = len(of_size) if drawn is None else ceil(drawn * len(of_size) / len(plan.tasks))
        start = time.perf_counter()
        results += [gpu.evaluate(task) for task in Random(problem.n).sample(of_size, count)]
        seconds = time.perf_counter() - start
        tasks, wall, whole = tasks + count, wall + seconds, whole + seconds * len(of_size) / count
    for result in results:
        plan.expectation(result.index).check(result)
    if drawn is None:
        require_published(problem, merge(plan, results).published, published(problem))
    products = sum(result.evaluated for result in results)
    kernel = gpu.program.seconds()
    table.row(
        problem,
        depth,
        f"{tasks} of {len(plan.tasks)}",
        f"{kernel:.3f}",
        f"{wall:.3f}",
        f"{products / wall:.3g}",
        f"{whole:,.4g}",
    )


def compare(problem: Problem) -> None:
    """Print the two GPU kernels side by side, in points: 2^(2n − 3) of them make the count."""
    table = Table("problem", "kernel", "kernel s", "points/s")
    seconds = []
    for method, evaluator in (("godfrey", GodfreyOnGpu), ("polyphase", PolyphaseOnGpu)):
        plan: Any = langford.plan(problem, method, 4)
        gpu: Any = evaluator(plan, partial(TimedProgram, 0))
        gpu.evaluate(0)
        gpu.program.seconds()
        results = [gpu.evaluate(task) for task in plan.tasks]
        seconds.append(gpu.program.seconds())
        require_published(f"{problem} by {method}", merge(plan, results).published, published(problem))
        points = 2.0 ** (len(problem.filled) - 3)
        table.row(problem, method, f"{seconds[-1]:.3f}", f"{points / seconds[-1]:.3g}")
    print(f"polyphase is {seconds[0] / seconds[1]:.1f} times as fast")


def polyphase() -> None:
    """The table of the polyphase sum."""
    table = Table("problem", "depth", "tasks", "kernel s", "wall s", "odd products/s", "whole problem, kernel s")
    for problem, depth, runs in WHOLE:
        measure(table, problem, depth, runs, whole=True)
    for problem, depth, runs in SAMPLES:
        measure(table, problem, depth, runs, whole=False)


def shifted() -> None:
    """The table of the shifted sum."""
    print("shifted")
    table = Table("problem", "depth", "tasks", "kernel s", "wall s", "products/s", "whole problem, wall s")
    for problem, depth in SHIFTED_WHOLE:
        measure_shifted(table, problem, depth, None)
    for problem, depth, drawn in SHIFTED_SAMPLES:
        measure_shifted(table, problem, depth, drawn)


PARTS = {"polyphase": polyphase, "shifted": shifted, "points": partial(compare, COMPARED)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="one part")
    only = parser.parse_args().only
    print(device_name(0))
    for part in [only] if only else PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
