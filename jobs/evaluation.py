"""Evaluate one task of a campaign, with its provenance; what every kind of worker calls."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from functools import lru_cache

from langford.devices import CPU, Device
from langford.methods import PlanKey, plan_of
from langford.methods.devices import evaluator
from langford.provenance import kernel_hash, versions
from langford.result import Evaluation, PartialResult

__all__ = ["evaluate", "evaluator_of", "plan_of"]


@lru_cache(maxsize=4)
def evaluator_of(key: PlanKey, device: Device) -> Callable[[int], PartialResult]:
    """The compiled evaluator of a plan on a device; raises NoGpu or MethodDoesNotApply."""
    return evaluator(plan_of(key), device)


def evaluate(key: PlanKey, index: int, device: Device = CPU) -> Evaluation:
    """Evaluate a task here and now, and check the result before anyone sees it."""
    compute = evaluator_of(key, device)
    start = time.perf_counter()
    result = compute(index)
    seconds = time.perf_counter() - start
    plan_of(key).expectation(index).check(result)
    where = str(CPU) if device == CPU else f"{device} {device.name}"
    provenance = {"host": platform.node(), "device": where, "kernels": kernel_hash(), **versions()}
    return Evaluation(result, seconds, json.dumps(provenance, sort_keys=True))
