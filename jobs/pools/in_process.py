"""A pool without processes: it evaluates in the thread that asks for results.

For methods that are known in this process only, and for many small workers in one process.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jobs.clock import SYSTEM, Clock
from jobs.pools.evaluation import evaluate
from jobs.pools.pool import PREFETCH, Finished
from langford.devices import Device
from langford.methods import PlanKey, plan_of


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
