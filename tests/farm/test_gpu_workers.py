"""Workers whose kernels do not outlive a fork, as on a GPU: each loads its own, with its first task."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from jobs.pools.pool import Died, Finished, Pool
from jobs.pools.process_pool import WorkerPool
from langford.devices import Cpu, Device
from langford.machine.process import STEPS
from langford.methods import Plan, PlanKey, plan_of
from langford.problem import Problem
from langford.result import PartialResult

SECONDS = 60.0
KEY = PlanKey(Problem.named("rosa", 7), "shifted2", 2)
HANGS = 3


class LikeAGpu(Cpu):
    """A device whose kernels every process has to load itself."""

    outlives_fork = False


class Hanging:
    """An evaluator that does two steps of a task, and hangs."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def evaluate(self, index: int) -> PartialResult:
        if index == HANGS:
            STEPS.made()
            STEPS.made()
            time.sleep(1_000)
        return self.plan.evaluate(index)


class Hangs(LikeAGpu):
    """A device with that evaluator."""

    def evaluator(self, maker: Any, plan: Any) -> Any:
        return Hanging(plan)


@contextmanager
def workers(devices: Sequence[Device]) -> Iterator[WorkerPool]:
    pool = WorkerPool(KEY, devices)
    try:
        yield pool
    finally:
        pool.stop()


def evaluated(pool: Pool, index: int) -> PartialResult:
    pool.submit(0, index)
    [news] = list(pool.poll(SECONDS))
    assert isinstance(news, Finished), news
    return news.evaluation.result


@pytest.mark.exhaustive
def test_a_worker_that_hangs_is_killed_with_the_task_that_it_was_told_for() -> None:
    with workers([Hangs()]) as pool:
        assert evaluated(pool, 1) == plan_of(KEY).evaluate(1)
        pool.submit(7, HANGS)
        pool.submit(8, 1)
        while pool.computing != {7: 2}:
            time.sleep(0.01)
        pool.kill(7, "it hangs")
        assert list(pool.poll(SECONDS)) == [Died((7, 8), "it hangs", 7)]
        assert evaluated(pool, 1) == plan_of(KEY).evaluate(1)
