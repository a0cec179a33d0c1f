"""A forecast of the time of a count, or of many: one measurement for each method, scaled to all of its problems.

The work of a sum is known exactly, in points; its speed is measured on one task of the same kind, which must not be
too small: a task of `shifted` makes tables for each u, whatever the number of its points.
The work of a search is not known: the time of a smaller problem is measured and multiplied by a factor for each
further colour, which benchmarks have shown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from jobs.pools.evaluation import evaluate
from langford.devices import Device
from langford.errors import BadDepth
from langford.methods import METHODS, Evaluator, Method, Plan, PlanKey, plan_of
from langford.methods.speeds import Forecast
from langford.problem import Problem

ENOUGH_SECONDS = 0.1
"""A task that takes this time on a GPU shows the speed of larger ones."""
TIMES = 3
"""How often such a task is timed; the shortest time is what it takes while nothing else uses the GPU."""
GROWTH_ERROR = 1.1
"""The time of a search grows by another factor from n to n + 1 than in the benchmarks: by up to a tenth."""
MAX_SECONDS = 10.0
"""Seconds after which a task is not timed again: those of a record take that long, and a forecast is awaited."""


def core_seconds(problem: Problem, method: Method) -> float:
    """Expected seconds of one core for the whole count, within a factor of about 2; 0 for a short count."""
    start = method.speeds.forecast(problem.copies)
    if problem.n <= start.instant:
        return 0.0
    probe = _smaller(problem, start.probe)
    if start.growth is None:
        return _summed(problem, probe, method, start)
    return _searched(probe, method) * start.growth ** (problem.n - probe.n)


def pace_on(key: PlanKey, devices: Sequence[Device]) -> float | None:
    """Expected seconds per unit of work of a plan on one of these devices; None on a GPU: workers need it."""
    if not devices[0].on_cores:
        return None
    return core_seconds(key.problem, METHODS[key.method]) / float(plan_of(key).work.sum())


def spread(problem: Problem, method: Method) -> float:
    """The factor by which a forecast may be wrong either way: that of a search grows with each further colour."""
    start = method.speeds.forecast(problem.copies)
    further = max(0, problem.n - start.probe)
    return GROWTH_ERROR**further if start.growth is not None else 1.0


def expected_seconds(choices: Sequence[tuple[Problem, Method]], devices: Sequence[Device]) -> dict[Problem, float]:
    """Expected seconds of each problem by its method, on devices that compute at the same time.

    They follow from a measurement of each method with its largest problem; 0 for a short count.
    """
    expected: dict[Problem, float] = {}
    for method in {method.name: method for _, method in choices}.values():
        problems = [problem for problem, each in choices if each.name == method.name]
        largest = max(problems, key=lambda problem: problem.n)
        start = method.speeds.forecast(largest.copies)
        measured = 0.0 if largest.n <= start.instant else _measured(largest, method, devices[0]) / len(devices)
        whole = _work(largest, method) if measured and start.growth is None else 1.0
        for problem in problems:
            if problem.n <= start.instant or not measured:
                factor = 0.0
            elif start.growth is not None:
                factor = start.growth ** (problem.n - largest.n)
            else:
                share = _work(problem, method) / whole
                factor = share * (problem.n / largest.n) ** start.widening
            expected[problem] = float(measured * factor)
    return expected


def _measured(problem: Problem, method: Method, device: Device) -> float:
    """Expected seconds of one device for the whole count."""
    start = method.speeds.forecast(problem.copies)
    if device.on_cores:
        return core_seconds(problem, method)
    if start.growth is None:
        return _summed_on_gpu(problem, method, device)
    return _searched_on_gpu(problem, method, device, start)


def _searched_on_gpu(problem: Problem, method: Method, device: Device, start: Forecast) -> float:
    """Seconds of one GPU for a search, from the first smaller problem with a task that shows its speed.

    No task of the problem itself is evaluated unless those of the smaller ones are short: it may take years.
    """
    assert start.growth is not None
    for n in range(start.probe, problem.n + 1):
        probe = _smaller(problem, n)
        plan = method.plan(probe, method.suggested_depth(probe))
        task = int(np.argmax(plan.work))
        plan.evaluator(device)
        seconds = evaluate(plan, task, device).seconds
        if seconds >= ENOUGH_SECONDS:
            break
    whole = seconds / float(plan.work[task]) * float(plan.work.sum())
    return float(whole * start.growth ** (problem.n - probe.n))


def _summed_on_gpu(problem: Problem, method: Method, device: Device) -> float:
    """From a task that takes long enough to show its speed."""
    depths, shown = method.best_depths(problem), 0.0
    deep = min(max(method.suggested_depth(problem), depths[0]), depths[-1])
    for depth in range(deep, depths[0] - 1, -depths.step):
        plan = method.plan(problem, depth)
        try:
            evaluator, index = plan.evaluator(device), int(np.argmax(plan.work))
        except BadDepth:
            break
        evaluator.evaluate(index)  # tables and buffers are made once
        seconds = _shortest(evaluator, index)
        shown = seconds / float(plan.work[index])
        if seconds >= ENOUGH_SECONDS:
            break
    return shown * _work(problem, method)


def _summed(problem: Problem, probe: Problem, method: Method, start: Forecast) -> float:
    """From one task of a smaller problem."""
    plan = probing_plan(probe, method, start.points)
    task = int(plan.work.argsort()[len(plan.work) // 2])
    plan.evaluator()
    began = time.thread_time()
    evaluate(plan, task)
    seconds = time.thread_time() - began
    widening: float = (problem.n / probe.n) ** start.widening
    return seconds / float(plan.work[task]) * _work(problem, method) * widening


def probing_plan(probe: Problem, method: Method, points: float | None) -> Plan:
    """A plan of a problem whose tasks have this number of points, or fewer if no plan has tasks of that size."""
    depths = method.best_depths(probe)
    if points is None:
        return method.plan(probe, depths[-1] // 2 // 4 * 4)
    for depth in depths:
        plan = method.plan(probe, depth)
        if plan.work.max() <= points:
            break
    return plan


def _shortest(evaluator: Evaluator, index: int) -> float:
    times: list[float] = []
    while len(times) < TIMES and sum(times) < MAX_SECONDS:
        began = time.perf_counter()
        evaluator.evaluate(index)
        times.append(time.perf_counter() - began)
    return min(times)


def _searched(probe: Problem, method: Method) -> float:
    """Whatever else the core does meanwhile."""
    plan = method.plan(probe, method.suggested_depth(probe))
    plan.evaluator()
    times = []
    for _ in range(TIMES):
        began = time.thread_time()
        for task in plan.tasks:
            evaluate(plan, task)
        times.append(time.thread_time() - began)
        if sum(times) >= MAX_SECONDS:
            break
    return min(times)


def _smaller(problem: Problem, n: int) -> Problem:
    return problem if problem.n <= n else problem.resized(n)


def _work(problem: Problem, method: Method) -> float:
    return float(method.plan(problem, method.suggested_depth(problem)).work.sum())
