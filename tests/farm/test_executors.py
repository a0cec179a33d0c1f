"""A campaign evaluated by an executor of somebody else."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import submitit

import langford
from jobs.pools.executor_pool import AT_ONCE, workers_of
from langford.errors import MachineFailed

COUNT = 108_144


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[langford.Campaign]:
    with langford.Ledger(tmp_path / "l.db") as ledger:
        yield ledger.campaign("langford 12", method="polyphase", depth=8)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_an_executor_works_a_campaign_off(campaign: langford.Campaign, kind: str) -> None:
    spawning = multiprocessing.get_context("spawn")
    made = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, mp_context=spawning)
    with made as executor:
        report = campaign.run(executor=executor)
    assert (report.tasks_here, report.set_aside) == (campaign.tasks, 0)
    assert campaign.count() == COUNT


def test_submitit_works_a_campaign_off(campaign: langford.Campaign, tmp_path: Path) -> None:
    executor = submitit.AutoExecutor(folder=tmp_path / "jobs", cluster="debug")
    assert workers_of(executor) == AT_ONCE
    campaign.run(executor=executor)
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
    assert campaign.standing().tasks_done == 2
    with ThreadPoolExecutor(1) as executor:
        campaign.run(executor=executor)
    assert campaign.count() == COUNT


def test_a_task_that_raises_is_tried_again_and_then_set_aside(campaign: langford.Campaign) -> None:
    with Breaking(0, ValueError) as executor:
        report = campaign.run(executor=executor)
    assert report.set_aside == campaign.tasks
