"""Verifications without the command: which tasks are chosen, and what follows from their comparison."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db import Campaign
from jobs.verify.recomputation import Comparison
from jobs.verify.verification import Conclusion, Selection, Verification
from langford.devices import CPU
from langford.errors import CheckFailed, Incomplete, TaskIndexOutOfRange
from tests.support.campaigns import HOUR, NAME, TASKS, finish, new_campaign, true_deliveries
from tests.support.databases import new_ledger


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        yield new_campaign(ledger)


def verify(campaign: Campaign, selection: Selection) -> Conclusion:
    verification = Verification(campaign, selection, None, CPU)
    work: list[float] = []
    comparisons = list(verification.compare(work.append))
    assert sum(work) == pytest.approx(verification.work)
    return verification.conclude(comparisons)


def test_named_tasks_and_samples_are_verified(campaign: Campaign) -> None:
    finish(campaign, "a")
    named = verify(campaign, Selection(named=[3, 1, 3]))
    assert [comparison.index for comparison in named.comparisons] == [1, 3]
    assert named.error is None
    assert named.statement.document["coverage"]["seed"] is None
    sample = Selection(sample="2", seed=7)
    first, again = (Verification(campaign, sample, None, CPU).tasks for _ in range(2))
    assert first == again
    assert len(first) == 2
    assert len(verify(campaign, Selection(sample="100%")).comparisons) == TASKS


def test_the_work_of_a_verification_is_that_of_tasks_with_a_result(campaign: Campaign) -> None:
    undone, *rest = campaign.worker.lease("a", TASKS, HOUR)
    campaign.worker.deliver(true_deliveries(rest))
    both = [undone.index, rest[0].index]
    assert verify(campaign, Selection(named=both)).statement.document["coverage"]["compared"] == 1


def test_nothing_is_verified_without_results(campaign: Campaign) -> None:
    with pytest.raises(Incomplete, match="no task of"):
        Verification(campaign, Selection(), None, CPU)
    finish(campaign, "a")
    with pytest.raises(Incomplete, match="waits for a recheck"):
        Verification(campaign, Selection(waiting=True), None, CPU)
    with pytest.raises(TaskIndexOutOfRange):
        Verification(campaign, Selection(named=[TASKS]), None, CPU)


def test_a_different_value_is_an_error_that_says_what_to_do(campaign: Campaign) -> None:
    finish(campaign, "a")
    verification = Verification(campaign, Selection(named=[2]), None, CPU)
    good = list(verification.compare(lambda work: None))
    outcome = verification.conclude([Comparison(2, 5, 6, evaluation=good[0].evaluation)])
    assert isinstance(outcome.error, CheckFailed)
    assert f"`langford recheck {NAME} 2`" in str(outcome.error)
    settled = Conclusion(NAME, outcome.statement, outcome.comparisons, [2], 0)
    assert "waited for a decision" in str(settled.error)
    nothing = Conclusion(NAME, outcome.statement, [Comparison(2, None, None)], [], 0)
    assert isinstance(nothing.error, Incomplete)
