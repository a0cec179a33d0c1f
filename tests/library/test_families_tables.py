"""The b-files in docs/tables: lines up to n = 9 are counted again, and the others are at least possible."""

from __future__ import annotations

from math import gcd
from pathlib import Path

import pytest

import langford
from jobs.tables.entries import Entry, Row, Table, entries
from langford.problem import Problem
from langford.problem.reference import known_of
from langford.problem.variants import VARIANTS
from tests.support.cases import few
from tests.support.tables import TABLES, family_of, numbers_of, read_table

FILES = sorted(TABLES.glob("*.txt"))
COUNTED_UP_TO = 9
LONGEST_COUNTED = 28
"""Places: with several pairs of a difference, fewer differences are counted."""
LONGEST = TABLES / "extended-rosa.txt"
"""Of more than a thousand lines."""
UNEXPLAINED = (4, 5, 6)
"""The extended Rosa sequences that do not exist though nothing forbids them: n and both holes."""


def counted(entry: Entry, known: dict[object, int]) -> Row:
    """The row of an entry, counted here; rows that mirror each other once."""
    sums = []
    for problem in entry.problems:
        shape = problem.pattern
        if shape not in known:
            # another sum than those of the tables, mostly
            plan = langford.plan(problem, None if problem.circle else "shifted", seed=2 if problem.circle else 0)
            known[shape] = langford.merge(plan, map(plan.evaluate, plan.tasks)).arrangements
        sums.append((problem.published(known[shape]), known[shape]))
    return Row(entry, *map(sum, zip(*sums, strict=True)))


def test_there_is_a_table_of_every_family() -> None:
    headers = [file.read_text().splitlines()[0] for file in FILES]
    shown = {header.removeprefix("# ").split(",")[0] for header in headers}
    assert shown == {*VARIANTS}


COUNTING = ("# Counted by ", "# Kernels ", "# All of these ", "# Imported ")
"""Lines of a header that depend on the campaigns of its numbers."""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_header_is_what_the_program_writes(file: Path) -> None:
    header, numbers = read_table(file)
    family = family_of(header)
    wanted = entries(family)
    once = Table(family, [Row(entry, 0, 0) for entry in wanted]).up_to
    rows = []
    for entry, (_, number) in zip(wanted, numbers, strict=True):
        arrangements = sum(all_of(problem, number) for problem in entry.problems) if once else number
        rows.append(Row(entry, number, arrangements))
    lines = Table(family, rows).bfile().splitlines()
    assert [line for line in header if not line.startswith(COUNTING)] == lines[: -len(numbers)]
    assert lines[-len(numbers) :] == [f"{index} {number}" for index, number in numbers]


def all_of(problem: Problem, number: int) -> int:
    """The number of all arrangements, by the number of those that differ by more than a mirror or a rotation."""
    if problem.circle:
        return number * problem.images
    return 2 * number - problem.self_mirrored if problem.mirrored else number


