"""The counting methods, by name."""

from __future__ import annotations

from functools import lru_cache

from langford.errors import MethodDoesNotApply
from langford.methods.godfrey import Godfrey
from langford.methods.miller import Miller
from langford.methods.plan import Count, Method, Plan, PlanKey, largest_first, merge
from langford.methods.polyphase import Polyphase
from langford.methods.regular import Regular
from langford.problem import Problem

METHODS: dict[str, Method] = {method.name: method for method in (Polyphase(), Godfrey(), Miller(), Regular())}

__all__ = [
    "METHODS",
    "Count",
    "Method",
    "Plan",
    "PlanKey",
    "default_method",
    "find_method",
    "largest_first",
    "merge",
    "plan_of",
]


def find_method(name: str, problem: Problem) -> Method:
    """The method of that name; raises MethodDoesNotApply when it cannot count ``problem``."""
    if name not in METHODS:
        raise MethodDoesNotApply(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    reason = METHODS[name].refusal(problem)
    if reason:
        raise MethodDoesNotApply(f"{name} cannot count {problem.name}: {reason}")
    return METHODS[name]


@lru_cache(maxsize=4)
def plan_of(key: PlanKey) -> Plan:
    """The plan that a key names; raises MethodDoesNotApply or BadDepth."""
    return find_method(key.method, key.problem).plan(key.problem, key.depth)


def default_method(problem: Problem) -> Method:
    """The fastest method that applies."""
    for method in METHODS.values():
        if method.refusal(problem) is None:
            return method
    reasons = "; ".join(f"{name}: {method.refusal(problem)}" for name, method in METHODS.items())
    raise MethodDoesNotApply(f"no method can count {problem.name}: {reasons}")
