"""Statements about verifications: what was found, and what a file of another origin is."""

from __future__ import annotations

import pytest

from db import Promise
from jobs.verify.recomputation import Comparison, Coverage
from jobs.verify.statement import FORMAT, Statement, statement_of
from langford.devices import CPU
from langford.errors import BadInput
from langford.methods import PlanKey
from langford.problem import Problem

PLAN = PlanKey(Problem.langford(8), "polyphase", 8)
COVERAGE = Coverage(2, 4, 5, 0.5, 7)


def stated(*comparisons: Comparison, coverage: Coverage = COVERAGE, promise: Promise | None = None) -> Statement:
    return statement_of("eight", PLAN, comparisons, coverage, "another kernel", CPU, {}, promise)


@pytest.mark.parametrize(
    ("comparisons", "agrees", "outcome"),
    [
        ([Comparison(0, 5, 5), Comparison(3, 7, 7)], True, "all 2 recomputed values agree"),
        ([Comparison(0, 5, 5), Comparison(3, 7, 8)], False, "1 of 2 tasks differ: 3"),
        ([Comparison(0, 5, 6), Comparison(3, None, None)], False, "1 of 1 tasks differ: 0"),
        ([Comparison(0, 5, 5, stored_terms=2, recomputed_terms=3)], False, "1 of 1 tasks differ: 0"),
        ([Comparison(3, None, None)], None, "nothing was compared"),
    ],
)
def test_the_outcome_is_that_of_the_comparisons(
    comparisons: list[Comparison], agrees: bool | None, outcome: str
) -> None:
    """Where nothing was compared, nothing agrees."""
    statement = stated(*comparisons)
    assert statement.document["agrees"] is agrees
    assert f"Outcome: {outcome}" in statement.words


def test_the_numbers_say_what_the_sample_proves() -> None:
    assert stated().document["coverage"]["finds_one_wrong"] == pytest.approx(0.5)
    assert stated(coverage=Coverage(2, 4, 4, 0.5, None)).document["coverage"]["finds_one_wrong"] is None
    assert stated().document["not_verified"] == "the other 3 tasks"
    assert stated(coverage=Coverage(4, 4, 4, 1.0, 7)).document["not_verified"] == "no task: all were recomputed"


def test_what_a_statement_of_1_x_says_of_all_results_is_read() -> None:
    statement = Statement({**stated().document, "checks": ["residue and bounds of all 4 stored results"]})
    assert "\nChecked without recomputing: residue and bounds of all 4 stored results.\n" in statement.words


def test_a_share_that_is_not_all_is_not_called_all() -> None:
    assert Coverage(9_999, 10_000, 10_000, 0.99997, 7).words == "9,999 of 10,000 tasks, 99.99% of the work, seed 7"


def test_numbers_of_terms_are_named_where_they_differ() -> None:
    alike = stated(Comparison(0, 5, 5, stored_terms=2, recomputed_terms=2))
    assert "  task 0: stored 5, recomputed 5: agrees\n" in alike.words
    different = stated(Comparison(0, 5, 5, stored_terms=2, recomputed_terms=3))
    assert "  task 0: stored 5 from 2 terms, recomputed 5 from 3: differs\n" in different.words
    assert Statement.from_text(different.to_text()) == different


def test_a_statement_without_numbers_of_terms_is_read() -> None:
    """Those of November 2026 and before have none."""
    statement = stated(Comparison(0, 5, 5))
    old = (
        statement.to_text()
        .replace('      "recomputed_terms": null,\n', "")
        .replace('      "stored_terms": null,\n', "")
    )
    assert old != statement.to_text()
    assert Statement.from_text(old).words == statement.words


def test_a_statement_says_what_was_promised_and_earlier_ones_are_read() -> None:
    kept = Promise(1.0, frozenset([0, 3]), {0: (0, 1), 3: None})
    statement = stated(Comparison(0, 5, 5), promise=kept)
    assert (
        "\nReplication: 2 of 2 drawn results replicated by independent voters (--replicate 1).\n" in statement.words
    )
    assert Statement.from_text(statement.to_text()) == statement
    assert "\nReplication: no promise recorded.\n" in stated().words
    said = ("promised", "promise", "drawn", "replicated")
    earlier = Statement({name: value for name, value in statement.document.items() if name not in said})
    assert "Replication" not in earlier.words
    assert Statement.from_text(earlier.to_text()) == earlier


def test_a_statement_without_end_is_not_read() -> None:
    statement = stated(Comparison(0, 5, 5)).to_text()
    with pytest.raises(BadInput):
        Statement.from_text(statement.partition("{")[0] + "[" * 100_000)


def test_a_statement_of_another_format_is_not_read() -> None:
    statement = stated(Comparison(0, 5, 6))
    assert Statement.from_text(statement.to_text()) == statement
    with pytest.raises(BadInput, match="use the version that wrote it"):
        Statement.from_text(statement.to_text().replace(FORMAT, "langford verification 2"))
