"""A forecast of the time of a count.

The work of a sum is known exactly, in points; its speed is measured on one small task of the same kind.
The work of a search is not known: the time of a smaller problem is measured and multiplied by a factor for each
further colour, which benchmarks have shown.
"""

from __future__ import annotations

from jobs.evaluation import evaluate
from langford.methods import Method
from langford.problem import Problem
from langford.variants import DIFFERENCES


def core_seconds(problem: Problem, method: Method) -> float:
    """Expected seconds of one core for the whole count, within a factor of about 2; 0 for a short count."""
    speed = method.speed.get(problem.copies) or method.speed[0]
    if problem.n <= speed.instant:
        return 0.0
    probe = _smaller(problem, speed.probe)
    if speed.growth is None:
        return _summed(problem, probe, method)
    return _searched(probe, method) * speed.growth ** (problem.n - probe.n)


def _summed(problem: Problem, probe: Problem, method: Method) -> float:
    """Seconds of one core for a sum, from one task of a smaller problem."""
    plan = method.plan(probe, method.depths(probe)[-1] // 2 // 4 * 4)
    task = int(plan.work.argsort()[len(plan.work) // 2])
    points = float(method.plan(problem, method.suggested_depth(problem)).work.sum())
    # A point takes longer the more sums it has, and the wider they are.
    growth = (problem.n / probe.n) ** 2
    return evaluate(plan, task).seconds / float(plan.work[task]) * points * growth


def _searched(probe: Problem, method: Method) -> float:
    """Seconds of one core for the search of a smaller problem."""
    plan = method.plan(probe, method.suggested_depth(probe))
    return sum(evaluate(plan, task).seconds for task in plan.tasks)


def _smaller(problem: Problem, n: int) -> Problem:
    """The problem, or one of the same kind with n colours if it has more."""
    if problem.n <= n:
        return problem
    variant = "langford" if problem.variant == DIFFERENCES else problem.variant
    return Problem.named(variant, n, problem.copies)
