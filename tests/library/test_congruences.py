"""Congruences of counts: against brute force over all small circles, and published counts of larger ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import prod
from pathlib import Path

import pytest
from hypothesis import given

from langford.arithmetic.residue import residue
from langford.errors import CheckFailed
from langford.methods import METHODS, merge
from langford.methods.plan import Plan
from langford.problem import Problem
from langford.problem.congruences import Congruence, mirror_congruence, unit_congruences
from langford.result import PartialResult
from tests.library.test_necklace import CYCLIC_SKOLEM, STARTERS
from tests.support.brute_force import arrangements
from tests.support.problems import SMALL_SETS

ROOT = Path(__file__).parents[2]


def circles(places: int) -> Iterator[Problem]:
    """With every set of differences and of holes, one of which is place 1."""
    for n in range(1, places // 2 + 1):
        empty = places - 2 * n
        others = list(combinations(range(2, places + 1), empty - 1)) if empty else [()]
        for differences in combinations(range(1, places // 2 + 1), n):
            for holes in others:
                yield Problem.from_differences(differences, places, (1, *holes) if empty else (), circle=True)


def holds(problem: Problem) -> set[Congruence]:
    """All congruences of a problem, after they were compared with its number of arrangements."""
    count = arrangements(problem)
    mirror = mirror_congruence(problem)
    assert mirror is None or mirror.holds(count), problem
    units = {*unit_congruences(problem)}
    assert all(each.holds(problem.published(count)) for each in units), problem
    return units | ({mirror} if mirror is not None else set())


def test_all_circles_of_up_to_eleven_places_have_all_kinds_of_congruences() -> None:
    found = {places: {each for problem in circles(places) for each in holds(problem)} for places in range(3, 12)}
    assert all(any(each.modulus > 1 for each in kinds) for kinds in found.values())
    every = set[Congruence]().union(*found.values())
    assert {Congruence(*each) for each in ((2, 0), (2, 1), (4, 0), (4, 1), (20, 0), (3, 0), (5, 0))} <= every


@given(SMALL_SETS)
def test_a_row_has_its_mirror_alone(problem: Problem) -> None:
    assert holds(problem) == ({Congruence(2, problem.self_mirrored)} if problem.mirrored else set())


def two_part(n: int) -> int:
    return 2 * n & -2 * n


@pytest.mark.parametrize("n", STARTERS)
def test_published_starters(n: int) -> None:
    problem = Problem.named("starter", n)
    mirror, units = mirror_congruence(problem), unit_congruences(problem)
    assert mirror is not None
    assert mirror.remainder == 1
    if all((2 * n + 1) % p for p in range(2, 2 * n + 1)):
        assert mirror.modulus == two_part(n)
    for each in (mirror, *units):
        assert each.holds(STARTERS[n])


@pytest.mark.parametrize("n", CYCLIC_SKOLEM)
def test_published_cyclic_skolem_sequences(n: int) -> None:
    problem = Problem.named("cyclic-skolem", n)
    assert mirror_congruence(problem) == Congruence(4 * n if n > 1 else 1, 0)
    for each in unit_congruences(problem):
        assert each.holds(CYCLIC_SKOLEM[n])


QUOTED = re.findall(
    r"\| (\d+) \| ([\d,]+) \| (starters|cyclic Skolem) \| (none|[\d;mod ]+) \|",
    (ROOT / "docs/records.md").read_text(),
)


def test_records_quote_them() -> None:
    assert len(QUOTED) == 16


@pytest.mark.parametrize(("n", "count", "family", "quoted"), QUOTED)
def test_the_congruences_beside_the_counts_of_records(n: str, count: str, family: str, quoted: str) -> None:
    problem = Problem.named("starter" if family == "starters" else "cyclic-skolem", int(n))
    mirror = mirror_congruence(problem)
    assert mirror is not None
    assert mirror.holds(int(count.replace(",", "")) * problem.images)
    found = [*([mirror] if problem.empty else []), *unit_congruences(problem)]
    assert ("; ".join(each.words for each in found) or "none") == quoted
    assert all(each.holds(int(count.replace(",", ""))) for each in found)


def raised(plan: Plan, results: list[PartialResult], arrangements: int) -> list[PartialResult]:
    """The results of all tasks with that many arrangements more: all that their own tasks check is right."""
    largest = max(plan.tasks, key=lambda index: plan.work[index])
    value = results[largest].value + plan.multiplier * arrangements
    wrong = replace(results[largest], value=value, residue=residue(value))
    plan.expectation(largest).check(wrong)
    return [*results[:largest], wrong, *results[largest + 1 :]]


@pytest.mark.parametrize(
    ("problem", "modulus", "says", "units"),
    [
        (Problem.named("starter", 6), 4, "should be 1 mod 4, by its symmetries", [(3, 1)]),
        (Problem.named("starter", 8), 16, "should be 1 mod 16, by its symmetries", []),
        (Problem.named("starter", 9), 2, "should be 1 mod 2, by its symmetries", [(9, 3)]),
        (Problem.named("cyclic-skolem", 4), 16, "do not come in sets of 16 images", []),
        (Problem.named("cyclic-skolem", 5), 20, "do not come in sets of 20 images", []),
    ],
)
def test_a_merge_refuses_every_number_between(
    problem: Problem, modulus: int, says: str, units: list[tuple[int, int]]
) -> None:
    plan = METHODS["necklace"].plan(problem, 2)
    results = [plan.evaluate(index) for index in plan.tasks]
    right = merge(plan, results)
    words = "rotations and reflections" if not problem.empty else f"count is 1 mod {modulus}"
    unit_words = [f"count is {left} mod {order}, as a unit of order {order} requires" for order, left in units]
    one_in = prod(order for order, _ in units) * (modulus if problem.empty else 1)
    passing = [f"one wrong count in {one_in} passes these congruences"] if one_in > 1 else []
    first, *others = right.checks[-1 - len(units) - len(passing) :]
    assert words in first
    assert others == unit_words + passing
    whole = modulus * prod(order for order, _ in units)
    assert merge(plan, raised(plan, results, whole)).arrangements == right.arrangements + whole
    for step in range(1, whole):
        with pytest.raises(CheckFailed, match=says if step % modulus else "but its symmetries require"):
            merge(plan, raised(plan, results, step))


def test_a_search_on_a_circle_with_holes_is_checked_too() -> None:
    problem = Problem.from_differences([1, 2, 4], 9, [1, 3, 8], circle=True)
    plan = METHODS["miller"].plan(problem, 1)
    results = [plan.evaluate(index) for index in plan.tasks]
    mirror = mirror_congruence(problem)
    assert mirror is not None
    assert f"count is {mirror.words}" in merge(plan, results).checks[-2]
    with pytest.raises(CheckFailed, match=f"should be {mirror.words}"):
        merge(plan, raised(plan, results, 1))
