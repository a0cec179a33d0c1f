"""Workers that are kept from one run to the next compute what each run asks for, and end when they must."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

from jobs.pools.kept_workers import KeptWorkers
from jobs.pools.pool import Died, Finished, Pool
from langford.devices import CPU, Cpu, Device
from langford.machine.process import STEPS
from langford.methods import Plan, PlanKey, plan_of
from langford.problem import Problem
from langford.result import PartialResult

SECONDS = 60.0
FIRST, SECOND = (PlanKey(Problem.named("rosa", n), "shifted2", 2) for n in (7, 8))


HANGS = 3


class LikeAGpu(Cpu):
    """A device whose kernels every process has to load itself."""

    outlives_fork = False


class HowManyPlans:
    """An evaluator that says how many plans with an evaluator this process has."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def evaluate(self, index: int) -> PartialResult:
        alive = sum(isinstance(each, HowManyPlans) for each in gc.get_objects())
        return PartialResult(index, 0, 0, alive)


class CountsPlans(LikeAGpu):
    """A device with that evaluator."""

    def evaluator(self, maker: Any, plan: Any) -> Any:
        return HowManyPlans(plan)


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


@pytest.fixture
def workers() -> Iterator[KeptWorkers]:
    with KeptWorkers() as kept:
        yield kept


def evaluated(pool: Pool, index: int) -> PartialResult:
    pool.submit(0, index)
    for _ in range(100):
        for news in pool.poll(SECONDS):
            if isinstance(news, Died):
                assert not news.tokens
            else:
                assert isinstance(news, Finished), news
                return news.evaluation.result
    raise AssertionError("nothing was evaluated")


def processes() -> set[psutil.Process]:
    """The server, and its workers."""
    [server] = [child for child in psutil.Process().children() if child.children()]
    return {server, *server.children()}


def the_worker() -> psutil.Process:
    [worker] = [each for each in processes() if each.ppid() != os.getpid()]
    return worker


def runs(process: psutil.Process) -> bool:
    """Whether it does; what is left of it may wait for a parent that asks."""
    try:
        return process.is_running() and bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def have_ended(ended: set[psutil.Process]) -> bool:
    """Whether they end now."""
    deadline = time.monotonic() + SECONDS
    while any(map(runs, ended)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.exhaustive
def test_kept_workers_serve_the_next_run_and_are_replaced_when_they_die() -> None:
    with KeptWorkers() as kept:
        pool = kept.pool(FIRST, [LikeAGpu()])
        assert evaluated(pool, 1) == plan_of(FIRST).evaluate(1)
        begun = processes()
        pool.stop()
        pool = kept.pool(SECOND, [LikeAGpu()])
        assert evaluated(pool, 1) == plan_of(SECOND).evaluate(1) != plan_of(FIRST).evaluate(1)
        pool.stop()
        assert processes() == begun
        assert all(map(runs, begun))
        worker = the_worker()
        worker.kill()
        assert have_ended({worker})
        # Between two runs it is no news to the next.
        pool = kept.pool(FIRST, [LikeAGpu()])
        pool.submit(0, 1)
        [news] = list(pool.poll(SECONDS))
        assert isinstance(news, Finished)
        assert news.evaluation.result == plan_of(FIRST).evaluate(1)
        worker = the_worker()
        worker.kill()
        assert list(pool.poll(SECONDS)) == [Died((), "worker process killed by SIGKILL", None)]
        assert evaluated(pool, 1) == plan_of(FIRST).evaluate(1)
        assert worker != the_worker()
        pool.stop()
        left = processes()
    assert have_ended(left)


@pytest.mark.exhaustive
def test_a_worker_that_hangs_is_killed_with_the_task_that_it_was_told_for(workers: KeptWorkers) -> None:
    pool = workers.pool(FIRST, [Hangs()])
    evaluated(pool, 0)
    pool.submit(7, HANGS)
    pool.submit(8, 1)
    while pool.computing != {7: 2}:
        time.sleep(0.01)
    pool.kill(7, "it hangs")
    assert list(pool.poll(SECONDS)) == [Died((7, 8), "it hangs", 7)]
    assert evaluated(pool, 1) == plan_of(FIRST).evaluate(1)


def test_a_worker_keeps_nothing_of_the_plan_before() -> None:
    """Of a GPU's memory there may not be enough for two."""
    with KeptWorkers() as kept:
        for key in (FIRST, SECOND, FIRST):
            pool = kept.pool(key, [CountsPlans()])
            result = evaluated(pool, 0)
            assert result.evaluated == 1
            pool.stop()


class IsFull(LikeAGpu):
    """A device that has no memory for the kernels of the second plan."""

    def evaluator(self, maker: Any, plan: Any) -> Any:
        if plan.key == SECOND:
            raise MemoryError("3 GB")
        return super().evaluator(maker, plan)


@pytest.mark.exhaustive
def test_a_device_without_memory_for_the_kernels_is_named_and_no_task_is_blamed(
    workers: KeptWorkers, capfd: pytest.CaptureFixture[str]
) -> None:
    first = workers.pool(FIRST, [IsFull()])
    evaluated(first, 0)
    first.stop()
    second = workers.pool(SECOND, [IsFull()])
    second.submit(7, 0)
    news = next(each for _ in range(10) for each in second.poll(SECONDS))
    assert news == Died(
        (7,),
        "cpu cannot load the kernels of shifted2 (MemoryError: 3 GB): if its memory is full, end the other "
        "programs that use it",
        None,
    )
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.exhaustive
def test_other_devices_and_a_run_that_ends_in_the_middle_of_a_task_need_other_workers(workers: KeptWorkers) -> None:
    one: list[Device] = [LikeAGpu(0)]
    two = [*one, LikeAGpu(1)]
    pools = []
    for devices in (two, two, one):
        pool = workers.pool(FIRST, devices)
        assert evaluated(pool, 0) == plan_of(FIRST).evaluate(0)
        assert pool.idle_workers == len(devices)
        ended = processes()
        if devices is one:
            pool.submit(1, 1)
        pool.stop()
        pools.append(pool)
    assert pools[0] is pools[1]
    assert pools[1] is not pools[2]
    assert have_ended(ended)
    assert evaluated(workers.pool(SECOND, one), 1) == plan_of(SECOND).evaluate(1)


def test_each_run_on_cores_has_its_own_forks(workers: KeptWorkers) -> None:
    first = workers.pool(FIRST, [CPU])
    assert evaluated(first, 0) == plan_of(FIRST).evaluate(0)
    ended = processes()
    first.stop()
    assert have_ended(ended)
