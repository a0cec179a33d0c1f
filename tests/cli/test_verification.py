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
from tests.support.campaigns import NAME, TASKS, finish, new_campaign
from tests.support.databases import new_ledger


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        yield new_campaign(ledger)


def verify(campaign: Campaign, selection: Selection, all_checks: bool = False) -> Conclusion:
    verification = Verification(campaign, selection, None, CPU)
    work: list[float] = []
    comparisons = list(verification.compare(work.append))
    assert sum(work) == pytest.approx(verification.work)
    return verification.conclude(comparisons, all_checks, unconfirmed=False)


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
    whole = verify(campaign, Selection(sample="100%"), all_checks=True)
    assert len(whole.comparisons) == TASKS
    assert any("L(2,7) = 26" in check for check in whole.statement.document["checks"])


def test_nothing_is_verified_without_results(campaign: Campaign) -> None:
    with pytest.raises(Incomplete, match="no task of"):
        Verification(campaign, Selection(), None, CPU)
    finish(campaign, "a")
    with pytest.raises(Incomplete):
        Verification(campaign, Selection(waiting=True), None, CPU)
    with pytest.raises(TaskIndexOutOfRange):
        Verification(campaign, Selection(named=[TASKS]), None, CPU)


def test_a_different_value_is_an_error_that_says_what_to_do(campaign: Campaign) -> None:
    finish(campaign, "a")
    verification = Verification(campaign, Selection(named=[2]), None, CPU)
    good = list(verification.compare(lambda work: None))
    outcome = verification.conclude([Comparison(2, 5, 6, evaluation=good[0].evaluation)], False, False)
    assert isinstance(outcome.error, CheckFailed)
    assert f"`langford recheck {NAME} 2`" in str(outcome.error)
    settled = Conclusion(NAME, outcome.statement, outcome.comparisons, [2], 0, None)
    assert "waited for a decision" in str(settled.error)
    nothing = Conclusion(NAME, outcome.statement, [Comparison(2, None, None)], [], 0, None)
    assert isinstance(nothing.error, Incomplete)
