"""Choose the task depth so that tasks take a given time, from the measured speed of a device."""

from __future__ import annotations

import time

import numpy as np

from jobs.evaluation import evaluator_of, plan_of
from langford.devices import CPU, Device
from langford.errors import BadDepth
from langford.methods import Method, PlanKey
from langford.problem import Problem

PROBE_DEPTH = 24
"""For sums: deep enough that one task takes seconds at most, for every problem."""


def depth_for(problem: Problem, method: Method, device: Device, seconds: float) -> int:
    """The smallest depth whose largest task takes at most about ``seconds`` on ``device``.

    Evaluates one task of a deep plan to measure the speed.  The deepest depth when no depth is
    deep enough.
    """
    depths = method.depths(problem)
    deep = PROBE_DEPTH if method.unit == "points" else method.suggested_depth(problem) - (device != CPU)
    probe = PlanKey(problem, method.name, min(max(deep, depths[0]), depths[-1]))
    work = plan_of(probe).work
    evaluate, index = evaluator_of(probe, device), int(np.argmax(work))
    evaluate(index)  # compiles what the device compiles once
    start = time.perf_counter()
    evaluate(index)
    speed = work[index] / (time.perf_counter() - start)
    for depth in depths:
        try:
            evaluator_of(PlanKey(problem, method.name, depth), device)
        except BadDepth:
            continue
        if plan_of(PlanKey(problem, method.name, depth)).work.max() <= seconds * speed:
            return depth
    return depths[-1]
