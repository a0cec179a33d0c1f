"""A pool of worker processes on this machine, each of which evaluates one task at a time.

Unlike an executor of the standard library, the pool knows which tasks a dead worker held, and replaces the
worker.  A worker whose parent dies stops at once.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Protocol

from jobs.evaluation import DeviceLost, evaluate
from jobs.heartbeat import Heartbeat
from langford import process
from langford.devices import Device
from langford.methods import PlanKey, plan_of
from langford.result import Evaluation

_CONTEXT = multiprocessing.get_context("spawn")
PREFETCH = 2
"""Tasks that a worker holds at most: while it evaluates one, the next one already waits for it."""


@dataclass(frozen=True)
class Finished:
    """A worker evaluated a task.

    Attributes:
        token: of the task, as it was submitted.
        evaluation: its result with time and provenance.
    """

    token: int
    evaluation: Evaluation


@dataclass(frozen=True)
class Failed:
    """A task raised an error.

    Attributes:
        token: of the task, as it was submitted.
        reason: the error, in words.
    """

    token: int
    reason: str


@dataclass(frozen=True)
class Lost:
    """A worker cannot compute any more, and ends: news for the pool alone.

    Attributes:
        reason: the error, in words.
    """

    reason: str


@dataclass(frozen=True)
class Died:
    """A worker process died.

    Attributes:
        tokens: of the tasks that it held.
        reason: how it died, in words.
        evaluated: token of the task that it evaluated; None: none.
    """

    tokens: tuple[int, ...]
    reason: str
    evaluated: int | None


class Pool(Protocol):
    """Workers that evaluate tasks of one plan."""

    @property
    def idle_slots(self) -> int:
        """How many more tasks the workers can take now."""
        ...

    @property
    def idle_workers(self) -> int:
        """How many workers have nothing to do."""
        ...

    @property
    def in_flight(self) -> list[int]:
        """Tokens of all submitted tasks whose outcome is not known yet."""
        ...

    @property
    def computing(self) -> dict[int, int | None]:
        """By token the steps that the evaluation of each task has made; None where its worker has not begun it."""
        ...

    @property
    def compiles(self) -> bool:
        """Whether a worker compiles kernels now, before its first task."""
        ...

    def kill(self, token: int, reason: str) -> None:
        """End the worker that evaluates a task, or should; :meth:`poll` reports that it died of this reason.

        Raises MachineFailed where one worker cannot be ended alone.
        """
        ...

    def submit(self, token: int, index: int) -> None:
        """Give a task to the least busy worker; call it only when there are idle slots.

        Args:
            token: the caller's number for the task, unique among the tasks in flight.
            index: of the task in the plan.
        """
        ...

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """All news of the workers, after a wait of up to ``timeout`` seconds for the first; None: no limit."""
        ...

    def stop(self) -> None:
        """End the workers."""
        ...


@dataclass
class _Member:
    """A worker process.

    Attributes:
        device: where it computes.
        process: the process itself.
        pipe: this end of the connection to it.
        heartbeat: what it shows of its computing.
        tokens: of the tasks that it holds, oldest first.
        condemned: why it was killed by its pool, or ended by itself; None: neither.
    """

    device: Device
    process: BaseProcess
    pipe: Connection
    heartbeat: Heartbeat
    tokens: deque[int] = field(default_factory=deque)
    condemned: str | None = None


class WorkerPool:
    """Worker processes that evaluate tasks of one plan, one process for each of ``devices``."""

    def __init__(self, key: PlanKey, devices: Sequence[Device]) -> None:
        self._key = key
        self._members = [self._start(device) for device in devices]

    def _start(self, device: Device) -> _Member:
        ours, theirs = _CONTEXT.Pipe()
        heartbeat = Heartbeat(_CONTEXT)
        process = _CONTEXT.Process(target=_serve, args=(theirs, self._key, device, heartbeat), daemon=True)
        process.start()
        theirs.close()
        return _Member(device, process, ours, heartbeat)

    @property
    def idle_slots(self) -> int:
        """How many more tasks the workers can take now."""
        return sum(PREFETCH - len(member.tokens) for member in self._members)

    @property
    def idle_workers(self) -> int:
        """How many workers have nothing to do."""
        return sum(not member.tokens for member in self._members)

    @property
    def computing(self) -> dict[int, int | None]:
        """By token the steps of the evaluation of each task, see :meth:`Pool.computing`."""
        steps: dict[int, int | None] = {}
        for member in self._members:
            if member.tokens:
                token = member.heartbeat.token
                if token is not None and token in member.tokens:
                    steps[token] = member.heartbeat.steps
                else:
                    steps[member.tokens[0]] = None
        return steps

    @property
    def compiles(self) -> bool:
        """Whether a worker compiles kernels now."""
        return any(member.heartbeat.compiles for member in self._members)

    def kill(self, token: int, reason: str) -> None:
        """End the worker that evaluates a task, see :meth:`Pool.kill`."""
        for member in self._members:
            if token in member.tokens:
                member.condemned = reason
                member.process.kill()

    @property
    def in_flight(self) -> list[int]:
        """Tokens of all submitted tasks whose outcome is not known yet."""
        return [token for member in self._members for token in member.tokens]

    def submit(self, token: int, index: int) -> None:
        """Give a task to the least busy worker, see :meth:`Pool.submit`."""
        member = min(self._members, key=lambda member: len(member.tokens))
        member.tokens.append(token)
        # When the worker has just died, the next poll reports the token.
        with suppress(OSError):
            member.pipe.send((token, index))

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """All news of the workers, see :meth:`Pool.poll`; a worker that died is replaced."""
        ready = wait([member.pipe for member in self._members], timeout)
        for position, member in enumerate(self._members):
            if member.pipe not in ready:
                continue
            try:
                while member.pipe.poll():
                    message: Finished | Failed | Lost = member.pipe.recv()
                    if isinstance(message, Lost):
                        member.condemned = message.reason
                        continue
                    member.tokens.remove(message.token)
                    yield message
            except (EOFError, OSError):
                member.process.join()
                self._members[position] = self._start(member.device)
                evaluated = member.heartbeat.token if member.heartbeat.token in member.tokens else None
                if member.process.exitcode == -signal.SIGTERM:
                    evaluated = None  # somebody wanted it to end, as a scheduler does: the task is not to blame
                yield Died(tuple(member.tokens), member.condemned or _death(member.process.exitcode), evaluated)

    def stop(self) -> None:
        """End all workers now, even in the middle of a task."""
        for member in self._members:
            member.process.kill()
        for member in self._members:
            member.process.join()
            member.pipe.close()


def _death(exit_code: int | None) -> str:
    """How a process ended, in words."""
    if exit_code is not None and exit_code < 0:
        return f"worker process killed by {signal.Signals(-exit_code).name}"
    return f"worker process ended with exit code {exit_code}"


def _serve(pipe: Connection, key: PlanKey, device: Device, heartbeat: Heartbeat) -> None:
    """The program of a worker process: evaluate tasks until the pipe closes."""
    # The terminal sends its signals to the whole process group; the parent alone decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    heartbeat.start()
    process.claim()
    plan = plan_of(key)
    plan.evaluator(device)
    while True:
        try:
            token, index = pipe.recv()
        except EOFError:
            return
        reply: Finished | Failed
        heartbeat.begin(token)
        try:
            reply = Finished(token, evaluate(plan, index, device))
        except DeviceLost as error:
            # Every further task would fail at once, and be blamed for it.
            with suppress(OSError):
                pipe.send(Lost(str(error)))
            os._exit(1)  # nothing of the device can be given back any more
        except Exception as error:
            reply = Failed(token, f"{type(error).__name__}: {error}")
        heartbeat.end()
        try:
            pipe.send(reply)
        except OSError:
            return


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
