"""Evaluate one task and note its provenance, as every kind of worker does; and a pool without processes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from jobs.clock import SYSTEM, Clock
from jobs.pools.pool import PREFETCH, Finished
from langford.devices import CPU, Device
from langford.errors import LangfordError, MachineFailed, named
from langford.methods import Evaluator, Plan, PlanKey, method_hash, plan_of
from langford.provenance import written
from langford.result import Evaluation


class DeviceLost(MachineFailed):
    """This process can compute nothing on its device any more: end it, and start another one."""


def evaluator_of(plan: Plan, device: Device) -> Evaluator:
    """The evaluator of a plan, compiled and ready.

    Raises DeviceLost where the device itself refuses, for example for lack of memory.

    Args:
        plan: whose tasks it evaluates.
        device: where.
    """
    try:
        return plan.evaluator(device)
    except LangfordError:
        raise
    except Exception as error:
        raise DeviceLost(
            f"{device} cannot load the kernels of {plan.method.name} ({named(error)}): if its "
            "memory is full, end the other programs that use it"
        ) from error


def evaluate(plan: Plan, index: int, device: Device = CPU) -> Evaluation:
    """Evaluate a task and check the result.

    Args:
        plan: of the task.
        index: of the task.
        device: where; its evaluator is made by the first call.

    Raises CheckFailed, TaskIndexOutOfRange, DeviceLost, or what the device raises.
    """
    evaluator = evaluator_of(plan, device)
    began, start = time.time(), time.perf_counter()
    try:
        result = evaluator.evaluate(index)
    except MemoryError as error:
        # Every task would fail at once, and be set aside for it.
        raise DeviceLost(
            f"{device} has no memory left for a task ({named(error)}): use fewer --workers, or "
            "end the other programs that use it"
        ) from error
    except Exception as error:
        if device.is_lost:
            raise DeviceLost(f"{device} is lost to this process ({named(error)}): a new one may use it") from error
        raise
    seconds = time.perf_counter() - start
    plan.expectation(index).check(result)
    return Evaluation(result, seconds, written(method_hash(plan.method.name), device.described), began)


class InProcessPool:
    """Implements :class:`jobs.pools.pool.Pool`: evaluates what was submitted when it is polled."""

    def __init__(self, key: PlanKey, devices: Sequence[Device], clock: Clock = SYSTEM) -> None:
        self._plan, self._device, self._clock = plan_of(key), devices[0], clock
        self._waiting: dict[int, int] = {}

    @property
    def idle_slots(self) -> int:
        return PREFETCH - len(self._waiting)

    @property
    def idle_workers(self) -> int:
        return int(not self._waiting)

    @property
    def computing(self) -> dict[int, int | None]:
        return {}

    @property
    def compiles(self) -> bool:
        return False

    @property
    def in_flight(self) -> list[int]:
        return list(self._waiting)

    def submit(self, token: int, index: int) -> None:
        self._waiting[token] = index

    def poll(self, timeout: float | None) -> Iterator[Finished]:
        """Evaluate everything; without a task, wait for ``timeout`` seconds."""
        if not self._waiting:
            self._clock.wait(timeout or 0.0)
        while self._waiting:
            token, index = self._waiting.popitem()
            yield Finished(token, evaluate(self._plan, index, self._device))

    def kill(self, token: int, reason: str) -> None:
        """Never called: nothing is computed between two calls."""

    def stop(self) -> None: ...
