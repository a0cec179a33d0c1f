"""The shifted sum: its factors, its tasks against the definition, its seeds, and wide rows."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from langford.arithmetic.residue import residue
from langford.errors import BadSeed, MethodDoesNotApply
from langford.methods import METHODS, PlanKey, merge, plan_of
from langford.methods.shifted.cpu import ShiftedOnCpu
from langford.methods.shifted.factors import Differences, Sums
from langford.methods.shifted.forms import Forms
from langford.methods.shifted.plan import ShiftedPlan
from langford.problem import Problem
from langford.problem.reference import published
from langford.result import PartialResult
from tests.library.test_problem import SMALL_SETS
from tests.library.test_sums import WIDE

SEEDS = st.integers(0, 2**31 - 1)
INNER = 9
VERSIONS = ["shifted", "shifted2"]
UNEQUAL = Problem.from_differences([1, 2, 3, 4], empty=[2])
"""Filled places but the first are a row with a mirror."""


def shifted_plan(problem: Problem, depth: int = 0, seed: int = 0, version: str = "shifted") -> ShiftedPlan:
    """A plan of a version of the method."""
    plan = METHODS[version].plan(problem, depth, seed)
    assert isinstance(plan, ShiftedPlan)
    return plan


def fixed_signs(forms: Forms) -> dict[int, int]:
    """The sign of the place that has +1 throughout, by place; empty where there is none."""
    return {} if forms.fixed is None else {forms.fixed: 1}


def random_point(forms: Forms, random: Random) -> dict[int, int]:
    """Signs by place, a place that is fixed with its own."""
    return {place: random.choice((1, -1)) for place in forms.problem.filled} | fixed_signs(forms)


def all_forms(problem: Problem, seed: int) -> list[Forms]:
    """Those of both versions; the signs of the second one as they are before they are chosen, too."""
    versions: list[Forms] = [Sums(problem, seed), Differences(problem, seed, chosen=False)]
    return [*versions, Differences(problem, seed)] if problem.n <= 8 else versions


def term(plan: ShiftedPlan, x: dict[int, int]) -> int:
    """±Π x_k · Π f_d / 4 by the definition; every factor must be a multiple of 4."""
    values = [form.value(x) for form in plan.forms.all]
    assert all(value % 4 == 0 for value in values)
    return plan.forms.sign * prod(x.values()) * prod(value // 4 for value in values)


def terms(plan: ShiftedPlan, x: dict[int, NDArray[np.int64]]) -> list[int]:
    """:func:`term` at many points: by place the signs of all of them, and products of Python's integers."""
    products = plan.forms.sign * np.prod(list(x.values()), axis=0).astype(object)
    for form in plan.forms.all:
        values = form.constant + sum(form.sign_of_term(i) * x[i] * x[j] for i, j in form.pairs)
        values = values + sum(sign * x[place] for place, sign in form.signs.items())
        assert not np.any(values % 4)
        products = products * (values // 4)
    return list(products)


def definition(plan: ShiftedPlan, index: int) -> PartialResult:
    """What a task must give: its prefixes, all other signs, one point after the other."""
    split, bits = plan.components, plan.prefix_bits
    u_prefixes, v_prefixes = plan.prefixes(index)
    total = survivors = 0
    for u_prefix, v_prefix in product(u_prefixes, v_prefixes):
        fixed = fixed_signs(plan.forms)
        for prefix, order, parity in (
            (u_prefix, split.u_order(bits, INNER), 1),
            (v_prefix, split.v_order(bits, INNER), 2),
        ):
            outer = order[len(order) - bits :]
            fixed |= {2 * element + parity: 1 - 2 * (prefix >> k & 1) for k, element in enumerate(outer)}
        free = [place for place in plan.forms.problem.filled if place not in fixed]
        for signs in product((1, -1), repeat=len(free)):
            here = term(plan, fixed | dict(zip(free, signs, strict=True)))
            total += here
            survivors += here != 0
    value = plan.weight(index) * total
    return PartialResult(index, value, residue(value), survivors)


# -- the factors ------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.one_of(SMALL_SETS, st.sampled_from(WIDE)), SEEDS, st.randoms(use_true_random=False))
def test_every_factor_is_a_multiple_of_4(problem: Problem, seed: int, random: Random) -> None:
    for forms in all_forms(problem, seed):
        x = random_point(forms, random)
        for form in forms.all:
            assert abs(form.constant) <= 2
            assert form.value(x) % 4 == 0
            assert abs(form.value(x) // 4) <= form.bound


@settings(max_examples=40)
@given(st.sampled_from([problem for problem in WIDE if problem.mirrored]), SEEDS, st.randoms(use_true_random=False))
def test_the_mirror_keeps_factors_or_changes_their_signs(problem: Problem, seed: int, random: Random) -> None:
    x = {place: random.choice((1, -1)) for place in problem.filled}
    mirrored = {problem.places + 1 - place: sign for place, sign in x.items()}
    reversed_u = {place: x[problem.places - place] if place % 2 else sign for place, sign in x.items()}
    for forms in all_forms(problem, seed):
        for form in forms.all:
            changes = isinstance(forms, Differences) and form.difference % 2 == 0
            assert form.value(mirrored) == (-1 if changes else 1) * form.value(x)
            if form.difference % 2 == 0:
                assert form.value(reversed_u) == form.value(x)


# -- tasks against the definition -------------------------------------------------------------


SETS = [
    (Problem.from_differences([1, 3, 5, 7]), 2),
    (Problem.from_differences([2, 4, 6], empty=[2, 4]), 2),
    (Problem.from_differences([2, 4], empty=[2, 4, 6]), 0),
    (Problem.from_differences([1, 50, 90]), 2),
    # The hole is on an even place, and on an odd one.
    (Problem.parse("4 holes 1"), 2),
    (Problem.parse("skolem 4 holes 1"), 4),
]
TASKS = {
    "shifted": [
        (Problem.langford(5), 0), (Problem.langford(6), 4), (Problem.langford(6), 6), (Problem.skolem(5), 8),
        (Problem.named("hooked-skolem", 5), 2), (Problem.named("hooked-langford", 5), 0), *SETS,
    ],
    "shifted2": [
        (Problem.langford(3), 2), (Problem.langford(4), 4), (Problem.langford(7), 6), (Problem.langford(7), 8),
        (Problem.skolem(4), 0), (Problem.skolem(5), 8),
        (Problem.named("hooked-skolem", 3), 2), (Problem.named("hooked-skolem", 6), 4),
        (Problem.named("hooked-skolem", 7), 6),
        (Problem.named("hooked-langford", 5), 0), (Problem.named("hooked-langford", 6), 2), (UNEQUAL, 2), *SETS,
        (Problem.from_differences([1, 2, 3, 6], empty=[1, 3]), 2),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("version", "problem", "depth"), [(version, *task) for version in TASKS for task in TASKS[version]], ids=str
)
def test_every_task_is_what_the_definition_says(version: str, problem: Problem, depth: int) -> None:
    plan = shifted_plan(problem, depth, 7, version)
    for index in plan.tasks:
        assert plan.evaluate(index) == definition(plan, index)


@pytest.mark.parametrize("problem", [Problem.langford(11), Problem.named("hooked-skolem", 10)], ids=str)
@pytest.mark.parametrize("version", VERSIONS)
def test_tiles_add_up(problem: Problem, version: str) -> None:
    # Several tiles and blocks of u's for a task, and lines with several words of v1.
    plan = shifted_plan(problem, 0, 0, version)
    small = ShiftedOnCpu(plan, tile_bits=9, u_block_bits=6)
    assert small.evaluate(0) == plan.evaluate(0)


# -- seeds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "share"), [(Problem.langford(12), 0.85), (Problem.named("hooked-skolem", 11), 0.5)], ids=str
)
def test_seeds_and_versions_agree_on_the_count_but_not_on_the_parts(problem: Problem, share: float) -> None:
    """The second version has fewer terms, less than half as many where the row is halved."""
    terms = []
    for version in VERSIONS:
        plans = [shifted_plan(problem, 4, seed, version) for seed in (0, 1, 2)]
        results = [[plan.evaluate(index) for index in plan.tasks] for plan in plans]
        merged = [merge(plan, part) for plan, part in zip(plans, results, strict=True)]
        assert {count.published for count in merged} == {published(problem)}
        assert len({tuple(result.value for result in part) for part in results}) == 3
        terms.append(sum(count.evaluated for count in merged))
    assert terms[1] < share * terms[0]


def test_the_seed_is_part_of_the_plans_identity() -> None:
    key = PlanKey(Problem.langford(8), "shifted", 4, 7)
    assert plan_of(key).key == key
    assert key.name == "langford-8-shifted-4-seed-7"
    default = PlanKey(Problem.langford(8), "shifted", 4)
    assert default.name == "langford-8-shifted-4"
    assert plan_of(default) is not plan_of(key)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_factors_are_found_once_for_all_depths(version: str) -> None:
    problem = Problem.langford(8)
    forms = shifted_plan(problem, 0, 7, version).forms
    assert shifted_plan(problem, 4, 7, version).forms is forms
    assert shifted_plan(problem, 4, 8, version).forms.all != forms.all


def test_seeds_that_do_not_exist_are_refused() -> None:
    with pytest.raises(BadSeed, match="polyphase has no seed"):
        plan_of(PlanKey(Problem.langford(8), "polyphase", 4, 7))
    for seed in (-1, 2**31):
        with pytest.raises(BadSeed, match="from 0 to 2147483647"):
            METHODS["shifted"].plan(Problem.langford(8), 4, seed)


# -- checks and limits ------------------------------------------------------------------------


def test_what_is_too_wide_is_refused() -> None:
    with pytest.raises(MethodDoesNotApply, match="at most 32 colours"):
        METHODS["shifted"].plan(Problem.langford(33), 4)
    with pytest.raises(MethodDoesNotApply, match="at most 124 places"):
        METHODS["shifted"].plan(Problem.from_differences([1], 130, range(1, 129)), 0)


# -- wide rows --------------------------------------------------------------------------------


def places_of(plan: ShiftedPlan) -> tuple[list[int], list[int]]:
    """The places of the bits of u and of v, from the lowest bit on, as the kernel has them."""
    split = plan.components
    return (
        [2 * element + 1 for element in split.u_order(0, INNER)][::-1],
        [2 * element + 2 for element in split.v_order(0, INNER)][::-1],
    )


def signs_at(components: NDArray[np.int64], places: list[int]) -> dict[int, NDArray[np.int64]]:
    """Signs by place of many components that are given as bits."""
    return {place: 1 - 2 * (components >> k & 1) for k, place in enumerate(reversed(places))}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("problem", "version"),
    # The last one has a kernel of its own: more than 16 odd forms.
    [
        (Problem.langford(28), "shifted2"),
        (Problem.parse("32 holes 1"), "shifted2"),
        (Problem.from_differences(range(1, 64, 2)), "shifted"),
    ],
    ids=lambda value: value.name[:30] if isinstance(value, Problem) else str(value),
)
def test_blocks_of_wide_rows(problem: Problem, version: str) -> None:
    plan = shifted_plan(problem, 0, 0, version)
    processor = ShiftedOnCpu(plan, tile_bits=10)
    u_places, v_places = places_of(plan)
    random = Random(problem.n)
    for tile in (0, random.getrandbits(len(v_places) - 10)):
        us = [0, *(random.getrandbits(len(u_places)) for _ in range(3))]
        first = tile << 10
        total, rest, survivors = processor.sum_over([processor.u_block(np.array(us))], [first])
        beside = fixed_signs(plan.forms)
        x = signs_at(np.repeat(us, 1024), u_places) | signs_at(np.tile(np.arange(first, first + 1024), 4), v_places)
        x |= {place: np.full(4096, sign) for place, sign in beside.items()}
        expected = terms(plan, x)
        assert expected[:2] == [term(plan, {place: int(signs[k]) for place, signs in x.items()}) for k in (0, 1)]
        assert plan.forms.sign * total == sum(expected)
        assert rest == residue(total)
        assert survivors == sum(value != 0 for value in expected)


NEGATIVE = [4, 5, 6, 9, 11, 15, 23, 33, 38]
"""Places with −1 at a point of L(27) whose product has two factors of 2 only: most above 2^53 have many."""


def test_a_product_little_above_2_to_the_53rd_is_exact() -> None:
    plan = shifted_plan(Problem.langford(27))
    processor = ShiftedOnCpu(plan, tile_bits=10)
    u_places, v_places = places_of(plan)
    u, v = (
        sum(1 << k for k, place in enumerate(reversed(run)) if place in NEGATIVE) for run in (u_places, v_places)
    )
    first = v >> 10 << 10
    points = signs_at(np.full(1024, u), u_places) | signs_at(np.arange(first, first + 1024), v_places)
    expected = terms(plan, points)
    product = abs(expected[v - first])
    assert 2**53 < product < 2**56
    assert int(float(product)) != product
    assert processor.sum_over([processor.u_block(np.array([u]))], [first])[0] == sum(expected)


def test_products_beyond_a_double_are_exact() -> None:
    plan = shifted_plan(Problem.langford(32))
    processor = ShiftedOnCpu(plan, tile_bits=10)
    u_places, v_places = places_of(plan)
    expected = terms(plan, signs_at(np.zeros(1024, np.int64), u_places) | signs_at(np.arange(1024), v_places))
    # All signs +1 gives the largest factors.
    assert abs(expected[0]) == max(map(abs, expected)) > 2**53
    assert processor.sum_over([processor.u_block(np.array([0]))], [0])[0] == sum(expected)
