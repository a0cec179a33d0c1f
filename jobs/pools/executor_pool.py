"""An executor as a pool of workers: those of concurrent.futures, of dask, of mpi4py, and of submitit.

Of a future only ``done``, ``result`` and ``cancel`` are used, which all of them have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import suppress
from typing import Any, Protocol

from jobs.clock import SYSTEM, Clock
from jobs.pools.evaluation import DeviceLost, evaluate
from jobs.pools.pool import Died, Failed, Finished
from langford.devices import Device
from langford.errors import MachineFailed, named
from langford.methods import PlanKey, plan_of
from langford.result import Evaluation

AT_ONCE = 64
"""Tasks that are submitted at a time to an executor that does not tell how many workers it has."""
MOST_AT_ONCE = 4096
"""Tasks that are submitted at a time at most, however many workers it has."""
MIN_SLEEP, MAX_SLEEP = 1e-3, 0.5
"""Seconds between two looks at the futures; the time doubles."""


class Executor(Protocol):
    """What an executor must have; its futures have done, result and cancel."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


def workers_of(executor: Executor) -> int:
    for name in ("_max_workers", "num_workers"):
        number = getattr(executor, name, None)
        if isinstance(number, int) and number > 0:
            return min(number, MOST_AT_ONCE)
    return AT_ONCE


def evaluated(key: PlanKey, index: int, device: str) -> dict[str, Any]:
    """The evaluation of a task as a document; this runs where the executor has it run."""
    return evaluate(plan_of(key), index, Device.parse(device)).to_document()


class ExecutorPool:
    """Implements :class:`jobs.pools.pool.Pool`."""

    def __init__(self, executor: Executor, key: PlanKey, devices: Sequence[Device], clock: Clock = SYSTEM) -> None:
        """
        Args:
            executor: see :class:`Executor`.
            key: the plan, which each of its workers makes for itself.
            devices: one for each task that is submitted at a time.
            clock: waits.
        """
        self._executor, self._key, self._devices, self._clock = executor, key, devices, clock
        self._futures: dict[int, Any] = {}
        self._indices: dict[int, int] = {}

    @property
    def idle_slots(self) -> int:
        return len(self._devices) - len(self._futures)

    @property
    def idle_workers(self) -> int:
        return self.idle_slots

    @property
    def in_flight(self) -> list[int]:
        return list(self._futures)

    @property
    def computing(self) -> None:
        """An executor does not tell when it begins a task, so none is taken for one that hangs."""

    @property
    def compiles(self) -> bool:
        return False

    def kill(self, token: int, reason: str) -> None:
        """Raises MachineFailed: no executor ends one worker."""
        raise MachineFailed(
            f"a task of an executor cannot be stopped alone ({reason}): shut the executor down, and run again"
        )

    def submit(self, token: int, index: int) -> None:
        """Raises MachineFailed when the executor takes no task; each kind has its own errors for that."""
        try:
            self._futures[token] = self._executor.submit(evaluated, self._key, index, str(self._devices[0]))
        except Exception as error:
            raise _broken(error) from error
        self._indices[token] = index

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """Raises MachineFailed when the executor is broken."""
        deadline = None if timeout is None else self._clock.monotonic() + timeout
        sleep = MIN_SLEEP
        while not (done := self._done()):
            if deadline is not None and self._clock.monotonic() >= deadline:
                return
            self._clock.wait(sleep if deadline is None else min(sleep, deadline - self._clock.monotonic()))
            sleep = min(2 * sleep, MAX_SLEEP)
        for token in done:
            yield _news(token, self._indices.pop(token), self._futures.pop(token))

    def _done(self) -> list[int]:
        try:
            return [token for token, future in self._futures.items() if future.done()]
        except Exception as error:
            raise _broken(error) from error

    def stop(self) -> None:
        """Tasks that have not begun are given up; the executor stays open."""
        for future in self._futures.values():
            with suppress(Exception):
                future.cancel()
        self._futures.clear()


def _news(token: int, index: int, future: Any) -> Finished | Failed | Died:
    try:
        evaluation = Evaluation.from_document(future.result())
        if evaluation.result.index == index:
            return Finished(token, evaluation)
        # The ledger would refuse it, which costs the task no attempt: it would be evaluated for ever.
        return Failed(token, f"the executor returned the result of task {evaluation.result.index} for task {index}")
    except BrokenExecutor as error:
        raise _broken(error) from error
    except (CancelledError, DeviceLost, SystemExit) as error:
        return Died((token,), named(error), None)
    except Exception as error:
        reason = named(error)
        # A job that ended without a result, and a worker that is gone, are no fault of the task.
        lost = type(error).__module__.partition(".")[0] in ("submitit", "distributed")
        return Died((token,), reason, None) if lost else Failed(token, reason)


def _broken(error: Exception) -> MachineFailed:
    reason = named(error)
    return MachineFailed(f"the executor is broken ({reason}): create a new one, and run again to resume")
