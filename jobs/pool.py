"""A pool of worker processes on this machine, one task at a time each.

Unlike an executor of the standard library, the pool knows which task a dead worker held
and goes on with a fresh one.  A worker whose parent dies stops at once.
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

from jobs.evaluation import evaluate
from langford.devices import Device
from langford.methods import PlanKey, plan_of
from langford.result import Evaluation

_CONTEXT = multiprocessing.get_context("spawn")
PREFETCH = 2
"""Tasks handed to a worker at once, so that it never waits for the parent."""


@dataclass(frozen=True)
class Finished:
    """A worker evaluated the task with this token."""

    token: int
    evaluation: Evaluation


@dataclass(frozen=True)
class Failed:
    """The task with this token raised an error."""

    token: int
    reason: str


@dataclass(frozen=True)
class Died:
    """A worker died with these tasks; the first one may have been running."""

    tokens: tuple[int, ...]
    reason: str


class Pool(Protocol):
    """Workers that evaluate tasks of one plan."""

    @property
    def idle_slots(self) -> int:
        """How many more tasks the workers can take now."""
        ...

    @property
    def in_flight(self) -> list[int]:
        """Tokens of all tasks handed out."""
        ...

    def submit(self, token: int, index: int) -> None:
        """Hand a task to the least busy worker; call only with idle slots."""
        ...

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """Everything that happened, waiting up to ``timeout`` seconds for the first."""
        ...

    def stop(self) -> None:
        """End the workers."""
        ...


@dataclass
class _Member:
    device: Device
    process: BaseProcess
    pipe: Connection
    tokens: deque[int] = field(default_factory=deque)


class WorkerPool:
    """One process per device of ``devices``, evaluating tasks of one plan."""

    def __init__(self, key: PlanKey, devices: Sequence[Device]) -> None:
        self._key = key
        self._members = [self._start(device) for device in devices]

    def _start(self, device: Device) -> _Member:
        ours, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_serve, args=(theirs, self._key, device), daemon=True)
        process.start()
        theirs.close()
        return _Member(device, process, ours)

    @property
    def idle_slots(self) -> int:
        """How many more tasks the workers can take now."""
        return sum(PREFETCH - len(member.tokens) for member in self._members)

    @property
    def in_flight(self) -> list[int]:
        """Tokens of all tasks handed out."""
        return [token for member in self._members for token in member.tokens]

    def submit(self, token: int, index: int) -> None:
        """Hand a task to the least busy worker; call only with idle slots."""
        member = min(self._members, key=lambda member: len(member.tokens))
        member.tokens.append(token)
        # When the worker has just died, the next poll reports the token.
        with suppress(OSError):
            member.pipe.send((token, index))

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """Everything that happened, waiting up to ``timeout`` seconds for the first."""
        ready = wait([member.pipe for member in self._members], timeout)
        for place, member in enumerate(self._members):
            if member.pipe not in ready:
                continue
            try:
                while member.pipe.poll():
                    message: Finished | Failed = member.pipe.recv()
                    member.tokens.remove(message.token)
                    yield message
            except (EOFError, OSError):
                member.process.join()
                lost = tuple(member.tokens)
                self._members[place] = self._start(member.device)
                yield Died(lost, _death(member.process.exitcode))

    def stop(self) -> None:
        """End all workers now, whatever they are doing."""
        for member in self._members:
            member.process.kill()
        for member in self._members:
            member.process.join()
            member.pipe.close()


def _death(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"worker process killed by {signal.Signals(-exit_code).name}"
    return f"worker process ended with exit code {exit_code}"


def _serve(pipe: Connection, key: PlanKey, device: Device) -> None:
    """The worker process: evaluate what comes until the pipe closes."""
    # The terminal sends its signals to the whole group; the parent decides what they mean.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    plan = plan_of(key)
    plan.evaluator(device)
    while True:
        try:
            token, index = pipe.recv()
        except EOFError:
            return
        reply: Finished | Failed
        try:
            reply = Finished(token, evaluate(plan, index, device))
        except Exception as error:
            reply = Failed(token, f"{type(error).__name__}: {error}")
        try:
            pipe.send(reply)
        except OSError:
            return


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
