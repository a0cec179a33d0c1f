"""Rows on a circle, with any differences and holes: against brute force, their symmetries and the identities."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langford.methods import METHODS, merge
from langford.methods.backtracking import explicit
from langford.methods.necklace.limits import MAX_HOLES, NONE
from langford.methods.necklace.plan import NecklacePlan
from langford.problem import Problem
from langford.problem.recognition import labelled
from tests.support import brute_force
from tests.support.problems import CIRCLES

BACKTRACKING = st.sampled_from(["miller", "regular"])


def counted(problem: Problem, method: str, depth: int, seed: int = 0) -> int:
    plan = METHODS[method].plan(problem, depth, seed)
    return merge(plan, map(plan.evaluate, plan.tasks)).arrangements


def circle(places: int) -> Problem:
    """With every difference, and a hole in place 1 where the number of places is odd."""
    return Problem.from_differences(range(1, places // 2 + 1), places, range(1, 1 + places % 2), circle=True)


@settings(max_examples=40)
@given(CIRCLES, st.data())
def test_every_method_counts_what_brute_force_counts(problem: Problem, data: st.DataObject) -> None:
    expected = brute_force.arrangements(problem)
    assert not (problem.obstruction and expected)
    for name in ("miller", "regular", "necklace"):
        method = METHODS[name]
        if method.refusal(problem) is None:
            depth = data.draw(st.sampled_from(method.depths(problem)[:8]))
            seed = data.draw(st.integers(0, 3)) if method.seeded else 0
            assert counted(problem, name, depth, seed) == expected
        else:
            assert (name, len(problem.empty) > 1) == ("necklace", True)
    if expected < 1000:
        listed = list(explicit.iterate(problem))
        assert len(set(listed)) == len(listed) == problem.published(expected)
        assert all(labelled(problem, each) == each for each in listed)


@settings(max_examples=40)
@given(CIRCLES, BACKTRACKING, st.data())
def test_turning_reflecting_and_units_keep_the_count(problem: Problem, method: str, data: st.DataObject) -> None:
    """The places are numbers modulo their number m: k → a k + b for each a that has no factor in common with m."""
    m = problem.places
    a = data.draw(st.sampled_from([unit for unit in range(1, m + 1) if math.gcd(unit, m) == 1]))
    b = data.draw(st.integers(0, m - 1))
    image = Problem.from_differences(
        [min(a * d % m, -a * d % m) for d in problem.differences],
        m,
        [(a * place + b) % m + 1 for place in problem.empty],
        circle=True,
    )
    assert counted(image, method, 1) == counted(problem, method, 1)


@given(st.integers(2, 20), st.integers(0, 2), st.data())
def test_units_keep_the_terms_of_the_sum(places: int, seed: int, data: st.DataObject) -> None:
    plan = METHODS["necklace"].plan(circle(places), 2, seed)
    assert isinstance(plan, NecklacePlan)
    plan.targets = [NONE] + plan.targets[1:2] * (places // 2)  # a unit permutes the differences
    word = data.draw(st.integers(0, 2**places - 1))
    a = data.draw(st.sampled_from([unit for unit in range(1, places + 1) if math.gcd(unit, places) == 1]))
    assert plan.term(word) == plan.term(sum((word >> a * k % places & 1) << k for k in range(places)))


def circles_with_holes(places: int) -> list[Problem]:
    """With every number of holes, one of them in place 1; with the smallest differences, and with the largest."""
    most, found = places // 2, []
    for holes in range(places % 2, min(MAX_HOLES, places - 2) + 1, 2):
        pairs = (places - holes) // 2
        for differences in dict.fromkeys((range(1, pairs + 1), range(most - pairs + 1, most + 1))):
            empty, others = ((1,), holes - 1) if holes else ((), 0)
            found.append(Problem.from_differences(differences, places, empty, circle=True, holes=others))
    return found


WITH_HOLES = [problem for places in range(2, 14) for problem in circles_with_holes(places)]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_identity_over_all_sequences(seed: int) -> None:
    """With the autocorrelations A_d themselves, and the constants that a plan chose: e_d − D_d/2 = (A_d + c)/4."""
    for problem in WITH_HOLES:
        plan = METHODS["necklace"].plan(problem, 2, seed)
        assert isinstance(plan, NecklacePlan)
        places = problem.places
        signs = 1 - 2 * (np.arange(2**places)[:, None] >> np.arange(places) & 1)
        weights = signs.sum(axis=1) // (1 if places % 2 else 2)
        terms = signs.prod(axis=1) * weights ** (len(problem.empty) + problem.loose)
        for d in problem.differences:
            autocorrelation = (signs * np.roll(signs, d, axis=1)).sum(axis=1)
            terms *= (autocorrelation + 4 * plan.targets[d] - places) // 4
        assert plan.multiplier * 2 * brute_force.arrangements(problem) == terms.sum(), problem


@pytest.mark.parametrize("places", [9, 10, 11, 13, 16])
def test_every_depth_of_two_sums_has_the_same_total(places: int) -> None:
    problem = circle(places)
    depths = METHODS["necklace"].depths(problem)
    counts = {counted(problem, "necklace", depth, seed) for depth in depths for seed in (0, 1)}
    assert counts == {brute_force.arrangements(problem)}
