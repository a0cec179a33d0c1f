"""Evaluate one task of a campaign, with its provenance; what every kind of worker calls."""

from __future__ import annotations

import json
import platform
import time
from dataclasses import dataclass
from functools import lru_cache

from langford.methods import Plan, find_method
from langford.problem import Problem
from langford.provenance import kernel_hash, versions
from langford.result import PartialResult


@dataclass(frozen=True)
class PlanKey:
    """Names a plan; small, picklable, the same on every machine."""

    problem: str
    method: str
    depth: int


@dataclass(frozen=True)
class Evaluation:
    """A task's result, the seconds it took and where it comes from (JSON)."""

    result: PartialResult
    seconds: float
    provenance: str


@lru_cache(maxsize=4)
def plan_of(key: PlanKey) -> Plan:
    """The plan that a key names."""
    problem = Problem.parse(key.problem)
    return find_method(key.method, problem).plan(problem, key.depth)


def evaluate(key: PlanKey, index: int) -> Evaluation:
    """Evaluate a task here and now, and check the result before anyone sees it."""
    plan = plan_of(key)
    start = time.perf_counter()
    result = plan.evaluate(index)
    seconds = time.perf_counter() - start
    plan.expectation(index).check(result)
    provenance = {"host": platform.node(), "device": "cpu", "kernels": kernel_hash(), **versions()}
    return Evaluation(result, seconds, json.dumps(provenance, sort_keys=True))
