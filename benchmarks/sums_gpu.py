"""Speed of the algebraic sums on GPU 0: whole small counts, and randomly drawn tasks of larger ones.

    python benchmarks/sums_gpu.py
    python benchmarks/sums_gpu.py --only shifted2       or shifted, polyphase, points
    python benchmarks/sums_gpu.py --quick               the smallest count of each

Kernels are compiled before they are timed.  "kernel" is the time between CUDA events around each
launch, "wall" includes what the host prepares and lists.  A product is one of the factors at a
point that survives.  Tasks of fewer points take longer for each point: tasks of every size are
drawn and projected alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from math import ceil
from random import Random
from typing import Any

import langford
from benchmarks.energy import Meter, of_gpu
from benchmarks.harness import Figure, Report, Table, parser_of, require_published, required, run
from langford.kernels.gpu.cuda import CudaProgram
from langford.kernels.gpu.runtime import device_name
from langford.methods import merge
from langford.methods.godfrey.cuda import GodfreyOnGpu
from langford.methods.polyphase.cuda import PolyphaseOnGpu
from langford.methods.shifted.cuda import ShiftedOnGpu
from langford.problem import Problem
from langford.problem.reference import published

EVALUATORS: dict[str, Any] = {
    "godfrey": GodfreyOnGpu,
    "polyphase": PolyphaseOnGpu,
    "shifted": ShiftedOnGpu,
    "shifted2": ShiftedOnGpu,
}
SHIFTED = [(Problem.langford(20), 4), (Problem.langford(23), 8), (Problem.langford(24), 8)]
SHIFTED_DRAWN = [
    (Problem.langford(28), 12, 14),
    (Problem.langford(31), 16, 6),
    (Problem.named("hooked-skolem", 26), 12, 50),
]
WHOLE = {
    "polyphase": [(Problem.langford(20), 4), (Problem.langford(23), 4), (Problem.langford(24), 4)],
    "shifted": SHIFTED,
    "shifted2": SHIFTED,
}
DRAWN = {
    "polyphase": [(Problem.langford(28), 20, 100), (Problem.langford(31), 24, 40)],
    "shifted": SHIFTED_DRAWN,
    "shifted2": SHIFTED_DRAWN,
}
"""With the number of tasks that are drawn, or a few more: 1% of L(2,28)'s at least."""
COMPARED, QUICK = Problem.langford(20), Problem.langford(12)


class TimedProgram(CudaProgram):
    """Notes the kernel time of every launch."""

    def __init__(self, index: int, source: str, main: str, threads: int) -> None:
        super().__init__(index, source, main, threads)
        self._events: list[tuple[Any, Any]] = []

    def launch(self, name: str, *arguments: Any) -> None:
        cuda = required("cupy").cuda
        start, end = cuda.Event(), cuda.Event()
        start.record()
        super().launch(name, *arguments)
        end.record()
        self._events.append((start, end))

    def seconds(self) -> float:
        """Kernel time since the last call."""
        cuda = required("cupy").cuda
        cuda.Device().synchronize()
        total = sum(cuda.get_elapsed_time(*pair) for pair in self._events) / 1000
        self._events.clear()
        return float(total)


def measure(table: Table, problem: Problem, method: str, depth: int, drawn: int | None) -> None:
    """Print one row: tasks that are drawn over the whole, or all."""
    plan = langford.plan(problem, method, depth)
    gpu = EVALUATORS[method](plan, partial(TimedProgram, 0))
    gpu.evaluate(plan.largest_first()[-1])
    gpu.program.seconds()
    results, wall, whole = [], 0.0, 0.0
    with Meter(of_gpu()) as energy:
        for size in sorted(set(plan.work.tolist())):
            of_size = [task for task in plan.tasks if plan.work[task] == size]
            count = len(of_size) if drawn is None else ceil(drawn * len(of_size) / len(plan.tasks))
            start = time.perf_counter()
            results += [gpu.evaluate(task) for task in Random(problem.n).sample(of_size, count)]
            seconds = time.perf_counter() - start
            wall, whole = wall + seconds, whole + seconds * len(of_size) / count
    for result in results:
        plan.expectation(result.index).check(result)
    if drawn is None:
        require_published(problem, merge(plan, results).published, published(problem))
    kernel = gpu.program.seconds()
    products = sum(result.evaluated for result in results)
    table.row(
        problem,
        depth,
        f"{len(results)} of {len(plan.tasks)}",
        Figure(kernel, "{:.3f}"),
        Figure(wall, "{:.3f}"),
        Figure(products / wall, "{:.3g}"),
        Figure(whole, "{:,.4g}"),
        energy.figure,
    )


def compare(report: Report, quick: bool) -> None:
    """Print the two GPU kernels side by side, in points: 2^(2n − 3) of them make the count."""
    problem = QUICK if quick else COMPARED
    table = report.table("problem", "kernel", "kernel s", "points/s", title="points")
    seconds = []
    for method in ("godfrey", "polyphase"):
        plan = langford.plan(problem, method, 4)
        gpu = EVALUATORS[method](plan, partial(TimedProgram, 0))
        gpu.evaluate(0)
        gpu.program.seconds()
        results = [gpu.evaluate(task) for task in plan.tasks]
        seconds.append(gpu.program.seconds())
        require_published(f"{problem} by {method}", merge(plan, results).published, published(problem))
        points = 2.0 ** (len(problem.filled) - 3)
        table.row(problem, method, Figure(seconds[-1], "{:.3f}"), Figure(points / seconds[-1], "{:.3g}"))
    report.note(f"polyphase is {seconds[0] / seconds[1]:.1f} times as fast")


def sums(method: str, report: Report, quick: bool) -> None:
    """The table of a method."""
    report.note(method)
    table = report.table(
        "problem", "depth", "tasks", "kernel s", "wall s", "products/s", "whole problem, wall s",
        Meter(of_gpu()).heading, title=method,
    )  # fmt: skip
    for problem, depth in [(QUICK, 4)] if quick else WHOLE[method]:
        measure(table, problem, method, depth, None)
    for problem, depth, drawn in [] if quick else DRAWN[method]:
        measure(table, problem, method, depth, drawn)


PARTS: dict[str, Callable[[Report, bool], None]] = {
    **{method: partial(sums, method) for method in WHOLE},
    "points": compare,
}


def main(options: argparse.Namespace, report: Report) -> None:
    """Print one part, or all of them."""
    report.note(device_name(0))
    for part in [options.only] if options.only else PARTS:
        PARTS[part](report, options.quick)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--only", choices=PARTS, help="one part")
    run(parser, main)
