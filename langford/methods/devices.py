"""Where a task is evaluated: on a core of the CPU, or on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from langford.devices import CPU, Device, cores
from langford.methods.plan import Method, Plan
from langford.methods.polyphase import PolyphasePlan
from langford.problem import Problem
from langford.profile import chosen_from, settings_of
from langford.result import PartialResult


def evaluator(plan: Plan, device: Device) -> Callable[[int], PartialResult]:
    """The function that evaluates a task of ``plan`` on ``device``, compiled and ready.

    Args:
        device: a core of the processor, or a GPU.

    Raises:
        NoGpu: no GPU, or CuPy is missing.
        MethodDoesNotApply: the problem is too wide for the method's kernel.
        BadProfile: this machine's profile names settings that do not exist.
    """
    if device == CPU:
        plan.warm_up()
        return plan.evaluate
    from langford.kernels.cuda.runtime import CudaProgram, device_count
    from langford.methods.godfrey import GodfreyPlan
    from langford.methods.godfrey_cuda import GodfreyEvaluator, Launch
    from langford.methods.polyphase_cuda import GpuEvaluator
    from langford.methods.search import SearchPlan
    from langford.methods.search_cuda import SearchEvaluator, Settings

    count = device_count()
    compiler = partial(CudaProgram, device.index)
    chosen = settings_of(device.name, plan.method)
    if isinstance(plan, SearchPlan):
        # Each GPU has a worker, and each worker its share of the cores.
        settings = chosen_from(Settings(), chosen)
        return SearchEvaluator(plan, compiler, max(1, cores() // count), settings).evaluate
    if isinstance(plan, GodfreyPlan):
        return GodfreyEvaluator(plan, compiler, chosen_from(Launch(), chosen)).evaluate
    assert isinstance(plan, PolyphasePlan)
    return GpuEvaluator(plan, compiler).evaluate


def depth_for(device: Device, method: Method, problem: Problem) -> int:
    """A task depth for a device: a GPU wants tasks at least 16 times as large as a core."""
    suggested = method.suggested_depth(problem)
    return suggested if device == CPU else max(method.depths(problem)[0], suggested - 4)
