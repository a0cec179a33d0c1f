"""Worker processes that many runs use, one after the other: a GPU is ready at once for all but the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from jobs.pools.pool import Pool
from jobs.pools.process_pool import WorkerPool
from langford.devices import Device
from langford.methods import PlanKey


class KeptWorkers:
    """Makes the pools of runs, as a context: the workers that are kept end with it.

    A process needs a second or two before it computes on a GPU, which is longer than a small campaign takes.  On
    cores each run has workers of its own: forks of a process that has loaded the kernels start in no time.
    """

    def __init__(self) -> None:
        self._kept: _KeptPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def pool(self, key: PlanKey, devices: Sequence[Device]) -> Pool:
        """Workers for the tasks of a plan: those of the run before, if they fit.

        Args:
            key: the plan.
            devices: one for each worker.

        Raises InstallationChanged.
        """
        if any(device.outlives_fork for device in devices):
            return WorkerPool(key, devices)
        if self._kept is not None and not self._kept.ended and self._kept.devices == tuple(devices):
            self._kept.turn_to(key)
        else:
            self._end()
            self._kept = _KeptPool(key, devices)
        return self._kept

    def _end(self) -> None:
        if self._kept is not None:
            self._kept.end()
            self._kept = None


class _KeptPool(WorkerPool):
    """A pool that continues when a run stops it, unless a task is in flight."""

    ended = False

    def stop(self) -> None:
        if self.in_flight:
            self.end()

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            super().stop()
