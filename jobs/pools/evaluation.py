"""Evaluate one task and note its provenance: every kind of worker does it here."""

from __future__ import annotations

import json
import platform
import time

from langford.devices import CPU, Device
from langford.errors import LangfordError, MachineFailed
from langford.methods import Evaluator, Plan
from langford.provenance import kernel_hash, versions
from langford.result import Evaluation


class DeviceLost(MachineFailed):
    """This process can compute nothing on its device any more: end it, and start another one."""


def evaluator_of(plan: Plan, device: Device) -> Evaluator:
    """Raises DeviceLost where the device itself refuses, for want of memory for example."""
    try:
        return plan.evaluator(device)
    except LangfordError:
        raise
    except Exception as error:
        raise DeviceLost(
            f"{device} cannot load the kernels of {plan.method.name} ({type(error).__name__}: {error}): if its "
            "memory is full, end the other programs that use it"
        ) from error


def evaluate(plan: Plan, index: int, device: Device = CPU) -> Evaluation:
    """Evaluate a task and check the result.

    Raises CheckFailed, TaskIndexOutOfRange, DeviceLost, or what the device raises.
    """
    evaluator = evaluator_of(plan, device)
    began, start = time.time(), time.perf_counter()
    try:
        result = evaluator.evaluate(index)
    except Exception as error:
        if device.is_lost:
            raise DeviceLost(
                f"{device} is lost to this process ({type(error).__name__}: {error}): a new one may use it"
            ) from error
        raise
    seconds = time.perf_counter() - start
    plan.expectation(index).check(result)
    kernels = kernel_hash(plan.method.name)
    provenance = {"host": platform.node(), "device": device.described, "kernels": kernels, **versions()}
    return Evaluation(result, seconds, json.dumps(provenance, sort_keys=True), began)
