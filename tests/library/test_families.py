"""The named families: their definitions, against a search that shares no code, and the theorems on existence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import langford
from langford import drawing
from langford.errors import BadProblem
from langford.methods import METHODS
from langford.methods.backtracking import explicit
from langford.problem import Problem
from langford.problem.reference import SEQUENCES
from langford.problem.variants import CYCLIC, VARIANTS, Parameter
from tests.support import brute_force

MAX_ROW = 16
"""Places of the rows that are searched here."""
MAX_COLOURS = 3
"""Of the rows that every method counts."""
LONGEST, EVERY = 14, 6
"""Places of the longest rows that are counted, and of how many members of a family one is."""
CIRCLES = {name for name, variant in VARIANTS.items() if variant.circle}
WITHOUT = {
    "polyphase": {"rosa", "near-rosa", "hooked-rosa", *CIRCLES},
    **dict.fromkeys(["shifted2", "shifted", "godfrey"], CIRCLES),
    "necklace": {*VARIANTS} - CIRCLES,
    "miller": set(),
    "regular": set(),
}
"""Families that a method does not count, or only with few colours: polyphase takes no hole within the row."""

# -- definitions, written down once more ------------------------------------------------------


def one_to(n: int) -> set[int]:
    return set(range(1, n + 1))


DEFINITIONS: dict[str, Callable[..., tuple[set[int], int, set[int]]]] = {
    "langford": lambda n, defect=2: ({defect + k for k in range(n)}, 2 * n, set()),
    "skolem": lambda n: (one_to(n), 2 * n, set()),
    "hooked-langford": lambda n, defect=2: ({defect + k for k in range(n)}, 2 * n + 1, {2 * n}),
    "extended-langford": lambda n, hole, defect=2: ({defect + k for k in range(n)}, 2 * n + 1, {hole}),
    "hooked-skolem": lambda n: (one_to(n), 2 * n + 1, {2 * n}),
    "extended-skolem": lambda n, hole: (one_to(n), 2 * n + 1, {hole}),
    "near-skolem": lambda n, missing: (one_to(n) - {missing}, 2 * n - 2, set()),
    "hooked-near-skolem": lambda n, missing: (one_to(n) - {missing}, 2 * n - 1, {2 * n - 2}),
    "rosa": lambda n: (one_to(n), 2 * n + 1, {n + 1}),
    "near-rosa": lambda n, missing: (one_to(n) - {missing}, 2 * n - 1, {n}),
    "hooked-rosa": lambda n: (one_to(n), 2 * n + 2, {n + 1, 2 * n + 1}),
    "extended-rosa": lambda n, hole, second_hole: (one_to(n), 2 * n + 2, {hole, second_hole}),
    "starter": lambda n: (one_to(n), 2 * n + 1, {1}),
    "even-starter": lambda n: (one_to(n - 1), 2 * n, {1}),
    "near-starter": lambda n, missing: (one_to(n) - {missing}, 2 * n, {1}),
    "cyclic-skolem": lambda n: (one_to(n), 2 * n, set()),
}
"""Differences, length of the row, and places that stay empty; further empty ones may be anywhere."""


@cache
def sequences(differences: int, row: int) -> int:
    """The number of ways to fill a row from the left: another order than any of the methods.

    Bit d of ``differences`` stands for the difference d, bit k of ``row`` for place k that is free.
    """
    if not row:
        return int(not differences)
    while not row & 1:
        row >>= 1
    found = [d for d in range(1, differences.bit_length()) if differences >> d & row >> d & 1]
    return sum(sequences(differences ^ 1 << d, (row ^ 1 ^ 1 << d) >> 1) for d in found)


def expected(problem: Problem, n: int, **values: int) -> int:
    """The number of sequences of a family by its definition."""
    differences, length, empty = DEFINITIONS[problem.variant](n, **values)
    row = sum(1 << k for k in range(1, length + 1) if k not in empty)
    listed = sum(1 << d for d in differences)
    loose = length - len(empty) - 2 * len(differences)
    return (
        brute_force.on_a_circle(listed, row >> 1, length, loose)
        if problem.variant in CIRCLES
        else sequences(listed, row)
    )


def choices(parameters: tuple[Parameter, ...], n: int) -> Iterator[dict[str, int]]:
    """All values of the parameters for n; of the defect those beyond which no row has room."""
    if not parameters:
        yield {}
        return
    first, *others = parameters
    most = n + 2 if first.most is None else first.most(n)
    for value in range(first.least, most + 1):
        for rest in choices(tuple(others), n):
            yield {first.keyword: value, **rest}


def members(longest: int) -> Iterator[tuple[Problem, int, dict[str, int]]]:
    """All pairs of all families with rows of at most this length."""
    for variant in VARIANTS.values():
        for n in range(variant.least, longest // 2 + 2):
            for values in choices(variant.parameters, n):
                if values.get("hole", 0) < values.get("second_hole", 10**9):
                    problem = Problem.named(variant.name, n, **values)
                    if problem.places <= longest:
                        yield problem, n, values


MEMBERS = list(members(MAX_ROW))


@pytest.fixture(scope="module")
def known() -> dict[Problem, int]:
    """The number of sequences of every member, mirror images counted separately."""
    return {problem: expected(problem, n, **values) for problem, n, values in MEMBERS}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_that_applies_counts_every_family(known: dict[Problem, int], method: str) -> None:
    way, wrong = METHODS[method], []
    few = [problem for problem in known if problem.n <= MAX_COLOURS and way.refusal(problem) is None]
    for family in VARIANTS:
        counted = [problem for problem in few if problem.variant == family][::-3]  # the largest one, and others
        assert counted or family in WITHOUT[method]
        wrong += [
            problem.name
            for problem in counted
            if langford.count(problem, method=method, anyway=True) != problem.published(known[problem])
        ]
    assert not wrong


@pytest.mark.exhaustive
def test_the_longest_rows_are_counted(known: dict[Problem, int]) -> None:
    found = [
        problem
        for problem in known
        if problem.n > MAX_COLOURS and problem.places <= LONGEST and problem.obstruction is None
    ]
    # The last one of each family, which is among the longest, and others evenly before.
    longest = [
        problem
        for variant in VARIANTS
        for problem in [problem for problem in found if problem.variant == variant][::-EVERY]
    ]
    assert {problem.variant for problem in longest} == {*VARIANTS}
    assert max(problem.places for problem in longest) == LONGEST
    wrong = [problem.name for problem in longest if langford.count(problem) != problem.published(known[problem])]
    assert not wrong


UNEXPLAINED = [
    "extended-langford-4-defect-3-hole-5",
    "near-rosa-3-missing-2",
    "near-rosa-4-missing-2",
    "extended-rosa-4-hole-5-second-hole-6",
]


def test_obstructions_are_proofs_and_explain_nearly_all_zeros(known: dict[Problem, int]) -> None:
    assert not [problem.name for problem, count in known.items() if problem.obstruction and count]
    unexplained = [problem.name for problem, count in known.items() if not problem.obstruction and not count]
    assert unexplained == UNEXPLAINED


# -- theorems on existence --------------------------------------------------------------------


def congruent(n: int, *residues: int) -> bool:
    return n % 4 in residues


THEOREMS: dict[str, Callable[..., bool]] = {
    # Simpson 1983
    "langford": lambda n, defect: n >= 2 * defect - 1 and congruent(n, 0, 1 if defect % 2 else 3),
    "hooked-langford": lambda n, defect: (
        n * (n - 2 * defect + 1) + 2 >= 0 and congruent(n, 2, 3 if defect % 2 else 1)
    ),
    # Skolem 1957, O'Keefe 1961
    "skolem": lambda n: congruent(n, 0, 1),
    "hooked-skolem": lambda n: congruent(n, 2, 3),
    # Baker 1995
    "extended-skolem": lambda n, hole: congruent(n, 0, 1) if hole % 2 else congruent(n, 2, 3),
    # Shalaby 1994
    "near-skolem": lambda n, missing: congruent(n, 0, 1) if missing % 2 else congruent(n, 2, 3),
    "hooked-near-skolem": lambda n, missing: congruent(n, 2, 3) if missing % 2 else congruent(n, 0, 1),
    # Rosa 1966
    "rosa": lambda n: congruent(n, 0, 3),
    "hooked-rosa": lambda n: congruent(n, 1, 2) and n != 1,
    # Linek and Shalaby 2008
    "extended-rosa": lambda n, hole, second_hole: (
        (congruent(n, 0, 1) if (hole + second_hole) % 2 else congruent(n, 2, 3))
        and (n, hole, second_hole) not in [(1, 2, 3), (4, 5, 6)]
    ),
    # the pairs (k, −k); Skolem 1957, whose sequences are cyclic ones too
    "starter": lambda n: True,
    "cyclic-skolem": lambda n: congruent(n, 0, 1),
    # odd differences around one gap of a row of 2n − 1 places, even ones around one place
    "even-starter": lambda n: True,
}
"""When a sequence exists, by the literature; we know of no theorem for the other families."""


def test_existence_is_that_of_the_literature(known: dict[Problem, int]) -> None:
    wrong = [
        problem.name
        for problem, n, values in MEMBERS
        if problem.variant in THEOREMS and bool(known[problem]) != THEOREMS[problem.variant](n, **values)
    ]
    assert not wrong


@pytest.mark.parametrize("family", [family for family in THEOREMS if family != "extended-rosa"])
def test_zeros_are_those_of_the_literature(family: str) -> None:
    """Longer rows: what parity or room forbid has the count 0 too, and the others have another count."""
    wrong, zeros = [], 0
    for n in range(8, 14):
        for values in choices(VARIANTS[family].parameters, n):
            exists = THEOREMS[family](n, **values)
            problem = Problem.named(family, n, **values)
            assert (problem.obstruction is None) == exists
            # Of many members with the same n some are counted.
            if n < 11 and (sum(values.values()) % 11 == n % 11 or not values):
                zeros += not exists
                if (langford.count(problem, anyway=True) > 0) != exists:
                    wrong.append(problem.name)
    assert not wrong
    assert zeros or family in ("starter", "even-starter")


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", VARIANTS)
def test_names_and_arguments_identify(family: str) -> None:
    for problem, n, values in MEMBERS:
        if problem.variant != family:
            continue
        assert Problem.parse(problem.name) == problem
        assert Problem.parse(problem.words) == problem
        variant, order, *more = problem.arguments if family != "langford" else (family, *problem.arguments)
        given = {word.replace("-", "_"): int(value) for word, value in zip(more[::2], more[1::2], strict=True)}
        assert (variant, int(order)) == (family, n)
        assert Problem.named(variant, int(order), **given) == problem
        assert given.items() <= values.items()


def test_no_two_members_have_the_same_name() -> None:
    problems = {problem for problem, _, _ in MEMBERS}
    assert len({problem.name for problem in problems}) == len(problems) == len(MEMBERS)


def test_listed_sequences_are_those_of_the_definition(known: dict[Problem, int]) -> None:
    for problem, n, values in MEMBERS:
        if problem.places > 11:
            continue
        listed = list(explicit.iterate(problem))
        differences, length, empty = DEFINITIONS[problem.variant](n, **values)
        offset = 1 if problem.variant.endswith("langford") else 0
        for row in listed:
            assert len(row) == length
            holes = {place for place, label in enumerate(row, 1) if not label}
            assert holes >= empty
            assert len(holes) == len(empty) + problem.loose
            for d in differences:
                first, second = (place for place, label in enumerate(row) if label == d - offset)
                assert second - first == d or (problem.circle and second - first == length - d)
        assert len(set(listed)) == len(listed) == problem.published(known[problem])


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "extended-skolem-8",
            "extended-skolem 8 needs hole: write extended-skolem 8 hole 1, or .* from 1 to 17",
        ),
        ("extended-skolem-8-hole-18", "hole of extended-skolem 8 is a number from 1 to 17, not 18"),
        ("extended-skolem-8-missing-3", "extended-skolem takes hole: leave missing out"),
        ("rosa-8-hole-9", "rosa takes no parameter: leave hole out"),
        ("rosa-8-x3", "rosa is defined for pairs only"),
        ("near-skolem-1-missing-1", "near-skolem starts at n = 2, not 1"),
        ("near-skolem-8-missing-9", "missing of near-skolem 8 is a number from 1 to 8, not 9"),
        ("langford-8-defect-1", "defect of langford 8 is a number 2 or more, not 1"),
        ("langford-8-defect-4090", "at most 4,096 long"),
        ("langford-8-defect-3-defect-4", "defect is given twice: 3 and 4"),
        ("extended-rosa-8-hole-8-second-hole-3", "leaves two places empty: give the first one as hole"),
        ("extended-rosa-8-hole-3", "needs second-hole: write .* from 2 to 18 "),
    ],
)
def test_what_is_no_member_is_refused(name: str, says: str) -> None:
    with pytest.raises(BadProblem, match=says):
        Problem.parse(name)


# -- the page ---------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "families.md"


def test_the_page_has_a_line_for_each_family_and_its_smallest_sequence() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \|.*\| `([0-9 .]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert sorted(family for family, _ in listed) == sorted([*VARIANTS, CYCLIC])
    one_pair = Problem.from_differences([1], circle=True)
    for family, row in listed:
        members = [one_pair] if family == CYCLIC else [each for each, _, _ in MEMBERS if each.variant == family]
        smallest = next(row for problem in members for row in explicit.iterate(problem))
        assert row == " ".join(str(label) if label else "." for label in smallest)


def test_the_page_draws_the_smallest_sequence_of_each_family_with_two_differences() -> None:
    drawn = re.findall(r"^([a-z][a-z0-9-]+)\n((?: .*\n)+)", PAGE.read_text(), re.MULTILINE)
    assert sorted(Problem.parse(name).variant for name, _ in drawn) == sorted(VARIANTS)
    for name, picture in drawn:
        found = (
            (problem.name, row)
            for problem, _, _ in MEMBERS
            if problem.variant == Problem.parse(name).variant and problem.n > 1
            for row in explicit.iterate(problem)
        )
        smallest, row = next(found)
        assert smallest == name
        lines = drawing.text(row).plain.splitlines()
        assert picture.splitlines() == [line.rstrip() for line in lines]


def test_the_page_names_the_parameters_and_the_sequences() -> None:
    defined = re.findall(r"^\| `([a-z-]+)` \|(.*)\|$", PAGE.read_text(), re.MULTILINE)
    parameters = {parameter.name for variant in VARIANTS.values() for parameter in variant.parameters}
    for family, variant in VARIANTS.items():
        lines = " ".join(line for name, line in defined if name == family)
        named = parameters & set(re.findall(r"`([a-z-]+)`", lines))
        assert named == {parameter.name for parameter in variant.parameters}
        cited = {sequence.name for sequence in SEQUENCES.values() if sequence.problem(13).variant == family}
        assert cited <= set(re.findall(r"\[(A\d+)\]", lines)) | {"J. E. Miller"}
