"""Where a task is evaluated: on a core of the CPU, or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from langford.errors import MethodDoesNotApply
from langford.methods.plan import Plan
from langford.result import PartialResult

CPU = "cpu"


def evaluator(plan: Plan, device: str) -> Callable[[int], PartialResult]:
    """The function that evaluates a task of ``plan`` on ``device``, compiled and ready.

    Args:
        device: "cpu", or "cuda:K" for the K-th GPU.

    Raises:
        MethodDoesNotApply: the method has no kernel for GPUs.
        NoGpu: no GPU, or CuPy is missing.
    """
    if device == CPU:
        plan.warm_up()
        return plan.evaluate
    from langford.methods.godfrey import GodfreyPlan
    from langford.methods.polyphase import PolyphasePlan

    if not isinstance(plan, PolyphasePlan | GodfreyPlan):
        raise MethodDoesNotApply(f"{plan.method} does not run on GPUs in this version; use polyphase or godfrey")
    from langford.kernels.cuda.device import CudaProgram
    from langford.methods.godfrey_cuda import GodfreyEvaluator
    from langford.methods.polyphase_cuda import GpuEvaluator

    compiler = partial(CudaProgram, index_of(device))
    if isinstance(plan, GodfreyPlan):
        return GodfreyEvaluator(plan, compiler).evaluate
    return GpuEvaluator(plan, compiler).evaluate


def index_of(device: str) -> int:
    """K of "cuda:K"."""
    return int(device.partition(":")[2])


def devices(kind: str, cores: int) -> list[str]:
    """One device per worker: ``cores`` times the CPU, or every GPU once.

    Raises NoGpu when GPUs are asked for and there is none.
    """
    if kind == CPU:
        return [CPU] * cores
    from langford.kernels.cuda.device import device_count

    return [f"cuda:{index}" for index in range(device_count())]


def depth_for(device: str, suggested: int) -> int:
    """A task depth for a device: a GPU wants tasks about 16 times as large as a core."""
    return suggested if device == CPU else max(0, suggested - 4)
