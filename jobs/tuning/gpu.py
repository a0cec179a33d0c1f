"""The experiments on a GPU: figures 1.9 to 1.14 of the thesis, and some that it did not make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from jobs.tuning.experiment import Curve, Experiment, Stopwatch, Trial, core_counts, until_slow
from langford.kernels.gpu.program import Compiler
from langford.machine.process import computing_threads
from langford.methods import Evaluator, find_method
from langford.methods.backtracking.cuda import (
    MAX_TEST_FREE,
    BacktrackingOnGpu,
    MillerOnGpu,
    RegularOnGpu,
    Settings,
    lane_depth,
)
from langford.methods.backtracking.plan import BacktrackingPlan, MillerPlan, RegularPlan
from langford.methods.godfrey.cuda import GodfreyOnGpu, Launch
from langford.methods.godfrey.plan import GodfreyPlan
from langford.problem import Problem
from langford.result import PartialResult

AROUND = 2
"""The numbers of colours per lane that are tried differ from the usual one by up to this."""
THREADS = (64, 96, 128, 256, 512)
WAITING = (1, 2, 4, 8, 16, 32)
STREAMS = range(1, 8)
THREADS_PER_MULTIPROCESSOR = (512, 1024, 1536, 2048, 4096)
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
GODFREY_THREADS = (32, 64, 128, 256)
BLOCKS = (1, 2, 3, 4, 6, 8, 12)
DEPTHS = (10, 12, 14)
GODFREY_SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)


class Bench:
    """Measurements of one problem and one method on one GPU, and the fastest settings so far."""

    def __init__(
        self, problem: Problem, method: str, compiler: Compiler, cores: int, settings: Settings, watch: Stopwatch
    ) -> None:
        plan = find_method(method, problem).plan(problem, 1)
        assert isinstance(plan, BacktrackingPlan)
        self.plan = plan
        self.settings, self.cores = settings, cores
        self._compiler, self._watch = compiler, watch

    def trial(self, x: float, plan: BacktrackingPlan | None = None, **changes: Any) -> Trial:
        """Count with some settings changed; ``x``: position on the axis of the experiment."""
        plan = plan or self.plan
        gpu = on_gpu(plan, self._compiler, self.cores, replace(self.settings, **changes))
        label = ", ".join(f"{name} {value}" for name, value in changes.items()) or "best so far"
        seconds = self._watch.seconds(label, plan, lambda: counted(plan, gpu))
        total = max(1, gpu.on_gpu + gpu.on_cores)
        note = f"{gpu.program.registers} registers, {100 * gpu.on_cores / total:.2g}% of the sub-tasks on cores"
        return Trial(x, seconds, changes, note)

    def adopt(self, experiment: Experiment) -> Experiment:
        self.settings = replace(self.settings, **experiment.best.settings)
        return experiment


def on_gpu(
    plan: BacktrackingPlan, compiler: Compiler, cores: int, settings: Settings
) -> BacktrackingOnGpu[MillerPlan] | BacktrackingOnGpu[RegularPlan]:
    """The evaluator of a plan on a GPU, with these settings instead of those in the profile."""
    if isinstance(plan, RegularPlan):
        return RegularOnGpu(plan, compiler, cores, settings)
    assert isinstance(plan, MillerPlan)
    return MillerOnGpu(plan, compiler, cores, settings)


def counted(plan: BacktrackingPlan, gpu: Evaluator) -> Iterable[PartialResult]:
    """Largest tasks first."""
    return map(gpu.evaluate, plan.largest_first())


def search_on_gpu(bench: Bench) -> Iterator[Experiment]:
    """Yield the experiments: colours per lane, launch, schedule, streams, cores and share.

    At the end ``bench.settings`` are the fastest.
    """
    plan = bench.plan
    title = f"{plan.problem} by {plan.method.name} on a GPU"
    most = plan.problem.n - 1
    usual = bench.settings.lane_colours or plan.problem.n - lane_depth(plan, None)
    candidates = range(usual - AROUND, usual + AROUND + 1)
    yield bench.adopt(
        Experiment(
            "lane-colours",
            title,
            "r, colours placed by a lane",
            (Curve(plan.method.name, tuple(bench.trial(r, lane_colours=r) for r in candidates if 1 <= r <= most)),),
            "r and registers, section 1.2.4",
        )
    )
    if isinstance(plan, RegularPlan):
        test_free = (
            bench.trial(r, RegularPlan(plan.method, plan.problem, plan.depth, r))
            for r in range(1, MAX_TEST_FREE + 1)
        )
        yield Experiment(
            "test-free",
            title,
            "colours without a test in between",
            (Curve(plan.method.name, until_slow(test_free)),),
            "r and registers, section 1.2.4",
        )
    yield bench.adopt(
        Experiment(
            "grid",
            title,
            "blocks per multiprocessor",
            tuple(
                Curve(
                    f"{threads} threads per block",
                    tuple(
                        bench.trial(
                            lanes // threads, threads=threads, min_blocks=1024 // threads, blocks=lanes // threads
                        )
                        for lanes in THREADS_PER_MULTIPROCESSOR
                    ),
                )
                for threads in THREADS
            ),
            "figure 1.9",
        )
    )
    yield bench.adopt(
        Experiment(
            "schedule",
            title,
            "lanes that wait before their warp fetches rows",
            tuple(
                Curve(label, tuple(bench.trial(lanes, waiting=lanes, persistent=persistent) for lanes in WAITING))
                for label, persistent in (
                    ("lanes take the next sub-task", True),
                    ("each lane has its share", False),
                )
            ),
            "persistent threads against static assignment; 32: lanes wait for each other",
        )
    )
    yield bench.adopt(
        Experiment(
            "streams",
            title,
            "streams",
            (Curve(plan.method.name, tuple(bench.trial(streams, streams=streams) for streams in STREAMS)),),
            "figure 1.10",
        )
    )
    yield bench.adopt(
        Experiment(
            "cores",
            title,
            f"cores of {bench.cores} that also compute; the others only feed the GPU",
            (
                Curve(
                    plan.method.name,
                    tuple(bench.trial(count, computing=count) for count in (0, *core_counts(bench.cores))),
                ),
            ),
            "figure 1.11",
        )
    )
    yield bench.adopt(
        Experiment(
            "share",
            title,
            "share of the sub-tasks for the cores",
            (
                Curve("set from the start", until_slow(bench.trial(share, cpu_share=share) for share in SHARES)),
                Curve("what they take", (bench.trial(0.0, cpu_share=None),)),
            ),
            "80/20 in section 1.2.5",
        )
    )


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
            for threads in GODFREY_THREADS
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
            Curve(f"depth {depth}", until_slow(bench.shared(bench.plan(depth), share) for share in GODFREY_SHARES))
            for depth in DEPTHS
        ),
        "figure 1.14",
    )
