"""The experiment for the sum over necklaces on a GPU."""

from __future__ import annotations

from dataclasses import asdict

from jobs.tuning.experiment import Curve, Experiment, Stopwatch, Trial
from langford.kernels.gpu.program import Compiler
from langford.methods import find_method
from langford.methods.necklace.cuda import Launch, NecklaceOnGpu
from langford.methods.necklace.plan import NecklacePlan
from langford.problem import Problem

THREADS = (384, 512, 640, 768, 896)
"""The shared memory of a multiprocessor is for one block, and no larger one."""


def necklace_on_gpu(problem: Problem, compiler: Compiler, watch: Stopwatch) -> Experiment:
    """The launch; its settings are those of :class:`Launch`."""
    method = find_method("necklace", problem)
    plan = method.plan(problem, method.depths(problem)[0])
    assert isinstance(plan, NecklacePlan)

    def launched(threads: int) -> Trial:
        launch = Launch(threads)
        gpu = NecklaceOnGpu(plan, compiler, launch)
        seconds = watch.seconds(f"{threads} threads", plan, lambda: map(gpu.evaluate, plan.tasks))
        return Trial(threads, seconds, asdict(launch))

    trials = tuple(map(launched, THREADS))
    return Experiment(
        "grid",
        f"{problem} by necklace on a GPU",
        "threads per block",
        (Curve("one block per multiprocessor", trials),),
    )
