"""A task and the tasks of a deeper plan that belong to it have the same value."""

from __future__ import annotations

import numpy as np
import pytest

from langford.methods import METHODS, Method, Plan
from langford.problem import Problem

PROBLEMS = [
    Problem.langford(7),
    Problem.langford(8),
    Problem.langford(6),  # none exists
    Problem.skolem(5),
    Problem.skolem(8),
    Problem.hooked_skolem(6),
    Problem.hooked_langford(5),
    Problem.from_differences([1, 2, 4, 5, 7], empty=[2]),
    Problem.skolem(9, 3),
]


def values(plan: Plan) -> np.ndarray:
    return np.array([plan.evaluate(index).value for index in plan.tasks], object)


def gathered(plan: Plan, other: Plan) -> list[int]:
    owners = plan.owners(other)
    assert owners is not None
    sums = [0] * len(plan.tasks)
    for index, value in zip(owners, values(other), strict=True):
        sums[int(index)] += value
    return sums


@pytest.mark.parametrize(
    ("method", "problem"),
    [(method, problem) for method in METHODS.values() for problem in PROBLEMS if method.refusal(problem) is None],
    ids=lambda value: value.name,
)
def test_deeper_tasks_add_up_to_each_task(method: Method, problem: Problem) -> None:
    for depth in list(method.depths(problem))[:4]:
        plan = method.plan(problem, depth)
        deeper = plan.deeper()
        if deeper is not None:
            assert gathered(plan, deeper) == list(values(plan))
            assert deeper.owners(plan) is None
    assert method.plan(problem, method.depths(problem)[-1]).deeper() is None


def test_two_searches_have_the_same_tasks() -> None:
    miller, regular = (METHODS[name].plan(Problem.langford(8), 2) for name in ("miller", "regular"))
    assert gathered(miller, regular) == list(values(miller))


def test_other_methods_are_not_comparable_task_by_task() -> None:
    problem = Problem.langford(8)
    plans = [METHODS[name].plan(problem, 4) for name in ("polyphase", "godfrey", "miller")]
    for plan in plans:
        assert [plan.owners(other) is not None for other in plans] == [plan is other for other in plans]
    other_problem = METHODS["godfrey"].plan(Problem.langford(7), 6)
    assert plans[1].owners(other_problem) is None
