"""The algebraic sums against their definition: random difference sets, and wide rows.

Small sets are summed over all points by brute force.  For rows of up to 65 places single
blocks of points are, with Python's integers: every width that the kernels can take occurs,
the extreme points (all signs equal) among them.
"""

from __future__ import annotations

from math import factorial, prod
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import langford
from langford.arithmetic.residue import residue
from langford.errors import BadDepth, MethodDoesNotApply
from langford.methods import METHODS, merge
from langford.methods.godfrey.cpu import GodfreyOnCpu
from langford.methods.godfrey.plan import GodfreyPlan
from langford.methods.polyphase.cpu import PolyphaseOnCpu
from langford.methods.polyphase.kernels.polyphase import coefficient_rows
from langford.methods.polyphase.plan import PolyphasePlan
from langford.methods.polyphase.tables import OddLags, PolyphaseUBlock
from langford.problem import Problem
from tests.support.brute_force import arrangements, godfrey_sum, orbit
from tests.support.problems import FOLDED_SETS, HOLED_SETS, SMALL_SETS


@given(st.one_of(SMALL_SETS, FOLDED_SETS, HOLED_SETS))
@settings(max_examples=20)
def test_random_sets_sum_to_the_definition(problem: Problem) -> None:
    total = godfrey_sum(problem)
    points = 2 ** len(problem.filled)
    assert total == points * arrangements(problem) * problem.orders * factorial(problem.loose)
    for method in ("polyphase", "shifted", "shifted2", "godfrey"):
        if METHODS[method].refusal(problem) is None:
            plan = METHODS[method].plan(problem, 0)
            values = [plan.evaluate(index).value for index in plan.tasks]
            assert sum(values) * points * problem.orders == total * plan.multiplier


@pytest.mark.exhaustive
@given(st.one_of(SMALL_SETS, FOLDED_SETS, HOLED_SETS), st.data())
@settings(max_examples=15)
def test_random_sets_at_random_depths(problem: Problem, data: st.DataObject) -> None:
    method = data.draw(st.sampled_from(sorted(METHODS)))
    assume(METHODS[method].refusal(problem) is None)
    depth = data.draw(st.sampled_from(list(METHODS[method].depths(problem))))
    seed = data.draw(st.integers(0, 2**31 - 1)) if METHODS[method].seeded else 0
    plan = METHODS[method].plan(problem, depth, seed)
    results = [plan.evaluate(index) for index in plan.tasks]
    assert merge(plan, results).arrangements == arrangements(problem)


HALVED = ["differences-3.4-over-6-empty-3.5", "differences-1.2.3.5.6.7.14-over-16-empty-13.15"]
"""An even difference has an odd number of terms: its sum is odd at all points."""


@pytest.mark.parametrize("name", HALVED)
def test_odd_sums_of_even_differences_are_not_halved(name: str) -> None:
    problem = Problem.parse(name)
    with pytest.raises(MethodDoesNotApply, match="odd number of terms"):
        METHODS["polyphase"].plan(problem, 0)
    assert langford.count(problem) == arrangements(problem) > 0


@pytest.mark.parametrize("filled", [{1, 3, 10, 12}, {2, 4, 25, 27}], ids=str)
def test_runs_of_places_that_no_difference_joins(filled: set[int]) -> None:
    problem = Problem.from_differences((1, 2), empty=set(range(1, max(filled) + 1)) - filled)
    plan = METHODS["polyphase"].plan(problem, 0)
    assert isinstance(plan, PolyphasePlan)
    assert not merge(plan, [plan.evaluate(0)]).arrangements
    split = plan.split
    rows, steps = np.ones((2, split.v_length, 8), np.int16)
    forms = OddLags(split.u_length, split.v_length, split.offset, np.array(split.odd), split.alt_sign)
    signs = np.zeros((2, split.u_length + 2 * forms.padding), np.int16)
    coefficient_rows.py_func(0, forms, rows, steps, signs)
    assert not rows.any()


def summand(problem: Problem, signs: dict[int, int]) -> int:
    """Π x_k · Π S_d by the definition."""
    sums = [sum(signs[k] * signs[k + d] for k in signs if k + d in signs) for d in problem.differences]
    return prod(signs.values()) * prod(sums)


WIDE = [
    *(Problem.langford(n) for n in (16, 19, 20, 23, 24, 25, 27, 28, 31, 32)),
    *(Problem.skolem(n) for n in (24, 29, 32)),
    Problem.parse("skolem 14 fold 2"),
    Problem.named("hooked-skolem", 31),
]


