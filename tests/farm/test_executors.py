"""A campaign evaluated by an executor of somebody else."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import langford
from db.states import TaskState
from jobs.pools.executor_pool import AT_ONCE, MOST_AT_ONCE, workers_of
from langford.errors import MachineFailed

COUNT = 108_144


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[langford.Campaign]:
    with langford.Ledger(tmp_path / "l.db", create=True) as ledger:
        yield ledger.campaign("langford 12", method="polyphase", depth=8)


@pytest.mark.exhaustive
def test_processes_work_a_campaign_off(campaign: langford.Campaign) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        report = campaign.run(executor=executor)
    assert (report.tasks_here, report.set_aside) == (campaign.tasks, 0)
    assert campaign.count() == COUNT


class Breaking(ThreadPoolExecutor):
    def __init__(self, after: int, error: type[Exception]) -> None:
        super().__init__(1)
        self.left, self.error = after, error

    def submit(self, *arguments: Any, **options: Any) -> Future[Any]:  # type: ignore[override]
        self.left -= 1
        if self.left >= 0:
            return super().submit(*arguments, **options)
        failed: Future[Any] = Future()
        failed.set_exception(self.error("gone"))
        return failed


def test_a_broken_executor_ends_the_run_and_another_one_resumes(campaign: langford.Campaign) -> None:
    with Breaking(2, BrokenExecutor) as executor, pytest.raises(MachineFailed, match="run again to resume"):
        campaign.run(executor=executor)
    assert campaign.reader.standing().tasks_done == 2
    with ThreadPoolExecutor(1) as executor:
        campaign.run(executor=executor)
    assert campaign.count() == COUNT


def test_a_task_that_raises_is_tried_again_and_then_set_aside(campaign: langford.Campaign) -> None:
    with Breaking(0, ValueError) as executor:
        report = campaign.run(executor=executor)
    assert report.set_aside == campaign.tasks


class Confused(ThreadPoolExecutor):
    """Returns what it returned first for every task."""

    first: Future[Any] | None = None

    def submit(self, *arguments: Any, **options: Any) -> Future[Any]:  # type: ignore[override]
        self.first = self.first or super().submit(*arguments, **options)
        return self.first


def test_the_result_of_another_task_counts_as_a_failure_and_ends(campaign: langford.Campaign) -> None:
    with Confused(1) as executor:
        report = campaign.run(executor=executor)
    assert (report.tasks_here, report.set_aside) == (1, campaign.tasks - 1)


def test_an_executor_that_takes_no_tasks_says_how_to_resume(campaign: langford.Campaign) -> None:
    with ThreadPoolExecutor(1) as closed:
        pass
    with pytest.raises(MachineFailed, match=r"RuntimeError: cannot schedule new.*run again to resume"):
        campaign.run(executor=closed)
    assert campaign.reader.standing().tasks[TaskState.READY] == campaign.tasks


def test_a_future_that_cannot_be_asked_says_how_to_resume(campaign: langford.Campaign) -> None:
    class Gone(Future[Any]):
        def done(self) -> bool:
            raise ConnectionError("the scheduler is gone")

    class Distant(ThreadPoolExecutor):
        def submit(self, *arguments: Any, **options: Any) -> Future[Any]:  # type: ignore[override]
            return Gone()

    with Distant(1) as executor, pytest.raises(MachineFailed, match="the scheduler is gone"):
        campaign.run(executor=executor)


def test_an_executor_of_very_many_workers_gets_a_bounded_number_of_tasks() -> None:
    class Cloud:
        num_workers = 10**9

        def submit(self, *arguments: Any, **options: Any) -> Future[Any]:
            raise AssertionError("not called")

    assert workers_of(Cloud()) == MOST_AT_ONCE
    Cloud.num_workers = 0
    assert workers_of(Cloud()) == AT_ONCE
