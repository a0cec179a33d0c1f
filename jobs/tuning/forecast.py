"""A forecast of the time of a count.

The work of a sum is known exactly, in points; its speed is measured on one task of the same kind, which must not be
too small: a task of `shifted` makes tables for each u, whatever the number of its points.
The work of a search is not known: the time of a smaller problem is measured and multiplied by a factor for each
further colour, which benchmarks have shown.
"""

from __future__ import annotations

import time

from jobs.run.evaluation import evaluate
from langford.methods import Method, Plan
from langford.methods.speeds import Forecast
from langford.problem import Problem


def core_seconds(problem: Problem, method: Method) -> float:
    """Expected seconds of one core for the whole count, within a factor of about 2; 0 for a short count."""
    start = method.speeds.forecast(problem.copies)
    if problem.n <= start.instant:
        return 0.0
    probe = _smaller(problem, start.probe)
    if start.growth is None:
        return _summed(problem, probe, method, start)
    return _searched(probe, method) * start.growth ** (problem.n - probe.n)


def _summed(problem: Problem, probe: Problem, method: Method, start: Forecast) -> float:
    """Seconds of one core for a sum, from one task of a smaller problem."""
    plan = probing_plan(probe, method, start.points)
    task = int(plan.work.argsort()[len(plan.work) // 2])
    points = float(method.plan(problem, method.suggested_depth(problem)).work.sum())
    plan.evaluator()
    began = time.thread_time()
    evaluate(plan, task)
    seconds = time.thread_time() - began
    widening: float = (problem.n / probe.n) ** start.widening
    return seconds / float(plan.work[task]) * points * widening


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


def _searched(probe: Problem, method: Method) -> float:
    """Seconds of one core for the search of a smaller problem."""
    plan = method.plan(probe, method.suggested_depth(probe))
    return sum(evaluate(plan, task).seconds for task in plan.tasks)


def _smaller(problem: Problem, n: int) -> Problem:
    """The problem, or one of the same kind with n colours if it has more."""
    return problem if problem.n <= n else problem.resized(n)
