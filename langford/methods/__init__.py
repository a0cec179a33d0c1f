"""The counting methods, by name.  Adding one is a folder here and a line in METHODS."""

from __future__ import annotations

from functools import lru_cache

from langford.errors import MethodDoesNotApply
from langford.methods.backtracking.miller import Miller
from langford.methods.backtracking.regular import Regular
from langford.methods.depth import task_depth
from langford.methods.godfrey import Godfrey
from langford.methods.merging import Count, merge
from langford.methods.plan import Evaluator, Method, Plan, PlanKey
from langford.methods.polyphase import Polyphase
from langford.methods.shifted import Shifted
from langford.problem import Problem

METHODS: dict[str, Method] = {
    method.name: method for method in (Polyphase(), Shifted(), Godfrey(), Miller(), Regular())
}
"""Fastest first: the first one that applies is the default."""

__all__ = [
    "METHODS",
    "Count",
    "Evaluator",
    "Method",
    "Plan",
    "PlanKey",
    "default_method",
    "find_method",
    "merge",
    "plan_of",
    "task_depth",
]


def find_method(name: str, problem: Problem) -> Method:
    """The method of that name; raises MethodDoesNotApply when it cannot count ``problem``."""
    if name not in METHODS:
        raise MethodDoesNotApply(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    reason = METHODS[name].refusal(problem)
    if reason:
        raise MethodDoesNotApply(f"{name} cannot count {problem.name}: {reason}")
    return METHODS[name]


def default_method(problem: Problem) -> Method:
    """The fastest method that applies; raises MethodDoesNotApply when none does."""
    for method in METHODS.values():
        if method.refusal(problem) is None:
            return method
    reasons = "; ".join(f"{name}: {method.refusal(problem)}" for name, method in METHODS.items())
    raise MethodDoesNotApply(f"no method can count {problem.name}: {reasons}")


@lru_cache(maxsize=4)
def plan_of(key: PlanKey) -> Plan:
    """The plan that a key names, with its evaluators; the last few are kept.

    Raises MethodDoesNotApply, BadDepth or BadSeed.
    """
    return find_method(key.method, key.problem).plan(key.problem, key.depth, key.seed)
