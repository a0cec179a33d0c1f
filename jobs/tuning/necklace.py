"""The experiment for the sum over necklaces on a GPU."""

from __future__ import annotations

from dataclasses import asdict

from jobs.tuning.experiment import Curve, Experiment, Stopwatch, Trial
from langford.kernels.gpu.program import Compiler
from langford.methods import find_method
from langford.methods.necklace.cuda import Launch, NecklaceOnGpu
from langford.methods.necklace.plan import NecklacePlan
from langford.problem import Problem

THREADS = (256, 384, 512, 768, 1024)
BLOCKS = (1, 2, 4)
MAX_THREADS = 1024
"""Per multiprocessor, with at least 64 registers each."""


def necklace_on_gpu(problem: Problem, compiler: Compiler, watch: Stopwatch) -> Experiment:
    """The launch; its settings are those of :class:`Launch`."""
    method = find_method("necklace", problem)
    plan = method.plan(problem, method.depths(problem)[0])
    assert isinstance(plan, NecklacePlan)

    def launched(launch: Launch) -> Trial:
        gpu = NecklaceOnGpu(plan, compiler, launch)
        label = f"{launch.threads} threads, {launch.min_blocks} blocks"
        seconds = watch.seconds(label, plan, lambda: map(gpu.evaluate, plan.tasks))
        return Trial(launch.min_blocks, seconds, asdict(launch))

    return Experiment(
        "grid",
        f"{problem} by necklace on a GPU",
        "blocks per multiprocessor",
        tuple(
            Curve(
                f"{threads} threads per block",
                tuple(launched(Launch(threads, blocks)) for blocks in BLOCKS if threads * blocks <= MAX_THREADS),
            )
            for threads in THREADS
        ),
    )
