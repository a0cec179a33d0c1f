"""Published counts: terms against the definition, and one count for a row whatever family it is given as."""

from __future__ import annotations

import pytest

from langford.problem import Problem
from langford.problem.reference import SEQUENCES, Published, cited, known_of, published, row_of
from tests.support.brute_force import arrangements

SHORTEST_TO_COUNT = 18
"""Places of the rows that are counted here."""


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=lambda sequence: sequence.name)
def test_terms_are_counts(sequence: Published) -> None:
    for index in range(sequence.first, sequence.last + 1):
        rows = [problem for problem in sequence.rows(index) if not problem.obstruction]
        if all(problem.places <= SHORTEST_TO_COUNT for problem in rows):
            assert sequence.arrangements(index) == sum(map(arrangements, rows))
        known = known_of(rows)
        assert not rows or (known is not None and known.arrangements == sequence.arrangements(index))


@pytest.mark.parametrize(
    ("problem", "count", "source"),
    [
        (Problem.langford(11), 17792, "A014552"),
        (Problem.from_differences(range(2, 13)), 17792, "A014552(11)"),
        (Problem.named("near-skolem", 12, missing=1), 17792, "A014552(11)"),
        (Problem.named("near-skolem", 10, missing=10), 1328, "A059106(9)"),
        (Problem.named("hooked-near-skolem", 8, missing=8), 124, "A004076(7)"),
        (Problem.named("extended-skolem", 9, hole=1), 2656, "A004075"),
        (Problem.named("extended-skolem", 9, hole=19), 2656, "A004075"),
        (Problem.named("extended-skolem", 10, hole=2), 12808, "A004076"),
        (Problem.named("extended-rosa", 9, hole=1, second_hole=20), 1328, "A059106"),
        (Problem.langford(9, defect=5), 122, "half of A002047(4)"),
        (Problem.langford(8, 3), 0, "A059107"),
        (Problem.skolem(1, 3), 1, "A059108"),
        (Problem.skolem(8, 4), 0, "A284757"),
        (Problem.skolem(4, 4), 0, None),
        (Problem.langford(24, 4), 3, "J. E. Miller"),
        (Problem.langford(31), None, None),
        (Problem.named("rosa", 8), None, None),
        (Problem.langford(12, defect=4), None, None),
        (Problem.langford(10), 0, None),
    ],
    ids=str,
)
def test_the_row_decides_what_is_published(problem: Problem, count: int | None, source: str | None) -> None:
    assert (published(problem), cited(problem)) == (count, source)


def test_rows_differ_where_their_counts_may() -> None:
    problems = [
        Problem.skolem(4), Problem.skolem(5), Problem.langford(4), Problem.skolem(4, 3), Problem.hooked_skolem(4),
        Problem.named("extended-skolem", 4, hole=3), Problem.named("rosa", 4),
    ]  # fmt: skip
    assert len({row_of(problem) for problem in problems}) == len(problems)
