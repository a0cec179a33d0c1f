"""How long a method takes on a device: what is measured, and what follows from it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from langford.devices import CPU, Cpu, Cuda, Device
from langford.kernels.gpu.runtime import NoGpu
from langford.methods import METHODS, Method, Plan, speed, task_depth
from langford.methods.speed import (
    DRAWN,
    GROWTH_ERROR,
    TABLE_ERROR,
    Speed,
    expected_seconds,
    measured,
    speed_here,
    speed_of,
    tabled,
    whole_work,
)
from langford.problem import Problem
from langford.result import PartialResult
from tests.support.forecasts import of_a_core

POLYPHASE, MILLER = METHODS["polyphase"], METHODS["miller"]


class Card(Cpu):
    """A core that is measured as a GPU is."""

    on_cores = False


def timed(takes: Callable[[Plan, int], float], kind: type[Cpu] = Card) -> Device:
    """A device on whose clock a task takes as long as a function says."""

    class Timed(kind):  # type: ignore[misc,valid-type]
        now = 0.0

        @staticmethod
        def clock() -> float:
            return Timed.now

        def evaluator(self, maker: Any, plan: Any) -> Any:
            class Clockwork:
                def evaluate(self, index: int) -> PartialResult:
                    Timed.now += takes(plan, index)
                    return PartialResult(index, 0, 0, 0)

            return Clockwork()

    return Timed()


@pytest.mark.parametrize("kind", [Cpu, Card])
def test_the_largest_is_measured_and_the_others_are_scaled(
    monkeypatch: pytest.MonkeyPatch, kind: type[Cpu]
) -> None:
    of = []
    device = timed(lambda plan, index: of.append(plan.problem) or 5.0, kind)
    monkeypatch.setattr(speed, "is_short", lambda problem, *_: problem.n <= 17)
    small, middle, large = (Problem.langford(n) for n in (12, 18, 19))
    one = expected_seconds([(problem, POLYPHASE) for problem in (middle, small, large)], [device])
    assert set(of) == {large}
    assert 0.0 < one[small] < one[middle] < one[large]
    work = whole_work(middle, POLYPHASE) / whole_work(large, POLYPHASE)
    assert one[middle] / one[large] == pytest.approx(work)
    two = expected_seconds([(large, POLYPHASE)], [device, device])
    assert two[large] == pytest.approx(one[large] / 2)


def test_a_speed_is_that_of_a_card_that_nobody_else_uses() -> None:
    rounds = itertools.cycle([factor for factor in (9.0, 5.0, 2.0, 7.0) for _ in range(DRAWN)])
    problem = Problem.langford(19)
    pace = 0.2 / float(POLYPHASE.plan(problem, POLYPHASE.suggested_depth(problem)).work.max())
    found = measured(problem, POLYPHASE, timed(lambda plan, index: next(rounds) * float(plan.work[index]) * pace))
    assert found.expected(problem) == pytest.approx(2 * pace * whole_work(problem, POLYPHASE))


@pytest.mark.parametrize("kind", [Cpu, Card])
@pytest.mark.parametrize("n", [20, 24, 28])
def test_a_task_that_is_unlike_the_others_is_no_measure(n: int, kind: type[Cpu]) -> None:
    """The first of a shifted sum, in which all outer elements have one sign, takes five times as long."""
    problem, shifted = Problem.langford(n), METHODS["shifted"]
    device = timed(lambda plan, index: (1 if index else 5) * 1e-10 * float(plan.work[index]), kind)
    assert measured(problem, shifted, device).expected(problem) == pytest.approx(
        1e-10 * whole_work(problem, shifted)
    )


def test_the_table_answers_by_the_count_that_is_nearest() -> None:
    """A point of polyphase takes a core three times as long with 28 colours as with 24."""
    for name, n, known in (("polyphase", 28, 6.46e6), ("polyphase", 24, 8_480.0), ("shifted", 20, 32.1)):
        problem = Problem.langford(n)
        shown = tabled(problem, METHODS[name], "cpu")
        assert shown is not None
        assert shown.expected(problem) == pytest.approx(known)
        assert shown.expected(Problem.langford(n + 1)) == pytest.approx(
            known * whole_work(Problem.langford(n + 1), METHODS[name]) / whole_work(problem, METHODS[name])
        )


def test_tasks_grow_until_they_show_the_speed() -> None:
    def takes(plan: Plan, index: int) -> float:
        depths.append(plan.depth)
        return 0.01 + float(plan.work[index]) / work

    depths, problem = list[int](), Problem.langford(20)
    work = whole_work(problem, METHODS["shifted"])
    found = measured(problem, METHODS["shifted"], timed(takes))
    assert depths == sorted(depths, reverse=True)
    assert len(set(depths)) > 1
    assert found.expected(problem) == pytest.approx(1.0, rel=0.05)  # what a task prepares hardly counts


def test_a_search_on_a_card_is_measured_at_small_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    # A task of the problem itself would take hours: the first problem with a task that is long enough is measured.
    planned = []

    def noted(self: Method, problem: Problem, depth: int, seed: int = 0) -> Plan:
        planned.append(problem.n)
        return plan(self, problem, depth, seed)

    plan = type(MILLER).plan
    monkeypatch.setattr(type(MILLER), "plan", noted)
    monkeypatch.setattr(speed, "ENOUGH_SECONDS", math.inf)
    measured(Problem.langford(14), MILLER, Card())
    assert sorted(set(planned)) == [13, 14]
    planned.clear()
    monkeypatch.setattr(speed, "ENOUGH_SECONDS", 0.0)
    large, larger = Problem.langford(20), Problem.langford(24)
    found = measured(larger, MILLER, Card())
    assert set(planned) == {13}
    assert found.error == pytest.approx(GROWTH_ERROR**11)
    growth = MILLER.speeds.forecast(2).growth
    assert growth is not None
    assert found.expected(larger) / found.expected(large) == pytest.approx(growth**4)
    assert found.expected(large) > 3600.0


def test_the_table_answers_for_a_card_that_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_here(card: Cuda, maker: Any, plan: Plan) -> Any:
        raise NoGpu("there is none")

    monkeypatch.setattr(Cuda, "evaluator", none_here)
    problem, method = Problem.langford(28), METHODS["shifted2"]
    known = speed_of(problem, method, Cuda())
    assert known.error == TABLE_ERROR
    assert 900 < known.expected(problem) < 3600
    # A plan for such cards has tasks of the time that is asked for.
    depth = task_depth(problem, method, Cuda(), 120.0)
    plan = method.plan(problem, depth)
    assert 120.0 / 32 < known.of_plan(plan).expected(float(plan.work.max())) <= 120.0
    with pytest.raises(NoGpu):
        speed_of(Problem.langford(20, 3), METHODS["regular"], Cuda())  # not in the table


@pytest.mark.parametrize("name", METHODS)
def test_the_table_is_of_the_right_order(name: str) -> None:
    """The whole count of the largest problem that takes moments is not said to take minutes."""
    method = METHODS[name]
    for copies in (2, 3):
        first = Problem.named("starter", 12) if name == "necklace" else Problem.langford(11, copies)
        if method.refusal(first) is None:
            known = tabled(first, method, "cpu")
            assert known is not None
            assert known.expected(first) < 5.0


def test_a_run_is_told_the_speed_of_its_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.langford(19)
    plan = POLYPHASE.plan(problem, 8)
    of_a_core(monkeypatch, 50.0)
    known = speed_here(plan, [CPU])
    assert known is not None
    assert known.expected(float(plan.work.sum())) == pytest.approx(50.0)
    assert speed_here(plan, [Cuda()]) is None  # its workers need it
    assert Speed(2.0).expected(3.0) == 6.0
