"""Partial results and their merge: what is missing, twice or wrong is noticed."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import langford
from langford.arithmetic.residue import residue
from langford.errors import BadDepth, CheckFailed, Incomplete, MethodDoesNotApply, TaskIndexOutOfRange
from langford.methods import METHODS, fastest_method, find_method, merge
from langford.problem import Problem
from langford.problem.reference import published
from langford.result import PartialResult

PROBLEM = Problem.langford(8)
DEPTHS = {"polyphase": 8, "shifted": 6, "shifted2": 6, "godfrey": 6, "miller": 3, "regular": 3}
PLANS = {name: METHODS[name].plan(PROBLEM, depth) for name, depth in DEPTHS.items()}
PLANS["necklace"] = METHODS["necklace"].plan(Problem.named("starter", 8), 5)


class Evaluated(dict[str, list[PartialResult]]):
    """The results of each plan, once a test asks for them: every test process imports this module."""

    def __missing__(self, name: str) -> list[PartialResult]:
        self[name] = [PLANS[name].evaluate(index) for index in PLANS[name].tasks]
        return self[name]


RESULTS = Evaluated()
METHOD = st.sampled_from(sorted(METHODS))


@given(METHOD, st.randoms())
def test_order_does_not_matter(method: str, random) -> None:  # type: ignore[no-untyped-def]
    shuffled = RESULTS[method][:]
    random.shuffle(shuffled)
    assert merge(PLANS[method], shuffled).published == published(PLANS[method].problem)


@given(METHOD, st.data())
def test_evaluating_again_changes_nothing(method: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(RESULTS[method]) - 1))
    assert PLANS[method].evaluate(index) == RESULTS[method][index]


@given(METHOD, st.data())
def test_a_missing_result_blocks_the_merge(method: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(RESULTS[method]) - 1))
    with pytest.raises(Incomplete, match=r"1 of \d+ tasks has no result yet; run them first"):
        merge(PLANS[method], RESULTS[method][:index] + RESULTS[method][index + 1 :])


@given(METHOD, st.data())
def test_a_duplicate_blocks_the_merge(method: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(RESULTS[method]) - 1))
    with pytest.raises(CheckFailed, match=f"task {index} has two results"):
        merge(PLANS[method], [*RESULTS[method], RESULTS[method][index]])


@given(METHOD, st.data(), st.integers(0, 70))
def test_a_flipped_bit_is_noticed(method: str, data: st.DataObject, bit: int) -> None:
    index = data.draw(st.integers(0, len(RESULTS[method]) - 1))
    right = RESULTS[method][index]
    wrong = replace(right, value=right.value ^ 1 << bit)
    with pytest.raises(CheckFailed, match=f"task {index}"):
        PLANS[method].expectation(index).check(wrong)


@given(st.sampled_from(["polyphase", "godfrey", "miller", "regular"]), st.data())
def test_a_consistent_forgery_fails_the_zero_bits(method: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(RESULTS[method]) - 1))
    expectation = PLANS[method].expectation(index)
    assert expectation.zero_bits > 0
    value = RESULTS[method][index].value + (1 << expectation.zero_bits - 1)
    with pytest.raises(CheckFailed, match="zero bits"):
        expectation.check(PartialResult(index, value, residue(value), 1))


@pytest.mark.parametrize("method", METHODS)
def test_the_checks_of_a_count_say_how_many_zero_bits_all_sums_have(method: str) -> None:
    promised = [PLANS[method].expectation(index).zero_bits for index in PLANS[method].tasks]
    [said] = [check for check in merge(PLANS[method], RESULTS[method]).checks if "zero bits" in check]
    assert said == (
        f"every partial sum ends in {min(promised)} zero bits or more, as its task requires"
        if any(promised)
        else "no zero bits to check: this sum forces none"
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_largest_tasks_come_first(method: str) -> None:
    order = PLANS[method].largest_first()
    work = PLANS[method].work[order].tolist()
    assert (sorted(order), work) == ([*PLANS[method].tasks], sorted(work, reverse=True))


def test_a_forgery_that_passes_the_task_checks_fails_the_merge() -> None:
    plan, results = PLANS["polyphase"], RESULTS["polyphase"][:]
    value = results[0].value + (1 << plan.expectation(0).zero_bits)
    results[0] = replace(results[0], value=value, residue=residue(value))
    with pytest.raises(CheckFailed, match="at least one result is wrong"):
        merge(plan, results)


@pytest.mark.parametrize("problem", [PROBLEM, Problem.skolem(1)], ids=str)
def test_arrangements_that_do_not_pair_up_fail_the_merge(problem: Problem) -> None:
    # The only row of the second problem is its own mirror image.
    plan = METHODS["shifted"].plan(problem, 0)
    right = plan.evaluate(0)
    assert merge(plan, [right]).checks[-1] == "mirror images pair up"
    wrong = replace(right, value=right.value + 1, residue=residue(right.value + 1))
    plan.expectation(0).check(replace(wrong, index=0))
    with pytest.raises(CheckFailed, match="do not pair up"):
        merge(plan, [wrong])


def test_a_negative_total_fails_the_merge() -> None:
    plan = METHODS["shifted"].plan(PROBLEM, 0)
    right = plan.evaluate(0)
    wrong = replace(right, value=-right.value, residue=residue(-right.value))
    plan.expectation(0).check(wrong)
    with pytest.raises(CheckFailed, match="not 1 times a count"):
        merge(plan, [wrong])


def test_a_value_beyond_the_bounds_is_refused() -> None:
    expectation = PLANS["miller"].expectation(0)
    with pytest.raises(CheckFailed, match="outside"):
        expectation.check(PartialResult(0, -2, residue(-2), 1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("index", [-1, 10**9])
def test_task_indices_are_checked(method: str, index: int) -> None:
    for use in (PLANS[method].evaluate, PLANS[method].expectation):
        with pytest.raises(TaskIndexOutOfRange, match=f"task {index} is not one of"):
            use(index)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("depth", [-2, 1000])
def test_depths_are_checked(method: str, depth: int) -> None:
    with pytest.raises(BadDepth, match=str(depth)):
        METHODS[method].plan(PLANS[method].problem, depth)


def test_methods_say_what_they_cannot_do() -> None:
    with pytest.raises(MethodDoesNotApply, match="use miller"):
        find_method("polyphase", Problem.langford(9, 3))
    with pytest.raises(MethodDoesNotApply, match=r"32 colours.*; use polyphase or miller or regular$"):
        find_method("shifted", Problem.langford(33))  # godfrey refuses it too
    with pytest.raises(MethodDoesNotApply, match="no method 'magic'"):
        find_method("magic", PROBLEM)
    with pytest.raises(MethodDoesNotApply, match="no method can count"):
        fastest_method(Problem.langford(70), "cpu")
    assert fastest_method(PROBLEM, "cpu").name == "polyphase"
    assert fastest_method(Problem.langford(9, 3), "cpu").name == "miller"


@pytest.mark.parametrize("method", METHODS)
def test_work_estimates_follow_the_work(method: str) -> None:
    plan = PLANS[method]
    assert len(plan.work) == len(RESULTS[method])
    assert (plan.work > 0).all()
    if METHODS[method].unit == "points":
        symmetries = 2 * plan.problem.places if plan.problem.circle else 2**3
        assert plan.work.sum() * symmetries >= 4**plan.problem.n


def test_a_count_is_a_number_with_its_checks() -> None:
    plan = langford.plan(8, depth=4)
    count = langford.merge(plan, [plan.evaluate(task) for task in plan.tasks])
    assert type(langford.count(8)) is type(count)
    assert (count, count + 1, str(count), f"{count:,}", repr(count)) == (
        150,
        151,
        "150",
        "150",
        "<Count L(2,8) = 150>",
    )
    assert json.dumps({"count": count}) == '{"count": 150}'
    read = pickle.loads(pickle.dumps(count))
    assert vars(read) == vars(count)
    assert hash(count) == hash(150)
    none = langford.count(21)
    assert (none, none.checks) == (0, (f"no arrangement exists, {langford.Problem.langford(21).obstruction}",))


def test_a_plan_travels_as_its_key() -> None:
    plan = langford.plan(12, depth=8)
    assert repr(plan) == "<Plan L(2,12) by polyphase at depth 8, 6 tasks>"
    plan.evaluator()  # which no process can send to another
    evaluate = pickle.loads(pickle.dumps(plan.evaluate))
    assert langford.merge(plan, map(evaluate, plan.tasks)) == 108144
