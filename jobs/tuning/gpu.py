"""The experiments on a GPU: figures 1.9 to 1.14 of the thesis, and some that it did not make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from jobs.tuning.experiment import Experiment, Stopwatch, Trial, core_counts, until_slow
from langford.kernels.gpu.program import Compiler
from langford.machine.process import computing_threads
from langford.methods import find_method
from langford.methods.backtracking.cuda import (
    MAX_TEST_FREE,
    MillerOnGpu,
    RegularOnGpu,
    SearchSettings,
    lane_depth,
)
from langford.methods.backtracking.plan import BacktrackingPlan, RegularPlan
from langford.methods.godfrey.cuda import GodfreyLaunch, GodfreyOnGpu
from langford.methods.godfrey.plan import GodfreyPlan
from langford.problem import Problem
from langford.result import PartialResult
from langford.words import percent

AROUND = 2
"""The numbers of colours per lane that are tried differ from the usual one by up to this."""
THREADS = (64, 96, 128, 256, 512)
WAITING = (1, 2, 4, 8, 16, 32)
STREAMS = range(1, 8)
THREADS_PER_MULTIPROCESSOR = (512, 1024, 1536, 2048, 4096)
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
GODFREY_THREADS = (32, 64, 128, 256)
BLOCKS = (1, 2, 3, 4, 6, 8, 12)
MOST_DEPTHS = 5
DEPTHS = (10, 12, 14)
GODFREY_SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)
ON_GPU: dict[str, Any] = {"miller": MillerOnGpu, "regular": RegularOnGpu}


class Bench:
    """Measurements of one problem and one method on one GPU, and the fastest settings so far."""

    def __init__(
        self,
        problem: Problem,
        method: str,
        compiler: Compiler,
        cores: int,
        settings: SearchSettings,
        watch: Stopwatch,
    ) -> None:
        self._method, self._problem = find_method(method, problem), problem
        self.plan = self.at(1)
        self.settings, self.cores = settings, cores
        self._compiler, self._watch = compiler, watch

    def at(self, depth: int) -> BacktrackingPlan:
        """The plan of another depth."""
        plan = self._method.plan(self._problem, depth)
        assert isinstance(plan, BacktrackingPlan)
        return plan

    def trial(self, x: float, plan: BacktrackingPlan | None = None, **changes: Any) -> Trial:
        """Count with some settings changed; ``x``: position on the axis of the experiment."""
        plan = plan or self.plan
        settings = replace(self.settings, **changes)
        gpu = ON_GPU[plan.method.name](plan, self._compiler, self.cores, settings)
        label = ", ".join(f"{name} {value}" for name, value in changes.items()) or f"depth {plan.depth}"
        seconds = self._watch.seconds(label, plan, lambda: map(gpu.evaluate, plan.largest_first()))
        total = max(1, gpu.on_gpu + gpu.on_cores)
        note = f"{gpu.program.registers} registers, {percent(gpu.on_cores / total)} of the sub-tasks on cores"
        return Trial(x, seconds, changes, note)

    def adopt(self, experiment: Experiment) -> Experiment:
        self.settings = replace(self.settings, **experiment.best.settings)
        return experiment


def search_on_gpu(bench: Bench) -> Iterator[Experiment]:
    """Yield the experiments: colours per lane, task depth, launch, schedule, streams, cores and share.

    At the end ``bench.settings`` are the fastest.
    """
    plan, method = bench.plan, bench.plan.method.name
    title = f"{plan.problem} by {method} on a GPU"
    usual = bench.settings.lane_colours or plan.problem.n - lane_depth(plan, None)
    candidates = range(max(1, usual - AROUND), min(plan.problem.n - 1, usual + AROUND) + 1)
    axis, shows = "r, colours placed by a lane", "r and registers, section 1.2.4"
    curves = {method: [bench.trial(r, lane_colours=r) for r in candidates]}
    yield bench.adopt(Experiment("lane-colours", title, axis, curves, shows))
    deeper = range(1, max(2, plan.problem.n - (bench.settings.lane_colours or usual)))
    by_depth = (bench.trial(p, bench.at(p)) for p in deeper[:MOST_DEPTHS])
    axis, shows = "p, colours placed by the server", "p, with r fixed, section 1.2.4"
    yield Experiment("depth", title, axis, {method: until_slow(by_depth)}, shows)
    shows = "r and registers, section 1.2.4"
    if isinstance(plan, RegularPlan):
        test_free = (
            bench.trial(r, RegularPlan(plan.method, plan.problem, plan.depth, r))
            for r in range(1, MAX_TEST_FREE + 1)
        )
        axis = "colours without a test in between"
        yield Experiment("test-free", title, axis, {method: until_slow(test_free)}, shows)
    curves = {
        f"{threads} threads per block": [
            bench.trial(lanes // threads, threads=threads, min_blocks=1024 // threads, blocks=lanes // threads)
            for lanes in THREADS_PER_MULTIPROCESSOR
        ]
        for threads in THREADS
    }
    yield bench.adopt(Experiment("grid", title, "blocks per multiprocessor", curves, "figure 1.9"))
    curves = {
        label: [bench.trial(lanes, waiting=lanes, persistent=persistent) for lanes in WAITING]
        for label, persistent in {"lanes take the next sub-task": True, "each lane has its share": False}.items()
    }
    axis = "lanes that wait before their warp fetches rows"
    shows = "persistent threads against static assignment; 32: lanes wait for each other"
    yield bench.adopt(Experiment("schedule", title, axis, curves, shows))
    curves = {method: [bench.trial(streams, streams=streams) for streams in STREAMS]}
    yield bench.adopt(Experiment("streams", title, "streams", curves, "figure 1.10"))
    axis = f"cores of {bench.cores} that also compute; the others only feed the GPU"
    curves = {method: [bench.trial(count, computing=count) for count in (0, *core_counts(bench.cores))]}
    yield bench.adopt(Experiment("cores", title, axis, curves, "figure 1.11"))
    curves = {
        "set from the start": until_slow(bench.trial(share, cpu_share=share) for share in SHARES),
        "what they take": [bench.trial(0.0, cpu_share=None)],
    }
    yield bench.adopt(
        Experiment("share", title, "share of the sub-tasks for the cores", curves, "80/20 in section 1.2.5")
    )


class GodfreyBench:
    """Measurements of one problem on one GPU, and the fastest launch so far."""

    def __init__(
        self, problem: Problem, compiler: Compiler, cores: int, launch: GodfreyLaunch, watch: Stopwatch
    ) -> None:
        self.problem, self.cores, self.launch = problem, cores, launch
        self._compiler, self._watch = compiler, watch

    def plan(self, depth: int) -> GodfreyPlan:
        plan = find_method("godfrey", self.problem).plan(self.problem, depth)
        assert isinstance(plan, GodfreyPlan)
        return plan

    def launched(self, plan: GodfreyPlan, launch: GodfreyLaunch) -> Trial:
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
        label = f"depth {plan.depth}, {percent(actual_share)} on cores"
        seconds = self._watch.seconds(label, plan, both)
        return Trial(actual_share, seconds, {"depth": plan.depth, "share": actual_share})


def godfrey_on_gpu(bench: GodfreyBench) -> Iterator[Experiment]:
    """Yield two experiments: the launch, then depth and share; at the end ``bench.launch`` is the fastest."""
    plan = bench.plan(4)
    title = f"{bench.problem} by godfrey on a GPU"
    curves = {
        f"{threads} threads per block": [
            bench.launched(plan, GodfreyLaunch(threads, max(1, min(blocks, 512 // threads)), blocks))
            for blocks in BLOCKS
        ]
        for threads in GODFREY_THREADS
    }
    grid = Experiment("grid", title, "blocks per multiprocessor", curves, "figure 1.13")
    bench.launch = replace(bench.launch, **grid.best.settings)
    yield grid
    plan.evaluator()
    curves = {
        f"depth {depth}": until_slow(bench.shared(bench.plan(depth), share) for share in GODFREY_SHARES)
        for depth in DEPTHS
        if depth in find_method("godfrey", bench.problem).depths(bench.problem)
    }
    yield Experiment("share", title, "share of the tasks for the cores", curves, "figure 1.14")