def component_places(problem: Problem, parity: int) -> list[int]:
    """Places of u (odd) or v (even) in paired order, most significant bit first."""
    run = [place for place in problem.filled if place % 2 == parity]
    return [run[k // 2] if k % 2 == 0 else run[-1 - k // 2] for k in range(len(run))]


def signs_of(component: int, places: list[int]) -> dict[int, int]:
    """Signs by place of a component given as bits."""
    width = len(places)
    return {place: -1 if component >> (width - 1 - k) & 1 else 1 for k, place in enumerate(places)}


def images(problem: Problem, signs: dict[int, int]) -> list[dict[int, int]]:
    """The eight images of a point, from the definition of reversal and alternation."""
    found = []
    for reverse_u in (False, True):
        for reverse_v in (False, True):
            image = {}
            for parity, backwards in ((1, reverse_u), (0, reverse_v)):
                run = [place for place in problem.filled if place % 2 == parity]
                source = run[::-1] if backwards else run
                image |= {place: signs[other] for place, other in zip(run, source, strict=True)}
            found.append(image)
            flipped = dict(image)
            for parity in (1, 0):
                run = [place for place in problem.filled if place % 2 == parity]
                flipped |= {place: -image[place] for place in run[1::2]}
            found.append(flipped)
    return found


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "problem",
    # One whose lanes are split, one of three products, and the widest.
    [Problem.langford(24), Problem.langford(27), WIDE[-1]],
    ids=lambda problem: problem.name,
)
def test_polyphase_blocks_of_wide_rows(problem: Problem) -> None:
    plan = METHODS["polyphase"].plan(problem, 0)
    assert isinstance(plan, PolyphasePlan)
    processor = PolyphaseOnCpu(plan, tile_bits=6)  # one word of v's
    split, random = plan.split, Random(problem.n)
    u_places, v_places = component_places(problem, 1), component_places(problem, 0)
    evens = len(split.even)
    for u, tile in [(0, 0), (random.getrandbits(split.u_length), 0)] + [
        (random.getrandbits(split.u_length), random.getrandbits(split.v_length - 9)) for _ in range(4)
    ]:
        block = PolyphaseUBlock(np.array([u]), np.array([1]), np.array([2**62]))
        total, rest, _ = processor.sum_over([block], [tile << 6])
        expected = 0
        masks = split.masks(split.v_length)
        for v in range(tile << 6, (tile + 1) << 6):
            images_of_v = orbit(v, split.v_length, *masks)
            if min(images_of_v) == v:
                point = signs_of(u, u_places) | signs_of(v, v_places)
                expected += 2 * len(images_of_v) * sum(summand(problem, image) for image in images(problem, point))
        assert total << evens == expected
        assert rest == residue(expected >> evens)


# The kernel has three shapes for these rows; the last two share one.
@pytest.mark.parametrize("problem", [WIDE[0], Problem.skolem(29), Problem.langford(32)], ids=str)
def test_godfrey_blocks_of_wide_rows(problem: Problem) -> None:
    plan = METHODS["godfrey"].plan(problem, 8)
    assert isinstance(plan, GodfreyPlan)
    processor = GodfreyOnCpu(plan)
    places = list(problem.filled[8:14])
    for index in (0, len(plan.work) // 2):
        negative = plan.negative_places(index)
        start = {place: -1 if place in negative else 1 for place in problem.filled}
        expected = 0
        for bits in range(1 << len(places)):
            flips = {place: -1 for k, place in enumerate(places) if bits >> k & 1}
            expected += summand(problem, start | flips)
        total, rest, _ = processor.sum_over(index, places[:2], places[2:])
        assert total == expected
        assert rest == residue(expected)


def test_godfrey_leaves_at_most_64_signs_free() -> None:
    godfrey, few_terms = METHODS["godfrey"], Problem.from_differences(range(22, 64))  # 84 places
    assert godfrey.depths(few_terms) == range(20, 25, 2)
    assert godfrey.suggested_depth(few_terms) == 20
    with pytest.raises(BadDepth, match=r"20\.\.24"):
        godfrey.plan(few_terms, 0)
    with pytest.raises(MethodDoesNotApply, match=r"2\^90 points"):
        godfrey.plan(Problem.from_differences(range(45, 90)), 24)


PARTIAL_SUMS = [
    ("12", "polyphase", 8, 0, 5, 226721005568, 29816),
    ("hooked-skolem 10", "godfrey", 6, 0, 3, 31907643392, 4047),
    *(("12", "shifted", 8, seed, 7, *sums) for seed, sums in enumerate([(847308, 1581), (1218098, 2338)])),
    *(("12", "shifted2", 8, seed, 7, *sums) for seed, sums in enumerate([(3610, 2295), (5632, 1338)])),
    ("starter 18", "necklace", 8, 0, 15, -600097760660024708, 100437),  # these two as in jobs/campaigns/tables
    ("starter 18", "necklace", 8, 1, 15, -608709957533062424, 68478),
]
"""(problem, method, depth, seed, task, value, terms) of 1.1: campaigns and exports that were begun go on."""


@pytest.mark.parametrize(("problem", "method", "depth", "seed", "task", "value", "terms"), PARTIAL_SUMS)
def test_partial_sums_stay_those_of_stored_exports(
    problem: str, method: str, depth: int, seed: int, task: int, value: int, terms: int
) -> None:
    found = METHODS[method].plan(Problem.parse(problem), depth, seed).evaluate(task)
    assert (found.value, found.evaluated) == (value, terms)


def test_the_bound_of_a_sum_is_reached() -> None:
    """Each of the four points of Skolem(2,1) adds the bound of a product."""
    plan = METHODS["godfrey"].plan(Problem.skolem(1), 0)
    assert isinstance(plan, GodfreyPlan)
    assert sum(plan.evaluate(index).value for index in plan.tasks) == plan.sum_bound == 4
