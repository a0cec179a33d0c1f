"""The sum over binary necklaces, against published numbers and its own symmetries."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langford.errors import MethodDoesNotApply
from langford.methods import METHODS, find_method, merge
from langford.methods.necklace.plan import NecklacePlan, rotations
from langford.problem import Problem

_FROM_1 = (
    1, 1, 3, 9, 25, 133, 631, 3857, 25905, 188181, 1515283, 13376125, 128102625, 1317606101, 14534145947,
    170922533545, 2138089212789,
)  # fmt: skip
STARTERS = dict(enumerate(_FROM_1, 1))
"""OEIS A006204."""
CYCLIC_SKOLEM = {1: 1, 4: 1, 5: 2, 8: 192, 9: 1200, 12: 456960, 13: 4009024, 16: 4377344000, 17: 51487228672}
"""OEIS A390360 and A392247."""


def starter(n: int) -> Problem:
    return Problem.named("starter", n)


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
    + [(cyclic_skolem(n), CYCLIC_SKOLEM[n]) for n in (8, 9, 13)],
    ids=str,
)
def test_published_numbers_by_several_sums(problem: Problem, known: int, seed: int) -> None:
    plan = plan_of(problem, 6 + seed, seed)
    assert merge(plan, map(plan.evaluate, plan.tasks)).published == known


@given(st.data())
def test_each_depth_has_the_same_terms(data: st.DataObject) -> None:
    problem = data.draw(st.sampled_from([starter(9), starter(10), cyclic_skolem(9)]))
    depths, seed = METHODS["necklace"].depths(problem), data.draw(st.integers(0, 2))
    shallow, deep = (plan_of(problem, data.draw(st.sampled_from(depths)), seed) for _ in range(2))
    if shallow.depth > deep.depth:
        shallow, deep = deep, shallow
    assert deep.owners(shallow) is None or shallow.depth == deep.depth
    owners, sums, terms = shallow.owners(deep), Counter[int](), Counter[int]()
    assert owners is not None
    for index, owner in enumerate(owners.tolist()):
        result = deep.evaluate(index)
        sums[owner] += result.value
        terms[owner] += result.evaluated
    for index in shallow.tasks:
        result = shallow.evaluate(index)
        shallow.expectation(index).check(result)
        assert (result.value, result.evaluated) == (sums[index], terms[index])


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
    with pytest.raises(MethodDoesNotApply, match="necklace cannot count langford-8: it counts rows on a circle"):
        find_method("necklace", Problem.langford(8))
    with pytest.raises(MethodDoesNotApply, match="at most 64 places, not 66; no method can"):
        find_method("necklace", cyclic_skolem(33))
    for method in ("shifted", "shifted2", "polyphase", "godfrey"):
        with pytest.raises(
            MethodDoesNotApply, match="on a line, not on a circle; use necklace or miller or regular"
        ):
            find_method(method, starter(8))
