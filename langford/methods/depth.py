"""Choose the task depth: by rule, or from the measured speed of a device."""

from __future__ import annotations

import time

import numpy as np

from langford.devices import Device
from langford.errors import BadDepth
from langford.methods.plan import Method
from langford.problem import Problem

ENOUGH_SECONDS = 0.1
"""A task that takes this time shows the speed of larger ones, in seconds."""


def task_depth(problem: Problem, method: Method, device: Device, seconds: float | None = None) -> int:
    """The task depth p for a problem, a method and a device.

    Without ``seconds`` a rule chooses, the same on every machine.  With it one task of a deep plan is
    evaluated to measure the speed: the answer is the smallest depth whose largest task takes at most
    about that time, or the deepest one when none is deep enough.

    Raises what Method.plan and Method.evaluator raise.
    """
    depths = method.best_depths(problem)
    suggested = method.suggested_depth(problem)
    if seconds is None:
        return max(depths[0], suggested - device.fewer_levels)
    # Where tasks are larger, one is large enough to measure one level higher in the search.
    deep = suggested - (device.fewer_levels > 0) if method.speeds.probe_depth is None else method.speeds.probe_depth
    most_work = seconds * _speed(problem, method, min(max(deep, depths[0]), depths[-1]), device)
    for depth in depths:
        try:
            plan = method.plan(problem, depth)
            plan.evaluator(device)
        except BadDepth:
            continue
        if plan.work.max() <= most_work:
            return depth
    return depths[-1]


def _speed(problem: Problem, method: Method, depth: int, device: Device) -> float:
    """Work per second of a device at the largest task of a depth.

    Where the work is known in points, a task that takes too little time to show the speed is followed by one of the
    next depth with larger tasks.
    """
    shown, depths = 0.0, method.best_depths(problem)
    for shallower in range(depth, depths[0] - 1, -depths.step):
        plan = method.plan(problem, shallower)
        try:
            evaluator, index = plan.evaluator(device), int(np.argmax(plan.work))
        except BadDepth:
            if shown:
                break
            raise
        evaluator.evaluate(index)  # tables and buffers are made once
        start = time.perf_counter()
        evaluator.evaluate(index)
        seconds = time.perf_counter() - start
        shown = float(plan.work[index]) / seconds
        if seconds >= ENOUGH_SECONDS or method.speeds.probe_depth is None:
            break
    return shown
