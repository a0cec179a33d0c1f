"""Which problem an arrangement solves, what is wrong with it, and whether it is planar."""

from __future__ import annotations

import re
from itertools import combinations, islice, pairwise, product

import pytest

from langford.errors import BadProblem
from langford.methods.backtracking import explicit
from langford.problem import Problem
from langford.problem.recognition import is_planar, labelled, recognised
from langford.problem.variants import VARIANTS

WORDS = [
    "7", "9 copies 3", "7 defect 3", "skolem 5", "skolem 9 copies 3", "hooked-langford 5", "hooked-skolem 6",
    "extended-skolem 5 hole 3", "near-skolem 5 missing 3", "hooked-near-skolem 4 missing 2", "hooked-rosa 5",
    "extended-langford 5 hole 4", "near-rosa 5 missing 3", "near-starter 5 missing 2",
    "extended-rosa 4 hole 2 second-hole 7", "starter 4", "rosa 4", "cyclic-skolem 5", "even-starter 5",
    "differences 1,3,4,6 over 9 empty 4", "cyclic 1,3 empty 1,2,4",
]  # fmt: skip


def test_the_words_have_every_family() -> None:
    assert {Problem.parse(words).variant for words in WORDS} >= {*VARIANTS}


@pytest.mark.parametrize("words", [*WORDS, "skolem 4 fold 2", "4 holes 1"])
def test_an_arrangement_has_the_labels_of_its_family_or_of_another(words: str) -> None:
    problem = Problem.parse(words)
    offset = problem.differences[0] - problem.label(problem.differences[0])
    for arrangement in islice(explicit.iterate(problem), 20):
        assert labelled(problem, arrangement) == arrangement
        others = tuple(label and label + 2 * offset - 1 for label in arrangement)
        if offset or 1 not in arrangement:
            assert labelled(problem, others) == arrangement


@pytest.mark.parametrize("words", [*WORDS, "skolem 4 fold 2", "4 fold 2", "skolem 5 fold 3"])
def test_an_arrangement_is_recognised(words: str) -> None:
    problem = Problem.parse(words)
    for arrangement in islice(explicit.iterate(problem), 40):
        found = recognised(arrangement)
        # A circle that is a row too is one; a row may be a member of several families.
        assert labelled(found, arrangement) == arrangement
        assert found.pattern == problem.pattern or (problem.circle and not found.circle)
        assert found.variant in VARIANTS or problem.variant == found.variant or problem.circle


@pytest.mark.parametrize(
    ("cubes", "says"),
    [
        (
            (3, 1, 2, 1, 2, 3),
            "colour 2 is at 3 and 5, 1 cube between, not 2; colour 3 is at 1 and 6, 4 cubes",
        ),
        ((2, 3, 1, 2, 1), r"colour 3 has 1 cube \(at place 2\), not 2"),
        ((1, 1, 1, 2, 0, 2), r"colour 1 has 3 cubes \(at places 1, 2, 3\), not 2"),
        ((1,) * 2000 + (2, 2), r"2,000 cubes \(at places 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1,990 more\), not 2"),
        ((1, 1, 2, 3, 2), r"colour 3 has 1 cube \(at place 4\), not 2"),
        ((0, 0), "has cubes"),
        ((1, 2, 3, 4, 5), "; and 2 more faults"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(cubes: tuple[int, ...], says: str) -> None:
    with pytest.raises(BadProblem, match=says):
        recognised(cubes)


@pytest.mark.parametrize("words", ["skolem 1", "starter 2", "hooked-skolem 2", "skolem 2 fold 2", "even-starter 2"])
def test_every_row_is_right_or_says_what_is_wrong(words: str) -> None:
    problem = Problem.parse(words)
    faults = [fault_of(problem, cubes) for cubes in product(range(3), repeat=problem.places)]
    assert faults.count("") >= len([*explicit.iterate(problem)])
    assert all(re.match("colour|place|its cubes|$", fault) for fault in faults)


def fault_of(problem: Problem, cubes: tuple[int, ...]) -> str:
    try:
        labelled(problem, cubes)
    except BadProblem as error:
        return str(error)
    return ""


def planar_by_trying(arrangement: tuple[int, ...]) -> bool:
    places: dict[int, list[int]] = {}
    for place, label in enumerate(arrangement):
        if label:
            places.setdefault(label, []).append(place)
    lines = [pair for at in places.values() for pair in pairwise(at)]
    crossing = [
        (one, other)
        for (one, (a, b)), (other, (c, d)) in combinations(enumerate(lines), 2)
        if a < c < b < d or c < a < d < b
    ]
    return any(
        all(sides[one] != sides[other] for one, other in crossing)
        for sides in product((False, True), repeat=len(lines))
    )


@pytest.mark.exhaustive
def test_planar_is_what_trying_all_sides_finds() -> None:
    seen = set()
    for words in ("3", "4", "7", "skolem 5", "hooked-skolem 6", "9 copies 3", "skolem 2 copies 4 holes 3"):
        for arrangement in islice(explicit.iterate(Problem.parse(words)), 20):
            assert is_planar(arrangement) == planar_by_trying(arrangement), arrangement
            seen.add(is_planar(arrangement))
    assert seen == {False, True}
