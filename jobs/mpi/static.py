"""Count with MPI and without a ledger: the number of a rank determines its tasks."""

from __future__ import annotations

import time
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jobs.pools.evaluation import evaluate
from langford.devices import Device
from langford.methods import Count, Plan, PlanKey, merge, plan_of
from langford.result import PartialResult

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


def share(plan: Plan, rank: int, size: int) -> list[int]:
    """The tasks of a rank, one from each round of tasks by falling work.

    The ranks take their tasks in order in one round, and in reverse order in the next: so their shares of the
    work are almost equal.

    Args:
        plan: the same at all ranks.
        rank: from 0.
        size: number of ranks.
    """
    order = np.argsort(-plan.work, kind="stable")
    rounds = [order[start : start + size] for start in range(0, len(order), size)]
    dealt = [tasks if number % 2 == 0 else _reversed(tasks, size) for number, tasks in enumerate(rounds)]
    return [int(tasks[rank]) for tasks in dealt if rank < len(tasks) and tasks[rank] >= 0]


def _reversed(tasks: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A round in reverse order, int64[size], filled up with −1 at the start."""
    padded = np.full(size, -1)
    padded[size - len(tasks) :] = tasks[::-1]
    return padded


def count_static(communicator: Intracomm, key: PlanKey, device: Device) -> tuple[Count, float] | None:
    """Evaluate this rank's share; returns the count and the seconds at rank 0, None at the other ranks.

    Args:
        communicator: of all ranks, which make the same call.
        key: the plan, the same at all ranks.
        device: of this rank.

    Raises CheckFailed.
    """
    plan = plan_of(key)
    plan.evaluator(device)
    communicator.Barrier()
    start = time.perf_counter()
    mine = [evaluate(plan, index, device).result for index in share(plan, communicator.rank, communicator.size)]
    gathered: list[list[PartialResult]] | None = communicator.gather(mine)
    if gathered is None:
        return None
    return merge(plan, chain.from_iterable(gathered)), time.perf_counter() - start
