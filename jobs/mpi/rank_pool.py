"""The other ranks as a pool of workers for rank 0, the program of these ranks, and the messages between them.

Messages are JSON in bytes, of any length.  mpi4py is an optional dependency: the functions that need it import it.
"""

from __future__ import annotations

import json
import signal
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from jobs.clock import SYSTEM
from jobs.pools.evaluation import DeviceLost, evaluate, evaluator_of
from jobs.pools.pool import PREFETCH, Died, Failed, Finished
from langford.devices import Device
from langford.errors import MachineFailed, named
from langford.methods import Plan, PlanKey, plan_of
from langford.result import Evaluation

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

TASK, REPLY = 1, 2
"""Tags of messages: a task for a rank, and the rank's reply."""
STOP = -1
"""The token of the message that ends a rank."""
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


def receive(communicator: Intracomm, source: int, tag: int) -> bytes:
    from mpi4py import MPI

    status = MPI.Status()
    communicator.Probe(source=source, tag=tag, status=status)
    content = bytearray(status.Get_count(MPI.BYTE))
    communicator.Recv([content, MPI.BYTE], source=source, tag=tag)
    return bytes(content)


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
        self._communicator.Send(np.array([token, index], np.int64), dest=rank, tag=TASK)

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """Raises DeviceLost after the news that a rank has lost its device: MPI cannot start another one."""
        if self._lost:
            raise DeviceLost(f"{self._lost}; run the same command again to resume")
        for rank in waiting(self._communicator, REPLY, timeout):
            document = json.loads(receive(self._communicator, rank, REPLY))
            token = document["token"]
            if "lost" in document:
                self._lost = f"rank {rank}: {document['lost']}"
                held, self._tokens[rank] = tuple(self._tokens[rank]), deque()
                yield Died(held, self._lost, token if document["begun"] else None)
                continue
            self._tokens[rank].remove(token)
            if "reason" in document:
                yield Failed(token, document["reason"])
            else:
                yield Finished(token, Evaluation.from_document(document["evaluation"]))

    def stop(self) -> None:
        """After the tasks that they hold; a second call does nothing."""
        ranks = [] if self._stopped else self._tokens
        self._stopped = True
        for rank in ranks:
            self._communicator.Send(np.array([STOP, 0], np.int64), dest=rank, tag=TASK)


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
    refusal = _refusal(plan, device)
    task, is_lost = np.zeros(2, np.int64), False
    while True:
        for _ in waiting(communicator, TASK, None):
            break
        communicator.Recv(task, source=0, tag=TASK)
        token, index = map(int, task)
        if token == STOP:
            return
        if is_lost:
            continue
        document: dict[str, object] = {"token": token, "begun": refusal is None}
        try:
            if refusal is not None:
                raise refusal
            document["evaluation"] = evaluate(plan, index, device).to_document()
        except MachineFailed as error:
            document["lost"], is_lost = str(error), True
        except Exception as error:
            document["reason"] = named(error)
        communicator.Send(json.dumps(document).encode(), dest=0, tag=REPLY)


def _refusal(plan: Plan, device: Device) -> DeviceLost | None:
    """None: the device can evaluate the plan."""
    try:
        evaluator_of(plan, device)
    except DeviceLost as error:
        return error
    return None
