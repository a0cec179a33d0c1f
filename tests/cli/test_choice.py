"""Which method and depth count a problem: one rule asks for the problem, the kind of device and the options."""

from __future__ import annotations

import json

import pytest

import langford as library
from langford.devices import CPU, Cuda, Device
from langford.errors import BadDepth, BadInput, MethodDoesNotApply
from langford.methods import METHODS, PlanKey, chosen_plan, fastest_method
from langford.methods.choice import MANY_TASKS, fastest, task_depth
from langford.methods.speeds import Growth, Speeds
from langford.problem import Problem
from tests.support.command_line import Run
from tests.support.forecasts import taking


def chosen(problem: Problem, kind: str = CPU.kind) -> str:
    return fastest_method(problem, kind).name


# -- the method -------------------------------------------------------------------------------


def test_the_rule_asks_for_the_problem_and_the_kind_of_device() -> None:
    first = METHODS["shifted2"].speeds.fastest_from["cpu"]
    assert METHODS["shifted"].speeds.fastest_from["cpu"] == first
    assert [chosen(Problem.langford(n)) for n in (4, first - 1, first, 28, 32)] == ["polyphase"] * 2 + [
        "shifted2"
    ] * 3
    assert chosen(Problem.langford(23), "cuda") == "shifted2"
    assert chosen(Problem.langford(12, 3)) == "miller"
    # Half of the points are enough for hooked rows.
    assert [chosen(Problem.named("hooked-skolem", n)) for n in (15, 22)] == ["polyphase", "shifted2"]
    # Each difference twice: 18 colours are enough.
    assert [chosen(Problem.named("skolem", n, fold=2)) for n in (8, 9)] == ["polyphase", "shifted2"]
    # An odd number of even differences: the second version does not apply.
    assert chosen(Problem.langford(first + 1)) == "shifted"
    assert chosen(Problem.from_differences(range(1, 2 * first, 2))) == "shifted2"
    # Each is faster than those before it: of two from the same n on, the second.
    both = [METHODS[name] for name in ("polyphase", "shifted2", "shifted")]
    assert fastest(Problem.langford(first), both, "cpu").name == "shifted"


def test_a_device_without_a_kernel_of_a_method_leaves_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    polyphase = METHODS["polyphase"]
    monkeypatch.setattr(type(polyphase), "evaluators", {"cpu": polyphase.evaluators["cpu"]})
    assert [chosen(Problem.langford(8), kind) for kind in ("cpu", "cuda")] == ["polyphase", "shifted2"]
    for name in ("miller", "regular"):
        monkeypatch.setattr(type(METHODS[name]), "evaluators", {"cpu": METHODS[name].evaluators["cpu"]})
    with pytest.raises(MethodDoesNotApply, match="miller has no kernel for cuda"):
        chosen(Problem.langford(9, 3), "cuda")


def test_a_seed_asks_for_a_method_that_has_one() -> None:
    assert fastest_method(Problem.langford(8), "cpu", seeded=True).name == "shifted2"
    with pytest.raises(MethodDoesNotApply, match="no method with a seed can count"):
        fastest_method(Problem.langford(9, 3), "cpu", seeded=True)


# -- the depth --------------------------------------------------------------------------------


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> None:
    """L(2,20) by polyphase takes the devices of the benchmarks 4,000 seconds, at equal tasks."""
    counted = {"cpu": [("langford-20", 4000.0)], "cuda": [("langford-20", 4000.0)]}
    monkeypatch.setattr(type(METHODS["polyphase"]), "speeds", Speeds(pairs=Growth(17, 20, counted=counted)))


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize(
    ("device", "seconds", "at_most", "largest"),
    [
        (CPU, 1000.0, None, 1000.0),
        (CPU, 50.0, 1.0, 50.0),  # the given time is what is asked for
        (CPU, None, 2.0, 2.0),
        (Cuda(), None, None, 20.0),
        (Cuda(1), None, 5.0, 5.0),
        (Cuda(), 300.0, None, 300.0),
    ],
)
def test_tasks_take_at_most_the_time_of_the_benchmarks(
    device: Device, seconds: float | None, at_most: float | None, largest: float
) -> None:
    problem, method = Problem.langford(20), METHODS["polyphase"]

    def longest(depth: int) -> float:
        work = method.plan(problem, depth).work
        return 4000.0 * float(work.max() / work.sum())

    depth = task_depth(problem, method, device, seconds, at_most)
    assert longest(depth) <= largest < longest(depth - 2)


