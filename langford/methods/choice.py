"""Choose the method and the task depth of a plan: by one rule, which asks for the problem and the kind of device.

So a problem has the same plan on every machine.  The figures of the rule are in ``speeds.toml``.
"""

from __future__ import annotations

from collections.abc import Iterable

from langford.devices import Device
from langford.errors import BadDepth, BadInput
from langford.methods.plan import Method
from langford.methods.speed import tabled
from langford.problem import Problem

MANY_TASKS = 1_000_000
"""No limit of time asks for more tasks than this."""


def fastest(problem: Problem, methods: Iterable[Method], device_kind: str) -> Method:
    """The method that was the fastest in benchmarks; ``methods``: at least one, in order of preference."""
    first, *others = methods
    start = 0
    for method in others:
        begin = method.speeds.first(device_kind, problem.mirrored and problem.fold == 1)
        if begin is not None and start <= begin <= problem.n:
            first, start = method, begin
    return first


def task_depth(
    problem: Problem, method: Method, device: Device, seconds: float | None = None, at_most: float | None = None
) -> int:
    """The task depth p for a problem, a method and a kind of device.

    It is the smallest of some depths at which no task takes longer than a time on the device of the benchmarks, or
    the deepest one if none is deep enough.

    Args:
        problem, method, device: what is counted, how, and where.
        seconds: this time, for which all depths are looked at.  None: those from the suggested one on, or from some
            levels above it for a GPU, with the time that is usual for the kind of device.
        at_most: without ``seconds``, tasks take no longer than this either.

    Raises BadInput where no benchmark tells which depth has tasks of ``seconds``, and what Method.plan raises.
    """
    depths, speed = method.best_depths(problem), tabled(problem, method, device.kind)
    first, limits = depths[0], [seconds]
    if seconds is None:
        first = max(depths[0], method.suggested_depth(problem) - device.fewer_levels)
        limits = [device.task_seconds, at_most]
    elif speed is None:
        raise BadInput(f"no benchmark tells how long {method.name} takes on a {device.unit}: give a depth instead")
    most = min((each for each in limits if each is not None), default=None)
    if speed is None or most is None:
        return first
    whole, deepest = speed.expected(problem), first
    for depth in depths:
        if depth < first or method.fewest_tasks(problem, depth) > MANY_TASKS:
            continue
        try:
            plan = method.plan(problem, depth)
        except BadDepth:
            continue
        if whole * plan.work.max() <= most * plan.work.sum():
            return depth
        deepest = depth
    return deepest
