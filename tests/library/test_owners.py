"""A task and the tasks of a deeper plan that belong to it have the same value, and stand for as many terms."""

from __future__ import annotations

import numpy as np
import pytest

from langford.methods import METHODS, Method, Plan
from langford.problem import Problem

PROBLEMS = [
    Problem.langford(8),
    Problem.langford(6),  # none exists
    Problem.named("hooked-skolem", 6),
    Problem.from_differences([1, 2, 4, 5, 6, 7], empty=[2]),
    Problem.skolem(9, 3),
]


Numbers = list[tuple[int, int]]
"""The value of each task, and its number of terms; 0 for a search."""


def numbers(plan: Plan) -> Numbers:
    results = [plan.evaluate(index) for index in plan.tasks]
    return [(result.value, plan.terms(result) or 0) for result in results]


def gathered(plan: Plan, other: Plan) -> Numbers:
    owners = plan.owners(other)
    assert owners is not None
    sums = np.zeros((len(plan.tasks), 2), object)
    for index, pair in zip(owners, numbers(other), strict=True):
        sums[index] += pair
    return [(value, terms) for value, terms in sums]


def applies(method: Method, problem: Problem) -> bool:
    return method.refusal(problem) is None


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        *(
            (method, problem)
            for method in METHODS.values()
            for problem in PROBLEMS
            if method.refusal(problem) is None
        ),
        (METHODS["necklace"], Problem.named("starter", 8)),
    ],
    ids=lambda value: value.name,
)
def test_deeper_tasks_add_up_to_each_task(method: Method, problem: Problem) -> None:
    for depth in list(method.depths(problem))[:4]:
        plan = method.plan(problem, depth)
        deeper = plan.deeper()
        if deeper is not None:
            assert gathered(plan, deeper) == numbers(plan)
            assert deeper.owners(plan) is None
    assert method.plan(problem, method.depths(problem)[-1]).deeper() is None


def test_two_searches_have_the_same_tasks() -> None:
    miller, regular = (METHODS[name].plan(Problem.langford(8), 2) for name in ("miller", "regular"))
    assert gathered(miller, regular) == numbers(miller)


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_sums_know_their_terms_and_searches_do_not(method: Method) -> None:
    row, circle = Problem.langford(8), Problem.named("starter", 8)
    plan = method.plan(circle if method.refusal(row) else row, 4)
    known = [plan.terms(plan.evaluate(index)) for index in plan.tasks]
    assert (None not in known) == (method.unit == "points")
    assert method.unit != "points" or any(known)


def test_other_methods_are_not_comparable_task_by_task() -> None:
    problem = Problem.langford(8)
    plans = [METHODS[name].plan(problem, 4) for name in ("polyphase", "godfrey", "miller")]
    for plan in plans:
        assert [plan.owners(other) is not None for other in plans] == [plan is other for other in plans]
    other_problem = METHODS["godfrey"].plan(Problem.langford(7), 6)
    assert plans[1].owners(other_problem) is None