@pytest.mark.usefixtures("steady")
def test_without_a_limit_a_core_has_the_suggested_depth() -> None:
    problem, method = Problem.langford(20), METHODS["polyphase"]
    suggested = method.suggested_depth(problem)
    for at_most in (None, 1e6):
        assert task_depth(problem, method, CPU, at_most=at_most) == suggested
    # No time asks for more tasks than anyone keeps.
    deepest = task_depth(problem, method, CPU, 1e-9)
    assert method.fewest_tasks(problem, deepest) <= MANY_TASKS < method.fewest_tasks(problem, deepest + 2)


def test_a_time_of_tasks_needs_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(METHODS["polyphase"]), "speeds", Speeds(pairs=Growth(17, 20)))
    problem, method = Problem.langford(20), METHODS["polyphase"]
    with pytest.raises(BadInput, match="how long polyphase takes on a core: give a depth instead"):
        task_depth(problem, method, CPU, 20.0)
    assert task_depth(problem, method, CPU, at_most=1.0) == method.suggested_depth(problem)


@pytest.mark.parametrize(("name", "depth"), [("polyphase", 8), ("miller", 1)])
def test_a_gpu_without_a_benchmark_has_larger_tasks_than_a_core(
    monkeypatch: pytest.MonkeyPatch, name: str, depth: int
) -> None:
    problem, method = Problem.langford(20), METHODS[name]
    monkeypatch.setattr(type(method), "speeds", Speeds(pairs=Growth(17, 20)))
    fewer = method.suggested_depth(problem) - Cuda.fewer_levels
    assert task_depth(problem, method, Cuda()) == depth == max(method.depths(problem)[0], fewer)


def test_a_depth_of_too_many_tasks_is_passed_over() -> None:
    problem, method = Problem.langford(19), METHODS["miller"]
    deepest = task_depth(problem, method, CPU, 1e-9)
    with pytest.raises(BadDepth, match="gives more than"):
        method.plan(problem, deepest + 1)


# -- the plan ---------------------------------------------------------------------------------


def test_all_commands_have_the_same_plan(langford: Run) -> None:
    def planned(*arguments: str) -> str:
        done = langford(*arguments, "--dry-run", "--json", values=taking(lambda problem, method: 1000.0))
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["what"])

    for options in ((), ("--device", "cuda"), ("--seed", "7"), ("--task-time", "5m")):
        device = Cuda() if "cuda" in options else CPU
        seed, seconds = 7 if "--seed" in options else None, 300.0 if "--task-time" in options else None
        key = chosen_plan(Problem.langford(24), device, seed=seed, task_seconds=seconds).key
        assert planned("create", "24", *options) == f"campaign {key.name} (would be created): {key}"
        if device is CPU:  # a run needs its GPU
            assert planned("run", "24", *options) == f"campaign {key.name} (would be created): {key}"
    assert library.plan(12).key == chosen_plan(Problem.langford(12), CPU).key
    done = langford("run", "12", "--json")
    assert json.loads(done.stdout)["campaign"] == library.plan(12).key.name
    # Another process of the same machine, device or number of cores: the same campaign is resumed.
    assert langford("run", "12", "--workers", "1", "--json").stdout == done.stdout


def test_what_is_given_is_not_chosen() -> None:
    problem = Problem.langford(8)
    assert chosen_plan(problem, CPU, "godfrey", 4).key == PlanKey(problem, "godfrey", 4)
    assert chosen_plan(problem, CPU, depth=2, seed=7).key == PlanKey(problem, "shifted2", 2, 7)


def test_a_named_method_needs_a_kernel_for_the_kind_of_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(METHODS["godfrey"]), "evaluators", {"cpu": METHODS["godfrey"].evaluators["cpu"]})
    with pytest.raises(MethodDoesNotApply, match="no kernel for cuda"):
        chosen_plan(Problem.langford(8), Cuda(), "godfrey")
