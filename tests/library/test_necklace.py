"""The sum over binary necklaces, against published numbers and its own symmetries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langford.arithmetic.residue import residue
from langford.errors import MethodDoesNotApply
from langford.methods import METHODS, find_method, merge
from langford.methods.necklace.limits import MAX_HOLES
from langford.methods.necklace.plan import NecklacePlan, rotations
from langford.problem import Problem
from langford.result import PartialResult

_FROM_1 = (
    1, 1, 3, 9, 25, 133, 631, 3857, 25905, 188181, 1515283, 13376125, 128102625, 1317606101, 14534145947,
    170922533545, 2138089212789,
)  # fmt: skip
STARTERS = dict(enumerate(_FROM_1, 1))
"""OEIS A006204."""
CYCLIC_SKOLEM = {1: 1, 4: 1, 5: 2, 8: 192, 9: 1200, 12: 456960, 13: 4009024, 16: 4377344000, 17: 51487228672}
"""OEIS A390360 and A392247."""

EVEN_STARTERS = dict(enumerate((2, 4, 12, 56, 224, 960, 5760, 42816, 320512, 2366080, 20857088), 2))
"""As two programs of others count them; those up to n = 8 are counted by brute force, too (test_families)."""


def starter(n: int) -> Problem:
    return Problem.named("starter", n)


def even_starter(n: int) -> Problem:
    return Problem.named("even-starter", n)


def cyclic_skolem(n: int) -> Problem:
    return Problem.named("cyclic-skolem", n)


def plan_of(problem: Problem, depth: int, seed: int = 0) -> NecklacePlan:
    plan = METHODS["necklace"].plan(problem, depth, seed)
    assert isinstance(plan, NecklacePlan)
    return plan


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("problem", "known"),
    [(starter(n), STARTERS[n]) for n in (8, 9, 11, 13)]
    + [(cyclic_skolem(n), CYCLIC_SKOLEM[n]) for n in (8, 9, 13)]
    + [(even_starter(n), EVEN_STARTERS[n]) for n in (9, 12)],
    ids=str,
)
def test_published_numbers_by_several_sums(problem: Problem, known: int, seed: int) -> None:
    plan = plan_of(problem, 6 + seed, seed)
    assert merge(plan, map(plan.evaluate, plan.tasks)).published == known


@given(st.integers(2, 16), st.data())
def test_every_necklace_has_one_representative(places: int, data: st.DataObject) -> None:
    word = data.draw(st.integers(0, 2**places - 1))
    full = 2**places - 1
    turned = {(word << k | word >> places - k) & full for k in range(places)}
    images = turned | {each ^ full for each in turned}
    # Of both words with the same changes, one begins with a 1.
    first = [each for each in images if rotations(places, each)]
    assert len(first) == 1 + (word not in (0, full)) or len(images) <= 2
    plan = plan_of(starter(places // 2) if places % 2 else cyclic_skolem(places // 2), 2, 1)
    assert len({plan.term(each) for each in images}) == 1


def test_refuses_other_rows() -> None:
    with pytest.raises(MethodDoesNotApply, match="necklace cannot count L\\(2,8\\): it counts rows on a circle"):
        find_method("necklace", Problem.langford(8))
    for longer in (starter(32), cyclic_skolem(33)):
        with pytest.raises(MethodDoesNotApply, match=f"at most 64 places, not {longer.places}; no method can"):
            find_method("necklace", longer)
        with pytest.raises(
            MethodDoesNotApply, match=f"keeps a circle in 64 bits; {longer.places} places do not fit"
        ):
            find_method("miller", longer)
    with pytest.raises(MethodDoesNotApply, match="circles with at most 6 holes"):
        find_method("necklace", Problem.parse("cyclic 1,3 empty 1 holes 6"))
    for longest in (starter(31), cyclic_skolem(32), even_starter(32)):
        assert find_method("necklace", longest).refusal(longest) is None
        assert find_method("miller", longest).refusal(longest) is None
    with pytest.raises(MethodDoesNotApply, match="at most one given place is empty"):
        find_method("necklace", Problem.from_differences([1, 3], 6, [1, 4], circle=True))
    for method in ("shifted", "shifted2", "polyphase", "godfrey"):
        with pytest.raises(
            MethodDoesNotApply, match="on a line, not on a circle; use necklace or miller or regular"
        ):
            find_method(method, starter(8))


def exactly(plan: NecklacePlan, index: int) -> PartialResult:
    """What a task adds, word by word."""
    start, free = int(plan.prefixes[index]), int(plan.free[index])
    words = range(start, start + (1 << free))
    terms = [rotations(plan.problem.places, word) * plan.term(word) for word in words]
    value = sum(terms)
    return PartialResult(index, value, residue(value), len(terms) - terms.count(0))


@st.composite
def circles_with_holes(draw: st.DrawFn, places: st.SearchStrategy[int]) -> Problem:
    """With any holes, all but one of them anywhere."""
    m = draw(places)
    colours = draw(st.integers(max(1, (m - MAX_HOLES + 1) // 2), m // 2))
    differences = draw(st.permutations(range(1, m // 2 + 1)))[:colours]
    loose = m - 2 * colours - 1
    return Problem.from_differences(differences, m, [1] if loose >= 0 else [], circle=True, holes=max(0, loose))


@settings(max_examples=12)
@given(circles_with_holes(st.integers(58, 64)), st.integers(0, 3), st.integers(1, 3))
def test_the_widest_words_of_circles_with_holes(problem: Problem, seed: int, index: int) -> None:
    plan = plan_of(problem, 2, seed)
    assert plan.evaluate(index) == exactly(plan, index)
