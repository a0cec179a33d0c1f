"""Evaluate one task with its provenance; what every kind of worker calls."""

from __future__ import annotations

import json
import platform
import time

from langford.devices import CPU, Device
from langford.methods import Plan
from langford.provenance import kernel_hash, versions
from langford.result import Evaluation


def evaluate(plan: Plan, index: int, device: Device = CPU) -> Evaluation:
    """Evaluate a task here and now, and check the result before anyone sees it; raises CheckFailed."""
    evaluator = plan.evaluator(device)
    start = time.perf_counter()
    result = evaluator.evaluate(index)
    seconds = time.perf_counter() - start
    plan.expectation(index).check(result)
    where = str(CPU) if device == CPU else f"{device} {device.name}"
    provenance = {"host": platform.node(), "device": where, "kernels": kernel_hash(), **versions()}
    return Evaluation(result, seconds, json.dumps(provenance, sort_keys=True))
