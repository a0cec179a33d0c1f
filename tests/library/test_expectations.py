"""What a plan expects of a result, against the same computed here from the definitions in the plans' docstrings.

The other tests ask an expectation how strong it is; here each promised zero bit and each bound is known without it,
and the nearest wrong values are refused.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import pytest

from langford.arithmetic.residue import residue
from langford.errors import CheckFailed
from langford.methods import METHODS
from langford.methods.backtracking.plan import BacktrackingPlan
from langford.methods.godfrey.plan import GodfreyPlan
from langford.methods.necklace.plan import NecklacePlan
from langford.methods.plan import Plan
from langford.methods.polyphase.plan import PolyphasePlan
from langford.methods.shifted.plan import ShiftedPlan
from langford.problem import Problem
from langford.result import Expectation, PartialResult
from tests.support.brute_force import orbit

ROWS = [
    Problem.langford(3), Problem.langford(6), Problem.langford(7), Problem.skolem(5),
    Problem.named("hooked-skolem", 6),
    Problem.langford(6, defect=3), Problem.named("extended-skolem", 5, hole=4), Problem.from_differences([1, 3, 5]),
]  # fmt: skip
CIRCLES = [*(Problem.named("starter", n) for n in (2, 8)), Problem.named("cyclic-skolem", 5)]
CASES = [
    (name, problem)
    for name, method in METHODS.items()
    for problem in (*ROWS, *CIRCLES)
    if method.refusal(problem) is None
]


def two_power(number: int) -> int:
    """How often 2 divides it."""
    return (number & -number).bit_length() - 1


def pairs(problem: Problem, d: int) -> int:
    """Terms of S_d."""
    return sum(place + d in problem.filled for place in problem.filled)


def godfrey(plan: GodfreyPlan, index: int) -> Expectation:
    """A task stands for the prefixes that symmetries of the summand map to its own: p outer signs, from both ends
    in turn.  Each has a sum over the other signs, a multiple of 2 to their number; the sums are equal."""
    problem, filled = plan.problem, plan.problem.filled
    fixed = [filled[k // 2] if k % 2 == 0 else filled[-1 - k // 2] for k in range(plan.depth)]
    negations = [set(fixed)]
    if sum(place % 2 for place in filled) % 2 == sum(d % 2 for d in problem.differences) % 2:
        negations.append({place for place in fixed if place % 2})
    found: set[frozenset[int]] = set()
    fresh = {frozenset(plan.negative_places(index))}
    while fresh:
        found |= fresh
        images = {each ^ negation for each in fresh for negation in negations}
        if problem.mirrored and plan.depth % 2 == 0:
            images |= {frozenset(problem.places + 1 - place for place in each) for each in fresh}
        fresh = images - found
    points = 2 ** (len(filled) - plan.depth)
    most = len(found) * points * prod(max(1, pairs(problem, d)) for d in problem.differences)
    return Expectation(two_power(points) + two_power(len(found)), -most, most, points)


def polyphase(plan: PolyphasePlan, index: int) -> Expectation:
    """A task has the sum of f F(u, v) over a class of prefixes of u and one of v, with f = 2 and F a sum of 8
    images, with half of each even sum.  Where the mirror maps the classes to each other, v runs up to u's class
    alone, where f = 1.  Its size is at most that of so many images with every sum as large as it can be."""
    problem, v_bits = plan.problem, 2 * (plan.depth // 4)
    u_bits = plan.depth - v_bits
    u, v = (int(each[index]) for each in plan.prefixes)
    even = sum(d % 2 == 0 for d in problem.differences)
    own, other = (orbit(each, bits, *plan.split.masks(bits)) for each, bits in ((u, u_bits), (v, v_bits)))
    if plan.split.mirrored and u >> u_bits - v_bits in other:
        below = sum(
            min(orbit(each, u_bits, *plan.split.masks(u_bits))) < min(own)
            for each in range(1 << u_bits)
            if each >> u_bits - v_bits in other
        )
        fixed, images, pairs_of_prefixes = 2 * u_bits, 8, len(own) * (2 * below + len(own))
    else:
        fixed, images, pairs_of_prefixes = plan.depth, 16, 2 * len(own) * len(other)
    free = 2 * problem.n - fixed
    largest = prod(max(1, pairs(problem, d) // (2 if d % 2 == 0 else 1)) for d in problem.differences)
    most = 8 * pairs_of_prefixes * 2**free * largest
    return Expectation(max(0, free + two_power(images) - even), -most, most)


def shifted(plan: ShiftedPlan, index: int) -> Expectation:
    """A task has all signs behind its prefixes of u and v; where the mirror exchanges these, it stands for both
    orders.  A factor f_d / 4 has |f_d| at most the number of its terms and 2."""
    u, v = plan.prefixes(index)
    problem = plan.problem
    exchanged = problem.mirrored and problem.places % 2 == 0
    free = len(problem.filled) - (plan.forms.fixed is not None) - plan.depth
    points = len(u) * len(v) * 2**free
    factors = ((len(form.pairs) + len(form.signs) + 2) // 4 for form in plan.forms.all)
    most = (2 if exchanged and u != v else 1) * points * prod(max(1, each) for each in factors)
    return Expectation(0, -most, most, points)


def longest_gap(word: int, places: int) -> int:
    """The most places in a row around the circle that have the sign of the place before them."""
    signs = f"{word:0{places}b}"
    changes = "".join(str(int(signs[k] != signs[k - 1])) for k in range(places))
    return max(map(len, (changes + changes).split("1"))) if "1" in changes else places


def necklace(plan: NecklacePlan, index: int) -> Expectation:
    """A task has the words behind its prefix that have no longer gap than the first.  A word adds at most m
    rotations of P W^h Π (e_d − D_d/2); D_d/2 is from 0 to ⌊m/2⌋, and |W| at most m, or m/2 for an even m."""
    m, holes = plan.problem.places, len(plan.problem.empty) + plan.problem.loose
    points = int(plan.work[0])  # of the few others that are no task's
    if index:
        start, gap = int(plan.prefixes[index]), int(plan.gaps[index])
        words = range(start, start + (1 << int(plan.free[index])))
        points = sum(longest_gap(word, m) == gap for word in words)
    factors = prod(max(abs(plan.targets[d]), abs(plan.targets[d] - m // 2)) for d in plan.problem.differences)
    most = points * m * (m if m % 2 else m // 2) ** holes * factors
    return Expectation(0, -most, most, points)


def search(plan: BacktrackingPlan, index: int) -> Expectation:
    """An arrangement that is reached counts for two, where there is a mirror and a colour that the mirror cannot
    leave where it is.  No search reaches 2⁶²."""
    problem = plan.problem
    moved = problem.mirrored and any(
        all(mask != problem.mirror(mask) for mask in problem.placements(d)) for d in problem.differences
    )
    return Expectation(int(moved), 0, 2**62)


def expected(plan: Plan, index: int) -> Expectation:
    match plan:
        case GodfreyPlan():
            return godfrey(plan, index)
        case PolyphasePlan():
            return polyphase(plan, index)
        case ShiftedPlan():
            return shifted(plan, index)
        case NecklacePlan():
            return necklace(plan, index)
        case BacktrackingPlan():
            return search(plan, index)
    raise AssertionError(f"what {plan} expects is not known here: define it")


def result(index: int, value: int, evaluated: int = 0) -> PartialResult:
    return PartialResult(index, value, residue(value), evaluated)


def neighbours(right: Expectation, value: int) -> tuple[list[PartialResult], list[PartialResult]]:
    """(the most extreme results that are accepted, the nearest ones that are not), beside a right value."""
    step, points = 1 << right.zero_bits, right.points or 0
    highest, lowest = right.highest // step * step, -(-right.lowest // step) * step
    accepted = [result(0, each, points) for each in (highest, lowest, 0)]
    refused = [result(0, highest + step), result(0, lowest - step)]
    if step > 1:
        refused += [result(0, value + step // 2), result(0, value - step // 2)]
    if right.points is not None:
        refused.append(result(0, value, points + 1))
    refused.append(replace(result(0, value), residue=(residue(value) + 1) % (2**64 - 1)))
    return accepted, refused


@pytest.mark.parametrize(("name", "problem"), CASES, ids=str)
def test_each_task_promises_what_its_definition_does(name: str, problem: Problem) -> None:
    method = METHODS[name]
    for depth, seed in product(method.depths(problem)[:4:3], (0, 1) if method.seeded else (0,)):
        plan = method.plan(problem, depth, seed)
        for index in {*plan.tasks[:12], *plan.tasks[-4:]}:
            wanted, own = expected(plan, index), plan.expectation(index)
            right = plan.evaluate(index)
            own.check(right)
            accepted, refused = neighbours(wanted, right.value)
            for each in accepted:
                own.check(each)
            for each in refused:
                with pytest.raises(CheckFailed):
                    own.check(each)
            assert own == wanted, (depth, seed)


def test_every_method_has_cases() -> None:
    assert {name for name, *_ in CASES} == {*METHODS}


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.seeded])
def test_each_seed_has_sums_of_its_own(name: str) -> None:
    """The same count by other numbers: no seed is another one, and none is ignored."""
    problem = Problem.named("starter", 8) if name == "necklace" else Problem.langford(8)
    seen: dict[tuple[int, ...], int] = {}
    for seed in range(4):
        plan = METHODS[name].plan(problem, METHODS[name].depths(problem)[2], seed)
        values = [plan.evaluate(index).value for index in plan.tasks]
        assert sum(values) == plan.multiplier * (3857 if name == "necklace" else 300)
        assert seen.setdefault(tuple(values), seed) == seed
