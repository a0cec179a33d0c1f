"""Problems: construction, names, symmetry, existence."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import langford
from langford.errors import BadProblem
from langford.problem import Problem
from tests.support.brute_force import arrangements
from tests.support.problems import SMALL_SETS


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Problem.langford(0), "at least 1"),
        (lambda: Problem.langford(-3), "at least 1"),
        (lambda: Problem.langford(4, 1), "at least 2 cubes"),
        (lambda: Problem.named("langfrod", 4), "unknown variant 'langfrod': choose one of langford"),
        (lambda: Problem.named("hooked-skolem", 4, 3), "pairs only"),
        (lambda: Problem.from_differences([3, 2, 1, 2]), "distinct and at least 1: 2 is given twice"),
        (lambda: Problem.from_differences([2, 0, 1]), "distinct and at least 1: 0 is not"),
        (lambda: Problem.from_differences([0, 2]), "at least 1"),
        (lambda: Problem.from_differences([]), "at least 1"),
        (lambda: Problem.from_differences([1, 2], 5), "4 places, not 5"),
        (lambda: Problem.from_differences([1, 2], 5, [6]), "from 1 to 5: 6 is not"),
        (lambda: Problem.from_differences([1, 2], empty=[4, 1, 4]), "distinct and from 1 to 7: 4 is given twice"),
        (lambda: Problem.from_differences([1, 4], circle=True), "circle of 4 are at most 2 apart: .* 4 is that of"),
        (lambda: Problem.from_differences([1, 2, 4], 7, [3], circle=True), "7 .* difference 4 is the same as 3"),
        (lambda: Problem.from_differences([1, 2], copies=3, circle=True), "a circle takes pairs only"),
        (lambda: Problem.from_differences([1, 3.5], circle=True), "difference must be a whole number, not 3.5"),
        (lambda: Problem.parse("cyclic-1.3-over-4"), "difference 3 is the same as 1"),
        (lambda: Problem.parse("langford"), "langford needs a number, like 12, after it"),
        (lambda: Problem.parse("langford-٤"), "no family 'langford-٤': did you mean langford"),
        (lambda: Problem.parse("differences-1..2-over-4"), "must be numbers with commas between"),
        (lambda: Problem.parse(f"differences-{'9' * 5000}-over-2"), "must be numbers with commas .* not '9{30}'$"),
        (lambda: Problem.langford(4.0), "n must be a whole number, not 4.0"),
        (lambda: Problem.langford("4"), "n must be a whole number, not '4'"),
        (lambda: Problem.langford(4, None), "copies must be a whole number, not None"),
        (lambda: Problem.from_differences([1, 2.5]), "difference must be a whole number, not 2.5"),
        (lambda: Problem.from_differences([1, 3], empty=[1.5]), "place must be a whole number, not 1.5"),
        (lambda: Problem.from_differences([1, 3], float("nan")), "places must be a whole number, not nan"),
        (lambda: Problem.from_differences([5000]), "at most 4,096 long"),
        (lambda: Problem.from_differences([1], empty=range(1, 5000)), "at most 4,096 long"),
    ],
)
def test_bad_problems_are_refused(build, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadProblem, match=says):
        build()


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.int64, np.uint64])
def test_integers_of_numpy_are_as_good_as_others(kind: type[np.integer]) -> None:
    differences, filled = (7, 18, 63), {1, 8, 2, 20, 30, 93}
    empty = [place for place in range(1, 94) if place not in filled]
    problem = Problem.from_differences(np.array(differences, kind), 93, np.array(empty, kind))
    assert problem == Problem.from_differences(differences, 93, empty)
    assert repr(problem) == repr(Problem.from_differences(differences, 93, empty))
    assert langford.count(problem, method="shifted") == 1
    assert Problem.langford(kind(100)).places == 200


@given(SMALL_SETS)
def test_obstructions_are_proofs(problem: Problem) -> None:
    if problem.obstruction:
        assert arrangements(problem) == 0


def test_self_mirrored_arrangement() -> None:
    nested = Problem.from_differences([1, 3, 5])
    assert (nested.self_mirrored, arrangements(nested)) == (1, 1)
    assert nested.published(1) == 1


def filled_at_random(problem: Problem, random: Random) -> Problem | None:
    """A row that has an arrangement: the colours of a problem at random places, and holes everywhere else."""
    filled: set[int] = set()
    for d in problem.differences:
        starts = random.sample(range(1, problem.places + 1), problem.places)
        colours = ({start + d * cube for cube in range(problem.copies)} for start in starts)
        filled |= next((cubes for cubes in colours if not cubes & filled), set())
    if len(filled) < problem.n * problem.copies:
        return None
    empty = {*range(1, max(filled) + 1)} - filled
    return Problem.from_differences(problem.differences, max(filled), empty, problem.copies)


MANY_CUBES = st.builds(
    Problem.from_differences,
    st.sets(st.integers(1, 20), min_size=1, max_size=7),
    copies=st.sampled_from([2, 3, 4, 5, 6, 8, 9, 12, 16, 27]),
)


@pytest.mark.exhaustive
@settings(max_examples=100)
@given(MANY_CUBES, st.randoms(use_true_random=False))
def test_a_row_that_has_an_arrangement_has_no_obstruction(problem: Problem, random: Random) -> None:
    row = filled_at_random(problem, random)
    assert row is None or row.obstruction is None


def classes_can_be_filled(problem: Problem, p: int, q: int) -> bool:
    """Whether colours can fill the classes modulo q = p^e of a row, by trying all ways to share them out.

    A colour whose difference has the factor p^j, not p^(j+1), fills alike all classes that are equal modulo p^j.
    """
    levels = [p**j for j in range(10) if p**j <= q]
    numbers = [
        sum(d % level == 0 and (level == q or d % (p * level) > 0) for d in problem.differences) for level in levels
    ]
    start = tuple(sum(place % q == r for place in problem.filled) for r in range(q))
    reached = {start}
    for level, number in zip(levels, numbers, strict=True):
        cubes = problem.copies * level // q
        for _ in range(number):
            reached = {
                tuple(left - cubes * (r % level == first) for r, left in enumerate(each))
                for each in reached
                for first in range(level)
            }
            reached = {each for each in reached if min(each) >= 0}
    return bool(reached)


@settings(max_examples=100)
@given(st.sampled_from([(2, 2, 2), (3, 3, 3), (4, 2, 4), (6, 2, 2), (6, 3, 3), (9, 3, 9)]), st.data())
def test_classes_are_all_that_divisibility_says(powers: tuple[int, int, int], data: st.DataObject) -> None:
    """An obstruction by parity or divisibility where, and only where, no choice of classes fills the row."""
    s, p, q = powers
    differences = data.draw(st.sets(st.integers(1, 12), min_size=1, max_size=5))
    holes = data.draw(st.sets(st.integers(1, s * len(differences)), max_size=8))
    places = s * len(differences) + len(holes)
    problem = Problem.from_differences(differences, places, holes, s)
    powers_of_s = [(2, 2), (3, 3)] if s == 6 else [(p, q)]
    possible = all(classes_can_be_filled(problem, *each) for each in powers_of_s)
    if not possible:
        assert problem.obstruction is not None
        assert problem.obstruction.startswith(("by parity", "by divisibility", "for lack of space: difference"))
    elif problem.obstruction is not None:
        assert problem.obstruction.startswith("for lack of space")


@pytest.mark.parametrize(
    ("copies", "defect", "modulus", "possible"),
    [(2, 1, 4, (0, 1)), (2, 2, 4, (3, 0)), (3, 1, 9, (0, 1, 2)), (3, 2, 9, (8, 0, 1)), (4, 1, 8, (0, 1)),
     (4, 2, 8, (7, 0)), (8, 1, 16, (0, 1)), (9, 1, 27, (0, 1, 2)), (5, 1, 25, (0, 1, 2, 3, 4)),
     (6, 1, 36, (0, 1, 9, 20, 28, 29)), (12, 1, 72, (0, 1, 9, 56, 64, 65))],
)  # fmt: skip
def test_orders_without_an_obstruction(copies: int, defect: int, modulus: int, possible: tuple[int, ...]) -> None:
    orders = range(2 * defect, 2 * defect + 2 * modulus)
    rows = [Problem.from_differences(range(defect, defect + n), copies=copies) for n in orders]
    found = [n for n, row in zip(orders, rows, strict=True) if row.obstruction is None]
    assert found == [n for n in orders if n % modulus in possible]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("copies", [3, 4, 6])
def test_obstructions_of_many_cubes_are_proofs(n: int, copies: int) -> None:
    for first in (1, 2, 3):
        problem = Problem.from_differences(range(first, first + n), copies=copies)
        assert problem.obstruction is None or not arrangements(problem)


def test_classes_need_room_for_the_multiples_that_are_left() -> None:
    """Each class modulo 4 has room for one colour; two multiples of 4 and two of 2 are to fill them."""
    problem = Problem.parse("differences 1,3,4,5,7,8 over 25 copies 4 empty 21")
    assert (problem.obstruction or "").startswith("by divisibility: the 4 classes modulo 4 have 6 places each")
    assert not arrangements(problem)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cyclic-2.4-over-8-empty-1.2.5.6", "difference 2 does not fit into 8 places with places 1, 2, 5, 6 empty"),
        ("cyclic-1.4-over-8-empty-1.2.5.6", "with 1 odd difference, 2 odd and 2 even places cannot be filled"),
        ("cyclic-1.3.5-over-10-empty-1.3.5.7", "with 3 odd differences, 1 odd and 5 even places cannot be filled"),
        ("cyclic-1.2.4-over-8-empty-1.4", None),
    ],
)
def test_holes_on_a_circle_that_leave_no_chance(name: str, says: str | None) -> None:
    problem = Problem.parse(name)
    assert str(problem).endswith(f"on a circle of {problem.places} places, empty: {str(problem.empty)[1:-1]}")
    assert (problem.obstruction or "").endswith(says or "")
    assert (problem.obstruction is None) == (says is None) == (arrangements(problem) > 0)
