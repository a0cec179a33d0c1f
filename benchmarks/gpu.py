"""Speed of the polyphase kernel on GPU 0: whole small counts, and tasks of larger ones.

    python benchmarks/gpu.py

Kernels are compiled before they are timed.  "kernel" is the time between CUDA events around
each launch, "wall" includes what the host prepares.  An odd product is one product of the
odd sums at one surviving point; the projection is by points.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any

import cupy

from langford.kernels.cuda.runtime import CudaProgram, device_name
from langford.methods import merge
from langford.methods.godfrey import GodfreyPlan
from langford.methods.godfrey_cuda import GodfreyEvaluator
from langford.methods.polyphase import PolyphasePlan
from langford.methods.polyphase_cuda import GpuEvaluator
from langford.problem import Problem
from langford.reference import published

WHOLE = [(Problem.langford(20), 4, 5), (Problem.langford(23), 4, 1), (Problem.langford(24), 4, 1)]
COMPARED = Problem.langford(20)
SAMPLES = [(Problem.langford(28), 20, 5), (Problem.langford(31), 24, 3)]


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


def measure(problem: Problem, depth: int, runs: int, whole: bool) -> None:
    """Print one row of the table."""
    plan = PolyphasePlan(problem, depth)
    gpu = GpuEvaluator(plan, partial(TimedProgram, 0))
    tasks = range(len(plan.work)) if whole else [len(plan.work) - 5]
    gpu.evaluate(tasks[-1])
    gpu.program.seconds()  # type: ignore[attr-defined]
    walls, kernels = [], []
    for _ in range(runs):
        start = time.perf_counter()
        results = [gpu.evaluate(task) for task in tasks]
        walls.append(time.perf_counter() - start)
        kernels.append(gpu.program.seconds())  # type: ignore[attr-defined]
    for result in results:
        plan.expectation(result.index).check(result)
    if whole and merge(plan, results).published != published(problem):
        raise SystemExit(f"{problem}: wrong count")
    kernel, wall = statistics.median(kernels), statistics.median(walls)
    products = sum(result.evaluated for result in results)
    share = plan.work[list(tasks)].sum() / plan.work.sum()
    print(
        f"| {problem} | {depth} | {len(tasks)} of {len(plan.work)} | {kernel:.3f} | {wall:.3f} | "
        f"{products / kernel:.3g} | {kernel / share:,.3g} |",
        flush=True,
    )


def compare(problem: Problem) -> None:
    """Print the two GPU kernels side by side, in points: 2^(2n − 3) of them make the count."""
    print("| problem | kernel | kernel s | points/s |")
    print("|---|---|---|---|")
    seconds = []
    for name, plan, evaluator in (
        ("godfrey", GodfreyPlan(problem, 4), GodfreyEvaluator),
        ("polyphase", PolyphasePlan(problem, 4), GpuEvaluator),
    ):
        gpu = evaluator(plan, partial(TimedProgram, 0))
        gpu.evaluate(0)
        gpu.program.seconds()
        results = [gpu.evaluate(task) for task in range(len(plan.work))]
        seconds.append(gpu.program.seconds())
        if merge(plan, results).published != published(problem):
            raise SystemExit(f"{problem}: wrong count")
        points = 2.0 ** (len(problem.filled) - 3)
        print(f"| {problem} | {name} | {seconds[-1]:.3f} | {points / seconds[-1]:.3g} |", flush=True)
    print(f"polyphase is {seconds[0] / seconds[1]:.1f} times as fast")


def main() -> None:
    print(device_name(0))
    print("| problem | depth | tasks | kernel s | wall s | odd products/s | whole problem, kernel s |")
    print("|---|---|---|---|---|---|---|")
    for problem, depth, runs in WHOLE:
        measure(problem, depth, runs, whole=True)
    for problem, depth, runs in SAMPLES:
        measure(problem, depth, runs, whole=False)
    compare(COMPARED)


if __name__ == "__main__":
    main()
