"""How long a count will take, before it starts.

The work of a sum is known exactly (points); its speed is measured on one small task of the same kind.
The work of a search is not known: the time of a smaller problem is measured, and grows by a factor per
colour that benchmarks show.
"""

from __future__ import annotations

from jobs.evaluation import evaluate, plan_of
from langford.methods import METHODS, PlanKey
from langford.problem import Problem
from langford.variants import DIFFERENCES

SEARCH_GROWTH = {"miller": 8.5, "regular": 9.0}
"""Factor in the time of a search for pairs from n to n + 1 (benchmarks/methods.py)."""
TRIPLES_GROWTH = 5.7
"""The same for three or more copies, which prune better."""
TRIPLES_CALIBRATION = 14
CALIBRATION = {"polyphase": 20, "godfrey": 15, "miller": 13, "regular": 10}
"""The largest n whose small tasks take a fraction of a second."""
INSTANT = {"polyphase": 17, "godfrey": 14, "miller": 13, "regular": 9}
"""Up to this n a count takes less time than measuring would."""


def core_seconds(problem: Problem, method: str) -> float:
    """Expected seconds of one core for the whole count, within a factor of about 2."""
    if problem.copies > 2:
        instant = problem.n <= TRIPLES_CALIBRATION
        return 0.0 if instant else _searched(problem, method, TRIPLES_CALIBRATION, TRIPLES_GROWTH)
    if problem.n <= INSTANT[method]:
        return 0.0
    if METHODS[method].unit == "points":
        return _summed(problem, method)
    return _searched(problem, method, CALIBRATION[method], SEARCH_GROWTH[method])


def _summed(problem: Problem, method: str) -> float:
    """Expected seconds of a sum: its points are known, its speed is measured."""
    probe = _smaller(problem, CALIBRATION[method])
    depth = METHODS[method].depths(probe)[-1] // 2 // 4 * 4
    key = PlanKey(probe, method, depth)
    plan = plan_of(key)
    task = int(plan.work.argsort()[len(plan.work) // 2])
    plan.warm_up()
    seconds = evaluate(key, task).seconds * float(plan.work.sum()) / float(plan.work[task])
    growth = (problem.n / probe.n) ** 2
    return seconds * growth * 4.0 ** (problem.n - probe.n)


def _searched(problem: Problem, method: str, probe_n: int, growth: float) -> float:
    """Expected seconds of a search: those with ``probe_n`` colours, times ``growth`` for each colour more."""
    probe = _smaller(problem, probe_n)
    key = PlanKey(probe, method, METHODS[method].suggested_depth(probe))
    tasks = range(len(plan_of(key).work))
    plan_of(key).warm_up()
    seconds = sum(evaluate(key, task).seconds for task in tasks)
    return seconds * growth ** (problem.n - probe.n)


def _smaller(problem: Problem, n: int) -> Problem:
    """The problem, or one of its kind with n colours if it has more."""
    if problem.n <= n:
        return problem
    variant = "langford" if problem.variant == DIFFERENCES else problem.variant
    return Problem.named(variant, n, problem.copies)
