"""The experiments for Godfrey's sum on a GPU (thesis, figures 1.13 and 1.14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

from jobs.tuning.experiment import Curve, Experiment, Stopwatch, Trial, until_slow
from langford.kernels.gpu.program import Compiler
from langford.methods import find_method
from langford.methods.godfrey.cuda import GodfreyOnGpu, Launch
from langford.methods.godfrey.plan import GodfreyPlan
from langford.problem import Problem
from langford.result import PartialResult
from langford.threads import computing_threads

THREADS = (32, 64, 128, 256)
BLOCKS = (1, 2, 3, 4, 6, 8, 12)
DEPTHS = (10, 12, 14)
SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)


class GodfreyBench:
    """Measurements of one problem on one GPU, and the fastest launch so far."""

    def __init__(self, problem: Problem, compiler: Compiler, cores: int, launch: Launch, watch: Stopwatch) -> None:
        self.problem, self.cores, self.launch = problem, cores, launch
        self._compiler, self._watch = compiler, watch

    def plan(self, depth: int) -> GodfreyPlan:
        plan = find_method("godfrey", self.problem).plan(self.problem, depth)
        assert isinstance(plan, GodfreyPlan)
        return plan

    def launched(self, plan: GodfreyPlan, launch: Launch) -> Trial:
        gpu = GodfreyOnGpu(plan, self._compiler, launch)
        label = f"{launch.threads} threads, {launch.blocks} blocks"
        seconds = self._watch.seconds(label, plan, lambda: map(gpu.evaluate, plan.tasks))
        return Trial(launch.blocks or 0, seconds, asdict(launch))

    def shared(self, plan: GodfreyPlan, share: float) -> Trial:
        """``share`` of the tasks, the last ones, are for the cores."""
        gpu = GodfreyOnGpu(plan, self._compiler, self.launch)
        tasks_on_gpu = len(plan.tasks) - round(share * len(plan.tasks))

        def both() -> Iterable[PartialResult]:
            with computing_threads(self.cores) as pool:
                on_cores = [pool.submit(plan.evaluate, index) for index in plan.tasks[tasks_on_gpu:]]
                yield from map(gpu.evaluate, plan.tasks[:tasks_on_gpu])
                yield from (future.result() for future in on_cores)

        actual_share = 1 - tasks_on_gpu / len(plan.tasks)
        label = f"depth {plan.depth}, {100 * actual_share:.2g}% on cores"
        seconds = self._watch.seconds(label, plan, both)
        return Trial(actual_share, seconds, {"depth": plan.depth, "share": actual_share})


def godfrey_on_gpu(bench: GodfreyBench) -> Iterator[Experiment]:
    """Yield two experiments: the launch, then depth and share; at the end ``bench.launch`` is the fastest."""
    plan = bench.plan(4)
    title = f"{bench.problem} by godfrey on a GPU"
    grid = Experiment(
        "grid",
        title,
        "blocks per multiprocessor",
        tuple(
            Curve(
                f"{threads} threads per block",
                tuple(
                    bench.launched(plan, Launch(threads, max(1, min(blocks, 512 // threads)), blocks))
                    for blocks in BLOCKS
                ),
            )
            for threads in THREADS
        ),
        "figure 1.13",
    )
    bench.launch = replace(bench.launch, **grid.best.settings)
    yield grid
    plan.evaluator()
    yield Experiment(
        "share",
        title,
        "share of the tasks for the cores",
        tuple(
            Curve(f"depth {depth}", until_slow(bench.shared(bench.plan(depth), share) for share in SHARES))
            for depth in DEPTHS
        ),
        "figure 1.14",
    )
