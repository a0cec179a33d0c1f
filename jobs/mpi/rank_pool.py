"""The other ranks as a pool of workers for rank 0, and the program of these ranks.

mpi4py is an optional dependency: the functions that need it import it.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.clock import SYSTEM
from jobs.pools.evaluation import DeviceLost, evaluate, evaluator_of
from jobs.pools.pool import PREFETCH, Died, Failed, Finished
from langford.devices import Device
from langford.errors import MachineFailed, named
from langford.methods import Plan, PlanKey, plan_of

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

TASK, REPLY = 1, 2
"""Tags of messages: (token, index) of a task for a rank, or None, which ends it; and the rank's reply."""
MIN_SLEEP, MAX_SLEEP = 1e-5, 2e-3
"""Seconds between two looks for a message; the time doubles."""


def waiting(communicator: Intracomm, tag: int, timeout: float | None) -> Iterator[int]:
    """Yield the rank of each waiting message; the caller receives the message before it asks for the next rank.

    Args:
        communicator: of all ranks.
        tag: of the messages.
        timeout: seconds to wait for the first one; None: no limit.
    """
    from mpi4py import MPI

    status = MPI.Status()
    deadline = None if timeout is None else SYSTEM.monotonic() + timeout
    sleep = MIN_SLEEP
    while not communicator.Iprobe(source=MPI.ANY_SOURCE, tag=tag, status=status):
        if deadline is not None and SYSTEM.monotonic() > deadline:
            return
        SYSTEM.wait(sleep)
        sleep = min(2 * sleep, MAX_SLEEP)
    yield status.Get_source()
    while communicator.Iprobe(source=MPI.ANY_SOURCE, tag=tag, status=status):
        yield status.Get_source()


@dataclass(frozen=True)
class LostDevice:
    """A rank's reply: it cannot evaluate anything any more; ``begun``: whether it had begun the task."""

    token: int
    reason: str
    begun: bool


class RankPool:
    """The ranks other than 0 as a :class:`jobs.pools.pool.Pool`; each of them runs :func:`serve`."""

    def __init__(self, communicator: Intracomm) -> None:
        self._communicator = communicator
        self._tokens: dict[int, deque[int]] = {rank: deque() for rank in range(1, communicator.size)}
        self._stopped = False
        self._lost: str | None = None

    @property
    def idle_slots(self) -> int:
        return sum(PREFETCH - len(tokens) for tokens in self._tokens.values())

    @property
    def idle_workers(self) -> int:
        return sum(not tokens for tokens in self._tokens.values())

    @property
    def computing(self) -> dict[int, int | None]:
        """The oldest task of each rank; ranks do not report their steps."""
        return {tokens[0]: 0 for tokens in self._tokens.values() if tokens}

    @property
    def compiles(self) -> bool:
        """Never: ranks do not report it."""
        return False

    def kill(self, token: int, reason: str) -> None:
        """Raises MachineFailed: MPI has no way to end one rank alone."""
        for rank, tokens in self._tokens.items():
            if token in tokens:
                raise MachineFailed(f"rank {rank}: {reason}; run the same command again to resume")

    @property
    def in_flight(self) -> list[int]:
        return [token for tokens in self._tokens.values() for token in tokens]

    def submit(self, token: int, index: int) -> None:
        rank = min(self._tokens, key=lambda rank: len(self._tokens[rank]))
        self._tokens[rank].append(token)
        self._communicator.send((token, index), dest=rank, tag=TASK)

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """Raises DeviceLost after the news that a rank has lost its device: MPI cannot start another one."""
        if self._lost:
            raise DeviceLost(f"{self._lost}; run the same command again to resume")
        for rank in waiting(self._communicator, REPLY, timeout):
            news: Finished | Failed | LostDevice = self._communicator.recv(source=rank, tag=REPLY)
            if isinstance(news, LostDevice):
                self._lost = f"rank {rank}: {news.reason}"
                held, self._tokens[rank] = tuple(self._tokens[rank]), deque()
                yield Died(held, self._lost, news.token if news.begun else None)
                continue
            self._tokens[rank].remove(news.token)
            yield news

    def stop(self) -> None:
        """After the tasks that they hold; a second call does nothing."""
        ranks = [] if self._stopped else self._tokens
        self._stopped = True
        for rank in ranks:
            self._communicator.send(None, dest=rank, tag=TASK)


def serve(communicator: Intracomm, key: PlanKey, device: Device) -> None:
    """The program of a rank other than 0: evaluate tasks until rank 0 says stop.

    Signals are ignored, because the launcher passes them to all ranks: rank 0 alone decides what to do.
    A rank whose device or program has failed evaluates nothing more: rank 0 takes back all tasks that it holds.

    Args:
        communicator: of all ranks.
        key: the plan, the same at all ranks.
        device: of this rank.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    plan = plan_of(key)
    refusal, is_lost = _refusal(plan, device), False
    while True:
        for _ in waiting(communicator, TASK, None):
            break
        task: tuple[int, int] | None = communicator.recv(source=0, tag=TASK)
        if task is None:
            return
        if is_lost:
            continue
        token, index = task
        news: Finished | Failed | LostDevice
        try:
            if refusal is not None:
                raise refusal
            news = Finished(token, evaluate(plan, index, device))
        except MachineFailed as error:
            news, is_lost = LostDevice(token, str(error), refusal is None), True
        except Exception as error:
            news = Failed(token, named(error))
        communicator.send(news, dest=0, tag=REPLY)


def _refusal(plan: Plan, device: Device) -> DeviceLost | None:
    """None: the device can evaluate the plan."""
    try:
        evaluator_of(plan, device)
    except DeviceLost as error:
        return error
    return None
