"""Counting with MPI: every rank a worker (static), or rank 0 with the ledger and the others its workers.

Messages are JSON; a rank that waits sleeps, it does not spin.  MPI ends all ranks when one dies: then
the ledger has what was committed, and the next run goes on from there.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from jobs.evaluation import evaluate
from jobs.pool import PREFETCH, Died, Failed, Finished
from langford.devices import CPU, Device, devices
from langford.errors import LangfordError
from langford.methods import Count, PlanKey, merge, plan_of
from langford.result import Evaluation, PartialResult

TASK, REPLY = 1, 2
STOP = -1
SHORTEST_SLEEP, LONGEST_SLEEP = 1e-5, 2e-3


class NoMpi(LangfordError):
    """mpi4py or an MPI library is missing."""


class SeparateWorlds(LangfordError):
    """Several processes were started, but each is an MPI world of its own."""


def world() -> Any:
    """MPI's world of this program; raises NoMpi or SeparateWorlds."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise NoMpi(f"MPI runs need mpi4py and an MPI library ({error}): pip install 'langford[mpi]'") from error
    started = int(os.environ.get("SLURM_NTASKS", "1"))
    if MPI.COMM_WORLD.size == 1 and started > 1:
        raise SeparateWorlds(
            f"SLURM started {started} tasks, but each is alone in its MPI world: srun and this MPI library do not "
            "talk; start with `mpirun`, or with `srun --mpi=pmi2` (see `srun --mpi=list`)"
        )
    return MPI.COMM_WORLD


def device_of(communicator: Any, kind: str, first_computes: bool) -> Device:
    """The device of this rank: a core, or the GPU of its turn among the ranks of its host that compute."""
    from mpi4py import MPI

    here = communicator.Split_type(MPI.COMM_TYPE_SHARED)
    ranks = here.allgather(communicator.rank)
    here.Free()
    if kind == CPU.kind:
        return CPU
    computing = [rank for rank in ranks if first_computes or rank]
    found = devices(kind, 1)
    turn = computing.index(communicator.rank) if communicator.rank in computing else 0
    return found[turn % len(found)]


# -- static ---------------------------------------------------------------------------------


def share(key: PlanKey, rank: int, size: int) -> list[int]:
    """The tasks of a rank: every size-th, by falling work, dealt out to and fro."""
    order = np.argsort(-plan_of(key).work, kind="stable")
    rounds = [order[start : start + size] for start in range(0, len(order), size)]
    dealt = [part if number % 2 == 0 else _turned(part, size) for number, part in enumerate(rounds)]
    return [int(part[rank]) for part in dealt if rank < len(part) and part[rank] >= 0]


def _turned(part: Any, size: int) -> Any:
    padded = np.full(size, -1)
    padded[size - len(part) :] = part[::-1]
    return padded


def count_static(
    communicator: Any,
    key: PlanKey,
    device: Device,
    tell: Callable[[float, float], None] = lambda done, seconds: None,
) -> tuple[Count, float] | None:
    """Each rank evaluates its share; rank 0 gets the count and the seconds, the others None.

    ``tell(work done, seconds)`` is called after every task of the rank.
    """
    plan = plan_of(key)
    plan.evaluator(device)
    communicator.Barrier()
    start = time.perf_counter()
    done, own = 0.0, []
    for index in share(key, communicator.rank, communicator.size):
        own.append(evaluate(plan, index, device).result)
        done += float(plan.work[index])
        tell(done, time.perf_counter() - start)
    gathered = _gather(communicator, json.dumps([_result_document(each) for each in own]).encode())
    if gathered is None:
        return None
    results = [_result_of(each) for part in gathered for each in json.loads(part)]
    return merge(plan, results), time.perf_counter() - start


