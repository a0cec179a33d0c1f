"""Published counts: terms against the definition, and one count for a row whatever family it is given as."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from langford.problem import Problem
from langford.problem.reference import SEQUENCES, Published, cited, known_of, published
from tests.support.brute_force import arrangements
from tests.support.tables import TABLES, numbers_of, read_table

SHORTEST_TO_COUNT = 16
"""Places of the rows that are counted here."""


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=lambda sequence: sequence.name)
def test_terms_are_counts(sequence: Published) -> None:
    for index in range(sequence.first, sequence.last + 1):
        for rows in ([sequence.problem(index)], sequence.parts(index)):
            rows = [problem for problem in rows if not problem.obstruction]
            if rows and all(problem.places <= SHORTEST_TO_COUNT for problem in rows):
                assert sequence.arrangements(index) == sum(map(arrangements, rows))
            known = known_of(rows)
            assert not rows or (known is not None and known.arrangements == sequence.arrangements(index))


KNOWN = json.loads((Path(__file__).parent / "published.json").read_text())
"""Terms by sequence and index, transcribed apart from the program's (the key "source" says from where)."""
TERMS = {name: {int(n): term for n, term in terms.items()} for name, terms in KNOWN.items() if name != "source"}
MIRRORED = {"A176127": "A014552", "A285527": "A059108"}
"""Sequences that count mirror images separately, and those that have them once."""


def transcribed(name: str) -> dict[int, int]:
    """The terms of a sequence by index, 0 where none is given."""
    if name not in MIRRORED:
        return TERMS[name]
    return {index: 2 * term - (term == index == 1) for index, term in TERMS[MIRRORED[name]].items()}


TABLES_OF = {
    # b-file: the sequence and the index of its line n, for the n that the sequence has
    "langford": lambda n: ("A014552", n),
    "skolem": lambda n: ("A059106", n),
    "hooked-skolem": lambda n: ("A004076", n),
    "extended-skolem-sum": lambda n: ("A004077", n),
    "starter": lambda n: ("A006204", n),
    "cyclic-skolem": lambda n: ("A390360", n // 4) if n % 4 == 1 else ("A392247", n // 4) if n % 4 == 0 else None,
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_every_term_is_the_transcribed_one(name: str) -> None:
    sequence, terms = SEQUENCES[name], transcribed(name)
    assert set(terms) <= set(range(sequence.first, sequence.last + 1))
    for index in range(sequence.first, sequence.last + 1):
        assert sequence.term(index) == terms.get(index, 0), index


@pytest.mark.parametrize("table", TABLES_OF)
def test_the_lines_of_tables_are_the_transcribed_terms(table: str) -> None:
    _, numbers = read_table(TABLES / f"{table}.txt")
    compared = []
    for n, number in numbers:
        name, index = TABLES_OF[table](n) or (None, 0)
        if name is not None and SEQUENCES[name].first <= index <= SEQUENCES[name].last:
            assert number == TERMS[name].get(index, 0), (n, name)
            compared.append(n)
    assert len(compared) >= 9


def test_the_shortest_langford_rows_of_a_defect_are_the_transcribed_terms() -> None:
    numbers = numbers_of(TABLES / "langford-defects.txt")
    shortest = {entry.values[0]: number for entry, number in numbers.items() if entry.n == 2 * entry.values[0] - 1}
    assert shortest == {defect: TERMS["A002047"][defect - 1] // 2 for defect in range(3, 9)}


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