@pytest.mark.parametrize(
    ("file", "every"),
    few([(file, 4 if file == LONGEST else 1) for file in FILES], 5),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_the_lines_of_a_table_are_right(file: Path, every: int) -> None:
    header, numbers = read_table(file)
    family = family_of(header)
    wanted = entries(family)
    assert [index for index, _ in numbers] == (
        list(range(1, len(wanted) + 1)) if family.parameters else [entry.n for entry in wanted]
    )
    known: dict[object, int] = {}
    table = Table(family, [Row(entry, 0, 0) for entry in wanted])
    small = [
        entry.n <= COUNTED_UP_TO and number % every == 0 and entry.problems[0].places <= LONGEST_COUNTED
        for number, entry in enumerate(wanted)
    ]
    assert any(small)
    wrong = []
    for entry, (_, number), counts in zip(wanted, numbers, small, strict=True):
        if counts and number != table.number(counted(entry, known)):
            wrong.append(entry)
        if not counts and bool(number) == bool(entry.obstruction) and (entry.n, *entry.values) != UNEXPLAINED:
            wrong.append(entry)
        known_count = known_of(entry.problems)
        if known_count is not None:
            arrangements = known_count.arrangements
            row = Row(entry, entry.problems[0].published(arrangements), arrangements)
            if number != table.number(row):
                wrong.append(entry)
    assert not wrong
    assert "All of these were counted again by another sum" in "\n".join(header)
    circle = VARIANTS[family.variant].circle  # which one sum counts, with any seed
    assert circle or "with seed" not in "\n".join(header), "a number has two sums by the same method"


def table_of(name: str) -> dict[tuple[int, ...], int]:
    """The numbers of a table by n and the values of its parameters."""
    return {(entry.n, *entry.values): number for entry, number in numbers_of(TABLES / f"{name}.txt").items()}


def test_tables_agree_where_one_family_is_a_part_of_another() -> None:
    extended, hooked, skolem = table_of("extended-skolem"), table_of("hooked-skolem"), table_of("skolem")
    rosa, near, total = table_of("rosa"), table_of("near-skolem"), table_of("extended-skolem-sum")
    langford_rows = table_of("langford")
    largest = max(n for n, _ in extended)
    for n in range(2, largest + 1):
        assert extended[n, 2 * n] == extended[n, 2] == hooked[n,]
        assert extended[n, 1] == extended[n, 2 * n + 1] == 2 * skolem[n,]
        assert extended[n, n + 1] == 2 * rosa[n,]
        assert total[n,] == sum(extended[n, hole] for hole in range(1, 2 * n + 2))
    for n in range(2, max(n for n, _ in near) + 1):
        assert near[n, n] == skolem[n - 1,]
        assert near[n, 1] == langford_rows[n - 1,]


def test_tables_of_holes_and_of_missing_differences_agree_with_others() -> None:
    extended, anywhere, whole = table_of("extended-langford"), table_of("langford-hole"), table_of("langford")
    for n in range(1, max(n for n, _ in extended) + 1):
        assert anywhere[n,] == sum(extended[n, hole] for hole in range(1, 2 * n + 2))
        assert extended[n, 1] == 2 * whole[n,]
    starters, rosa = table_of("near-starter"), table_of("near-rosa")
    assert {n: number for (n, missing), number in starters.items() if missing == n} == {
        n: number for (n,), number in table_of("even-starter").items() if (n, n) in starters
    }
    by_divisor: dict[tuple[int, int], set[int]] = {}
    for (n, missing), number in starters.items():
        by_divisor.setdefault((n, gcd(missing, 2 * n)), set()).add(number)
    assert all(len(numbers) == 1 for numbers in by_divisor.values())
    assert all(rosa[n, n] == table_of("rosa")[n - 1,] for n in range(2, max(n for n, _ in rosa) + 1))


def test_extended_rosa_sequences_contain_hooked_and_extended_ones() -> None:
    table, rosa, extended = table_of("extended-rosa"), table_of("hooked-rosa"), table_of("extended-skolem")
    for n in range(1, max(n for n, *_ in table) + 1):
        assert table[n, n + 1, 2 * n + 1] == rosa[n,]
        assert [table[n, hole, 2 * n + 2] for hole in range(1, 2 * n + 2)] == [
            extended[n, hole] for hole in range(1, 2 * n + 2)
        ]


@pytest.mark.parametrize(
    ("confirmed", "says"),
    [
        ((True, True), "All of these were counted again by another sum (shifted)"),
        ((True, False), "1 of 2 of these were counted again by another sum (shifted)"),
        ((False, False), "Each was counted once; residues, bounds and symmetries were checked"),
    ],
)
def test_a_header_says_how_many_numbers_were_counted_again(confirmed: tuple[bool, bool], says: str) -> None:
    family = family_of(["# Reproduce with: langford table rosa 4 --from 3 --confirm --format bfile"])
    rows = [
        Row(entry, number, 2 * number, ("a",), ("polyphase",), ("shifted",) if again else ())
        for entry, number, again in zip(entries(family), (1, 2), confirmed, strict=True)
    ]
    assert f"# {says}" in Table(family, rows).bfile()