def _gather(communicator: Any, own: bytes) -> list[bytes] | None:
    """The bytes of every rank, at rank 0."""
    sizes = np.zeros(communicator.size, np.int64)
    communicator.Gather(np.array([len(own)], np.int64), sizes, root=0)
    everything = bytearray(int(sizes.sum()))
    from mpi4py import MPI

    communicator.Gatherv([own, MPI.BYTE], [everything, sizes, MPI.BYTE], root=0)
    if communicator.rank:
        return None
    ends = np.cumsum(sizes)
    return [bytes(everything[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


# -- dynamic --------------------------------------------------------------------------------


class RankPool:
    """The other ranks as a pool of workers; the interface of jobs.pool.WorkerPool, for rank 0."""

    def __init__(self, communicator: Any) -> None:
        self._communicator = communicator
        self._tokens: dict[int, set[int]] = {rank: set() for rank in range(1, communicator.size)}
        self._stopped = False

    @property
    def idle_slots(self) -> int:
        """How many more tasks the ranks can take now."""
        return sum(PREFETCH - len(tokens) for tokens in self._tokens.values())

    @property
    def in_flight(self) -> list[int]:
        """Tokens of all tasks handed out."""
        return [token for tokens in self._tokens.values() for token in tokens]

    def submit(self, token: int, index: int) -> None:
        """Hand a task to the least busy rank; call only with idle slots."""
        rank = min(self._tokens, key=lambda rank: len(self._tokens[rank]))
        self._tokens[rank].add(token)
        self._communicator.Send(np.array([token, index], np.int64), dest=rank, tag=TASK)

    def poll(self, timeout: float | None) -> Iterator[Finished | Failed | Died]:
        """Everything that happened, waiting up to ``timeout`` seconds for the first."""
        for rank in _waiting(self._communicator, REPLY, timeout):
            document = json.loads(_receive(self._communicator, rank, REPLY))
            self._tokens[rank].remove(document["token"])
            if "reason" in document:
                yield Failed(document["token"], document["reason"])
            else:
                result = _result_of(document["result"])
                evaluation = Evaluation(result, document["seconds"], document["provenance"])
                yield Finished(document["token"], evaluation)

    def stop(self) -> None:
        """Tell all ranks to end when they have done what they hold; once is enough."""
        ranks = [] if self._stopped else self._tokens
        self._stopped = True
        for rank in ranks:
            self._communicator.Send(np.array([STOP, 0], np.int64), dest=rank, tag=TASK)


def serve(communicator: Any, key: PlanKey, device: Device) -> None:
    """What a rank other than 0 does: evaluate what comes until told to stop.

    Rank 0 decides what a signal means: the launcher passes it to all.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    plan = plan_of(key)
    plan.evaluator(device)
    task = np.zeros(2, np.int64)
    while True:
        for _ in _waiting(communicator, TASK, None):
            break
        communicator.Recv(task, source=0, tag=TASK)
        token, index = map(int, task)
        if token == STOP:
            return
        document: dict[str, Any]
        try:
            found = evaluate(plan, index, device)
            document = {
                "result": _result_document(found.result),
                "seconds": found.seconds,
                "provenance": found.provenance,
            }
        except Exception as error:
            document = {"reason": f"{type(error).__name__}: {error}"}
        communicator.Send(json.dumps({"token": token, **document}).encode(), dest=0, tag=REPLY)


def _waiting(communicator: Any, tag: int, timeout: float | None) -> Iterator[int]:
    """Ranks whose messages wait, as long as there are any; waits for the first."""
    from mpi4py import MPI

    status = MPI.Status()
    deadline = None if timeout is None else time.monotonic() + timeout
    sleep = SHORTEST_SLEEP
    while not communicator.Iprobe(source=MPI.ANY_SOURCE, tag=tag, status=status):
        if deadline is not None and time.monotonic() > deadline:
            return
        time.sleep(sleep)
        sleep = min(2 * sleep, LONGEST_SLEEP)
    yield status.Get_source()
    while communicator.Iprobe(source=MPI.ANY_SOURCE, tag=tag, status=status):
        yield status.Get_source()


def _receive(communicator: Any, source: int, tag: int) -> bytes:
    from mpi4py import MPI

    status = MPI.Status()
    communicator.Probe(source=source, tag=tag, status=status)
    content = bytearray(status.Get_count(MPI.BYTE))
    communicator.Recv([content, MPI.BYTE], source=source, tag=tag)
    return bytes(content)


def _result_document(result: PartialResult) -> dict[str, Any]:
    return {"index": result.index, **result.to_text()}


def _result_of(document: dict[str, Any]) -> PartialResult:
    return PartialResult.from_text(**document)
