"""Count by MPI without a ledger: each rank derives its own tasks from its rank."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobs.evaluation import evaluate
from jobs.mpi.messages import gather
from langford.devices import Device
from langford.methods import Count, Plan, PlanKey, merge, plan_of
from langford.result import PartialResult

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


def share(plan: Plan, rank: int, size: int) -> list[int]:
    """The tasks of a rank: every size-th, by falling work, dealt out back and forth."""
    order = np.argsort(-plan.work, kind="stable")
    rounds = [order[start : start + size] for start in range(0, len(order), size)]
    dealt = [part if number % 2 == 0 else _turned(part, size) for number, part in enumerate(rounds)]
    return [int(part[rank]) for part in dealt if rank < len(part) and part[rank] >= 0]


def _turned(part: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A round in reverse, filled up with −1 at the start."""
    padded = np.full(size, -1)
    padded[size - len(part) :] = part[::-1]
    return padded


def count_static(
    communicator: Intracomm,
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
    for index in share(plan, communicator.rank, communicator.size):
        result = evaluate(plan, index, device).result
        own.append({"index": index, **result.to_text()})
        done += float(plan.work[index])
        tell(done, time.perf_counter() - start)
    gathered = gather(communicator, json.dumps(own).encode())
    if gathered is None:
        return None
    results = [PartialResult.from_text(**document) for part in gathered for document in json.loads(part)]
    return merge(plan, results), time.perf_counter() - start
