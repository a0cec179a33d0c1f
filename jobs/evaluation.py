"""Evaluate one task of a campaign, with its provenance; what every kind of worker calls."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from langford.methods import Plan, find_method
from langford.methods.devices import CPU, evaluator, index_of
from langford.problem import Problem
from langford.provenance import kernel_hash, versions
from langford.result import Evaluation, PartialResult


@dataclass(frozen=True)
class PlanKey:
    """Names a plan; small, picklable, the same on every machine."""

    problem: str
    method: str
    depth: int


@lru_cache(maxsize=4)
def plan_of(key: PlanKey) -> Plan:
    """The plan that a key names."""
    problem = Problem.parse(key.problem)
    return find_method(key.method, problem).plan(problem, key.depth)


@lru_cache(maxsize=4)
def evaluator_of(key: PlanKey, device: str) -> Callable[[int], PartialResult]:
    """The compiled evaluator of a plan on a device; raises NoGpu or MethodDoesNotApply."""
    return evaluator(plan_of(key), device)


def evaluate(key: PlanKey, index: int, device: str = CPU) -> Evaluation:
    """Evaluate a task here and now, and check the result before anyone sees it."""
    compute = evaluator_of(key, device)
    start = time.perf_counter()
    result = compute(index)
    seconds = time.perf_counter() - start
    plan_of(key).expectation(index).check(result)
    provenance = {"host": platform.node(), "device": _name(device), "kernels": kernel_hash(), **versions()}
    return Evaluation(result, seconds, json.dumps(provenance, sort_keys=True))


def _name(device: str) -> str:
    if device == CPU:
        return CPU
    from langford.kernels.cuda.device import device_name

    return f"{device} {device_name(index_of(device))}"
