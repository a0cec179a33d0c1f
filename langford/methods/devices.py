"""Where a task is evaluated: on a core of the CPU, or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from langford.machine import chosen_from, cores, settings_of
from langford.methods.plan import Method, Plan
from langford.methods.polyphase import PolyphasePlan
from langford.problem import Problem
from langford.result import PartialResult

CPU = "cpu"


def evaluator(plan: Plan, device: str) -> Callable[[int], PartialResult]:
    """The function that evaluates a task of ``plan`` on ``device``, compiled and ready.

    Args:
        device: "cpu", or "cuda:K" for the K-th GPU.

    Raises:
        NoGpu: no GPU, or CuPy is missing.
        MethodDoesNotApply: the problem is too wide for the method's kernel.
        BadProfile: this machine's profile names settings that do not exist.
    """
    if device == CPU:
        plan.warm_up()
        return plan.evaluate
    from langford.kernels.cuda.device import CudaProgram, device_count, device_name
    from langford.methods.godfrey import GodfreyPlan
    from langford.methods.godfrey_cuda import GodfreyEvaluator, Launch
    from langford.methods.polyphase_cuda import GpuEvaluator
    from langford.methods.search import SearchPlan
    from langford.methods.search_cuda import SearchEvaluator, Settings

    index, count = index_of(device), device_count()
    compiler = partial(CudaProgram, index)
    chosen = settings_of(device_name(index), plan.method)
    if isinstance(plan, SearchPlan):
        # Each GPU has a worker, and each worker its share of the cores.
        settings = chosen_from(Settings(), chosen)
        return SearchEvaluator(plan, compiler, max(1, cores() // count), settings).evaluate
    if isinstance(plan, GodfreyPlan):
        return GodfreyEvaluator(plan, compiler, chosen_from(Launch(), chosen)).evaluate
    assert isinstance(plan, PolyphasePlan)
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


def depth_for(device: str, method: Method, problem: Problem) -> int:
    """A task depth for a device: a GPU wants tasks at least 16 times as large as a core."""
    suggested = method.suggested_depth(problem)
    return suggested if device == CPU else max(method.depths(problem)[0], suggested - 4)
