"""Forecasts for large n: from a task that shows the speed of those of a real count."""

from __future__ import annotations

import time
from random import Random

import pytest

from jobs.tuning import forecast
from langford.methods import METHODS
from langford.problem import Problem

LARGEST_TASK = 2.0**35
"""Points of a task that takes a core a second or more."""


def core_seconds_by_a_large_task(problem: Problem) -> float:
    """Projected from one task of the coarsest plan whose tasks take that long."""
    method = METHODS["shifted"]
    plans = (method.plan(problem, depth) for depth in method.depths(problem))
    plan = next(plan for plan in plans if plan.work.max() <= LARGEST_TASK)
    # Not one of the first: their outer signs are nearly all equal, and far more of their points survive.
    task = Random(problem.n).randrange(len(plan.tasks) // 4, len(plan.tasks))
    plan.evaluator()
    start = time.thread_time()
    plan.evaluate(task)
    return (time.thread_time() - start) / float(plan.work[task]) * float(plan.work.sum())


def test_the_task_that_shows_the_speed_is_no_small_one() -> None:
    # What a task prepares for each u takes as long as thousands of points.
    for n in (20, 24, 28, 32):
        start = METHODS["shifted"].speeds.forecast(2)
        plan = forecast.probing_plan(Problem.langford(min(n, start.probe)), METHODS["shifted"], start.points)
        assert 2**31 < plan.work.max() <= 2**34


@pytest.mark.exhaustive
def test_forecasts_are_near_and_grow_with_n() -> None:
    seconds = [forecast.core_seconds(Problem.langford(n), METHODS["shifted"]) for n in (20, 28, 32)]
    true = core_seconds_by_a_large_task(Problem.langford(28))
    assert true / 1.8 < seconds[1] < true * 1.8
    # Each colour more makes the points four times as many, and a point little dearer.
    assert 4**8 / 4 < seconds[1] / seconds[0] < 4**8 * 2
    assert 4**4 / 2 < seconds[2] / seconds[1] < 4**4 * 2
