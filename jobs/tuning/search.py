"""The experiments for backtracking on a GPU: figures 1.9 to 1.11 of the thesis, and some that it did not make.

Each experiment uses the best settings of those before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from jobs.tuning.experiment import Curve, Experiment, Stopwatch, Trial, core_counts, until_slow
from langford.kernels.gpu.program import Compiler
from langford.methods import Evaluator, find_method
from langford.methods.backtracking.cuda import (
    MOST_TEST_FREE,
    BacktrackingOnGpu,
    MillerOnGpu,
    RegularOnGpu,
    Settings,
    lane_depth,
)
from langford.methods.backtracking.plan import BacktrackingPlan, MillerPlan, RegularPlan
from langford.problem import Problem
from langford.result import PartialResult

AROUND = 2
"""The numbers of colours per lane that are tried differ from the usual one by up to this."""
THREADS = (64, 96, 128, 256, 512)
WAITING = (1, 2, 4, 8, 16, 32)
STREAMS = range(1, 8)
THREADS_PER_MULTIPROCESSOR = (512, 1024, 1536, 2048, 4096)
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


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
            for r in range(1, MOST_TEST_FREE + 1)
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
