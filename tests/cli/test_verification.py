"""Verifications without the command: which tasks are chosen, and what follows from their comparison."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from db import Campaign, Ledger
from jobs.verify.recomputation import Comparison
from jobs.verify.verification import Conclusion, Selection, Verification
from langford.arithmetic.residue import residue
from langford.devices import CPU
from langford.errors import CheckFailed, Incomplete, TaskIndexOutOfRange
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.campaigns import HOUR, NAME, TASKS, delivery, finish, new_campaign, true_deliveries
from tests.support.command_line import Run
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


def write_circle(folder: Path, wrong_by: int) -> None:
    """A complete campaign of the starters of order 19, its count wrong by that much and all other checks right."""
    key = PlanKey(Problem.named("starter", 9), "necklace", 4)
    plan = plan_of(key)
    results = [plan.evaluate(index) for index in plan.tasks]
    value = results[-1].value + plan.multiplier * wrong_by
    results[-1] = replace(results[-1], value=value, residue=residue(value))
    with Ledger(str(folder / "circles.db"), create=True) as ledger:
        campaign = ledger.create_campaign("nine", key, plan.work.tolist())
        ledger.enrol("a", "host-a", "1")
        leases = campaign.worker.lease("a", len(results), HOUR)
        campaign.worker.deliver([delivery(lease, results[lease.index]) for lease in leases])


def test_congruences_of_a_circle_find_a_wrong_count(tmp_path: Path, langford: Run) -> None:
    right, wrong, congruent = tmp_path / "right", tmp_path / "wrong", tmp_path / "congruent"
    for folder, wrong_by in ((right, 0), (wrong, 2), (congruent, 18)):
        folder.mkdir()
        write_circle(folder, wrong_by)
    done = langford("verify", "nine", "--congruences", "--ledger", str(right / "circles.db"))
    assert done.returncode == 0, done.stderr
    first, *checks = done.stdout.splitlines()
    assert first == "starter(2,9) = 25,905"
    assert checks[-4:] == [
        "checked   count is 1 mod 2, as the symmetries of the circle require",
        "checked   count is 3 mod 9, as a unit of order 9 requires",
        "proves    little: of 18 wrong counts, one satisfies these congruences",
        "agrees    with the published value 25,905 (A006204)",
    ]
    as_json = langford("verify", "nine", "--congruences", "--json", "--ledger", str(right / "circles.db"))
    document = json.loads(as_json.stdout)
    assert document["congruences"] == [{"modulus": 9, "remainder": 3}]
    assert (document["count"], document["modulus"], document["agrees"]) == ("25905", 18, True)
    refused = langford("verify", "nine", "--congruences", "--ledger", str(wrong / "circles.db"))
    assert refused.returncode == 4
    assert "starter(2,9) = 25,907 is 5 mod 9, but its symmetries require 3" in refused.stderr
    assert "`langford verify nine --sample 100%`" in refused.stderr
    differs = langford("verify", "nine", "--congruences", "--ledger", str(congruent / "circles.db"))
    assert differs.returncode == 4
    assert "25,923 is WRONG: it differs from the published value 25,905" in differs.stderr


def test_congruences_are_of_circles_and_stand_alone(campaign: Campaign, tmp_path: Path, langford: Run) -> None:
    finish(campaign, "a")
    row = langford("verify", NAME, "--congruences")
    assert (row.returncode, f"`langford confirm {NAME}`" in row.stderr) == (2, True)
    for more in (["3"], ["--sample", "2"], ["--statement", "s.txt"], ["--dry-run"]):
        both = langford("verify", NAME, *more, "--congruences")
        assert (both.returncode, "give it alone" in both.stderr) == (2, True)
    nothing = langford("verify", NAME, "--unconfirmed")
    assert "--unconfirmed belongs to --congruences" in nothing.stderr
