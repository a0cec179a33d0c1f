"""A pool of worker processes on this machine, each of which evaluates one task at a time.

Unlike an executor of the standard library, the pool knows which tasks a dead worker held, and replaces the
worker.  The workers are forks of one process that has made the plan and loaded the kernels.  They end when the
process of the pool does.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection, wait

from jobs.pools.evaluation import evaluate, evaluator_of
from jobs.pools.fork_server import ForkServer
from jobs.pools.heartbeat import Heartbeat
from jobs.pools.pool import PREFETCH, Died, Failed, Finished
from langford.devices import Device
from langford.errors import MachineFailed, named
from langford.kernels.cache import kept_in
from langford.machine import process
from langford.methods import Plan, PlanKey, method_hash, plan_of, require_elsewhere
from langford.provenance import kernel_hash, require_unchanged


@dataclass(frozen=True)
class LostWorker:
    """A worker cannot compute any more, and ends: news for the pool alone."""

    reason: str


@dataclass
class _Member:
    heartbeat: Heartbeat
    tokens: deque[int] = field(default_factory=deque)  # of the tasks that it holds, oldest first
    condemned: str | None = None  # why it was killed by its pool, or ended by itself; None: neither


class WorkerPool:
    """Worker processes that evaluate tasks of one plan, one process for each of ``devices``."""

    def __init__(self, key: PlanKey, devices: Sequence[Device]) -> None:
        """
        Args:
            key: the plan; its processes make it for themselves.
            devices: one for each process.

        Raises MethodDoesNotApply, for a method that only this process knows, or InstallationChanged.
        """
        require_elsewhere(key.method)
        self._key, self._devices = key, tuple(devices)
        self._loading = Heartbeat()
        self._members = [_Member(Heartbeat()) for _ in devices]
        self._server = self._begin()

    def _begin(self) -> ForkServer:
        for heartbeat in (self._loading, *(member.heartbeat for member in self._members)):
            heartbeat.clear()
        # This process chooses the folder for code, and deletes a new one: those that it starts are killed.
        kept_in("")
        kernels = kernel_hash()
        require_unchanged(kernels)
        return ForkServer(
            partial(_load, self._key, self._devices, self._loading, kernels),
            partial(_serve, self._key, self._devices, [member.heartbeat for member in self._members], kernels),
            len(self._devices),
        )

    @property
    def idle_slots(self) -> int:
        return sum(PREFETCH - len(member.tokens) for member in self._members)

    @property
    def idle_workers(self) -> int:
        return sum(not member.tokens for member in self._members)

    @property
    def computing(self) -> dict[int, int | None]:
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
        return self._loading.compiles or any(member.heartbeat.compiles for member in self._members)

    def kill(self, token: int, reason: str) -> None:
        for number, member in enumerate(self._members):
            if token in member.tokens:
                member.condemned = reason
                self._server.kill(number)

    @property
    def in_flight(self) -> list[int]:
        return [token for member in self._members for token in member.tokens]

    def submit(self, token: int, index: int) -> None:
        number = min(range(len(self._members)), key=lambda number: len(self._members[number].tokens))
        member, pipe = self._members[number], self._server.pipes[number]
        member.tokens.append(token)
        # When the worker has just died, the next poll reports the token.
        with suppress(OSError):
            pipe.send((token, index))

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """As :meth:`Pool.poll`; a worker that died is replaced."""
        ready = wait(self._server.pipes, timeout)
        for number in [number for number, pipe in enumerate(self._server.pipes) if pipe in ready]:
            if (yield from self._news(number)):
                try:
                    code = self._server.exit_code(number)
                except EOFError:
                    yield from self._all_anew()
                    return
                yield self._replaced(number, code)

    def _news(self, number: int) -> Generator[Finished | Failed, None, bool]:
        """Returns whether the worker has ended."""
        member, pipe = self._members[number], self._server.pipes[number]
        try:
            while pipe.poll():
                message: Finished | Failed | LostWorker = pipe.recv()
                if isinstance(message, LostWorker):
                    member.condemned = message.reason
                    continue
                member.tokens.remove(message.token)
                yield message
        except (EOFError, OSError):
            return True
        return False

    def _last_news(self) -> Iterator[Finished | Failed]:
        for number, pipe in enumerate(self._server.pipes):
            while not (yield from self._news(number)):
                wait([pipe])

    def _replaced(self, number: int, exit_code: int) -> Died:
        member = self._members[number]
        evaluated = member.heartbeat.token if member.heartbeat.token in member.tokens else None
        if exit_code == -signal.SIGTERM:
            evaluated = None  # ended on request, for example by a scheduler: the task is not to blame
        died = Died(tuple(member.tokens), member.condemned or _death("worker process", exit_code), evaluated)
        member.heartbeat.clear()
        self._members[number] = _Member(member.heartbeat)
        self._server.restart(number)
        return died

    def _all_anew(self) -> Iterator[Finished | Failed | Died]:
        """Start all workers again after the server has ended, and they with it: no task is to blame."""
        reason = _death("the process that starts workers", self._server.stop())
        yield from self._last_news()
        tokens = tuple(self.in_flight)
        self._members = [_Member(member.heartbeat) for member in self._members]
        self._server = self._begin()
        yield Died(tokens, reason, None)

    def stop(self) -> None:
        """End all workers now, even in the middle of a task; returns when they have ended."""
        self._server.stop()
        for _ in self._last_news():
            pass


def _death(what: str, exit_code: int | None) -> str:
    if exit_code is None:
        return f"{what} ended"
    if exit_code < 0:
        return f"{what} killed by {signal.Signals(-exit_code).name}"
    return f"{what} ended with exit code {exit_code}"


def _load(key: PlanKey, devices: Sequence[Device], heartbeat: Heartbeat, kernels: str) -> Plan | None:
    """The plan of all workers; None where kernels do not outlive a fork, and each worker loads its own."""
    process.claim()
    heartbeat.start()
    plan = None
    if all(device.outlives_fork for device in devices):
        plan = plan_of(key)
        for device in set(devices):
            plan.evaluator(device)
    method_hash(key.method)  # read here, once for the results of all workers
    require_unchanged(kernels)
    return plan


def _serve(
    key: PlanKey,
    devices: Sequence[Device],
    heartbeats: Sequence[Heartbeat],
    kernels: str,
    plan: Plan | None,
    number: int,
    pipe: Connection,
) -> None:
    """The program of a worker process: evaluate tasks until the pipe closes."""
    device, heartbeat = devices[number], heartbeats[number]
    heartbeat.start()
    try:
        while True:
            try:
                token, index = pipe.recv()
            except (EOFError, OSError):  # the latter where the other end closed before it had read all news
                return
            # With its first task, which is then known to be lost if the device refuses.
            plan = plan or _ready(key, device, kernels)
            news = _news_of(plan, token, index, device, heartbeat)
            try:
                pipe.send(news)
            except OSError:
                return
    except MachineFailed as error:
        # Every further task would fail at once, and be blamed for it.
        with suppress(OSError):
            pipe.send(LostWorker(str(error)))
        os._exit(1)  # nothing of a lost device can be given back any more


def _ready(key: PlanKey, device: Device, kernels: str) -> Plan:
    """Raises DeviceLost or InstallationChanged."""
    plan = plan_of(key)
    evaluator_of(plan, device)
    method_hash(key.method)
    require_unchanged(kernels)
    return plan


def _news_of(plan: Plan, token: int, index: int, device: Device, heartbeat: Heartbeat) -> Finished | Failed:
    """Raises MachineFailed."""
    news: Finished | Failed
    heartbeat.begin(token)
    try:
        news = Finished(token, evaluate(plan, index, device))
    except MachineFailed:
        raise  # the heartbeat still names the task
    except Exception as error:
        news = Failed(token, named(error))
    heartbeat.end()
    return news
