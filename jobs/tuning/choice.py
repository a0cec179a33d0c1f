"""The measurement by which a machine chooses the method of a sum: the speed of each at the same problem."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from random import Random

from jobs.console import SILENT, Console
from jobs.pools.evaluation import evaluate
from jobs.tuning.experiment import Experiment, Trial
from langford.devices import CPU, Cuda, Device
from langford.errors import BadDepth, BadInput
from langford.kernels.gpu.runtime import NoGpu
from langford.methods import Method, Plan, candidates
from langford.methods.choice import keep
from langford.problem import Problem

ENOUGH_SECONDS = 0.25
"""The duration of a task that is long enough to show the speed of tasks of any size."""
DEEPER = 8
"""The first plan whose tasks are measured is this much deeper than the suggested one."""
GPU = Cuda(0)


def choices(
    problem: Problem, repetitions: int, console: Console = SILENT, save: bool = True
) -> Iterator[tuple[str, Experiment]]:
    """Yield (kind of device, experiment): the projected time of a problem by each method, on a core and on GPU 0.

    ``repetitions``: tasks of each method, drawn over the whole plan, whose median is taken.
    Raises BadInput when no device has two methods for the problem, BadProfile or OSError.
    """
    compared = 0
    for device in (CPU, GPU):
        methods = candidates(problem, device.kind)
        if len(methods) < 2:
            continue
        compared += 1
        try:
            name = device.name
        except NoGpu as error:
            console.say(f"{problem} on a GPU is left out: {error}")
            continue
        seconds = {}
        for method in methods:
            seconds[method.name] = projected(problem, method, device, repetitions)
            console.say(f"{problem} by {method.name} on {name}: about {seconds[method.name]:.3g} s")
        curves = {method: [Trial(problem.n, took, {"method": method})] for method, took in seconds.items()}
        yield device.kind, Experiment("choice", f"{problem} on {name}", "n", curves, "whole count, projected")
        if save:
            console.say(f"the times on {name} are kept in {keep(problem, device, seconds)}")
    if not compared:
        raise BadInput(f"only one method counts {problem} fast, so there is no choice: give another problem")


def projected(problem: Problem, method: Method, device: Device, repetitions: int) -> float:
    plan, random = _showing(problem, method, device), Random(problem.n)
    tasks = [random.choice(plan.tasks) for _ in range(repetitions)]
    rates = [seconds_of(plan, task, device) / float(plan.work[task]) for task in tasks]
    return statistics.median(rates) * float(plan.work.sum())


def _showing(problem: Problem, method: Method, device: Device) -> Plan:
    """The deepest plan whose tasks take long enough to show the speed, or else that of the largest tasks."""
    shown = None
    deepest = method.suggested_depth(problem) + DEEPER
    for depth in sorted((depth for depth in method.best_depths(problem) if depth <= deepest), reverse=True):
        try:
            plan = method.plan(problem, depth)
            plan.evaluator(device)
        except BadDepth:
            continue
        shown, task = plan, int(plan.work.argsort()[len(plan.work) // 2])
        if seconds_of(plan, task, device) >= ENOUGH_SECONDS:
            break
    assert shown is not None, "every method has a depth that its evaluator takes"
    return shown


def seconds_of(plan: Plan, task: int, device: Device) -> float:
    """The seconds of one task: CPU time of this thread, or elapsed time on a GPU."""
    start = device.clock()
    evaluate(plan, task, device)
    return device.clock() - start
