"""Which method counts a problem: by measured speed where there is one, else by rule; and what tune measures."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import pytest

import langford as library
from jobs.tuning.choice import choices
from langford import counting, methods
from langford.devices import CPU, Cuda, Device
from langford.errors import BadDepth, BadInput, BadSeed, MethodDoesNotApply
from langford.kernels.gpu.runtime import NoGpu
from langford.machine.profile import profile_file, save_settings
from langford.methods import METHODS, PlanKey, candidates, chosen_plan, fastest_method, speed
from langford.methods.choice import by_rule
from langford.methods.speed import keep, measured
from langford.problem import Problem
from tests.support.command_line import ENVIRONMENT, Run

POLYPHASE_FASTER, SHIFTED_FASTER = {"polyphase": 1.0, "shifted2": 2.0}, {"polyphase": 3.0, "shifted2": 2.0}


@pytest.fixture(autouse=True)
def own_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGFORD_PROFILE", str(tmp_path / "profile.json"))
    monkeypatch.setitem(ENVIRONMENT, "LANGFORD_PROFILE", str(tmp_path / "profile.json"))


def chosen(problem: Problem, device: Device = CPU) -> str:
    return fastest_method(problem, device).method.name


def test_without_a_measurement_a_rule_chooses() -> None:
    first = METHODS["shifted2"].speeds.fastest_from["cpu"]
    assert METHODS["shifted"].speeds.fastest_from["cpu"] == first
    assert [chosen(Problem.langford(n)) for n in (4, first - 1, first, 28, 32)] == ["polyphase"] * 2 + [
        "shifted2"
    ] * 3
    assert chosen(Problem.langford(12, 3)) == "miller"
    # Half of the points are enough for hooked rows.
    assert [chosen(Problem.hooked_skolem(n)) for n in (15, 22)] == ["polyphase", "shifted2"]
    # An odd number of even differences: the second version does not apply.
    assert chosen(Problem.langford(first + 1)) == "shifted"
    assert chosen(Problem.from_differences(range(1, 2 * first, 2))) == "shifted2"
    assert fastest_method(Problem.langford(28), CPU).reason.startswith("by rule")
    assert not fastest_method(Problem.langford(12, 3), CPU).reason


def test_a_device_without_a_kernel_of_a_method_leaves_it_out() -> None:
    for kind in ("cpu", "cuda"):
        for problem in (Problem.langford(8), Problem.langford(28)):
            assert all(kind in method.evaluators for method in candidates(problem, kind))
    assert {method.name for method in candidates(Problem.langford(28), "cpu")} == {"polyphase", "shifted2"}


def test_a_seed_asks_for_a_method_that_has_one() -> None:
    assert fastest_method(Problem.langford(8), CPU, seeded=True).method.name == "shifted2"
    with pytest.raises(MethodDoesNotApply, match="no method with a seed can count"):
        fastest_method(Problem.langford(9, 3), CPU, seeded=True)


def test_what_was_measured_for_the_problem_decides() -> None:
    small, large = Problem.langford(11), Problem.langford(28)
    keep(small, CPU, SHIFTED_FASTER)
    keep(large, CPU, POLYPHASE_FASTER)
    assert (chosen(small), chosen(large)) == ("shifted2", "polyphase")
    assert "polyphase 1 s, shifted2 2 s" in fastest_method(large, CPU).reason
    keep(large, CPU, {"polyphase": 164_700.0, "shifted2": 911.0})
    assert (chosen(small), chosen(large)) == ("shifted2", "shifted2")
    assert "polyphase 1 d 22 h, shifted2 15 min 11 s" in fastest_method(large, CPU).reason


def test_neighbours_of_the_same_kind_decide_as_far_as_they_can() -> None:
    keep(Problem.langford(15), CPU, SHIFTED_FASTER)
    assert [chosen(Problem.langford(n)) for n in (14, 16, 24)] == ["polyphase", "shifted2", "shifted2"]
    assert "for 15 colours" in fastest_method(Problem.langford(16), CPU).reason
    keep(Problem.langford(24), CPU, POLYPHASE_FASTER)
    # The nearest one that says something.
    assert [chosen(Problem.langford(n)) for n in (16, 23, 27)] == ["shifted2", "polyphase", "shifted2"]
    keep(Problem.skolem(24), CPU, POLYPHASE_FASTER)
    assert [chosen(Problem.skolem(n)) for n in (21, 25)] == ["polyphase", "shifted2"]
    keep(Problem.from_differences([1, 3, 5]), CPU, SHIFTED_FASTER)
    assert chosen(Problem.from_differences([1, 3, 5, 7])) == "polyphase"


def test_half_a_measurement_decides_nothing() -> None:
    keep(Problem.langford(8), CPU, {"shifted2": 1.0})
    keep(Problem.langford(24), CPU, {"godfrey": 1.0, "polyphase": 2.0})
    assert (chosen(Problem.langford(8)), chosen(Problem.langford(24))) == ("polyphase", "shifted2")


@pytest.mark.parametrize("damaged", [{"langford-8": "fast"}, {"eight": {}}, {"langford-8": {"miller": -1}}])
def test_a_damaged_measurement_is_said_and_decides_nothing(
    damaged: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    save_settings(CPU.name, "choice", damaged)
    assert chosen(Problem.langford(8)) == "polyphase"
    assert f"{profile_file()} is not used ({CPU.name} holds no times): " in capfd.readouterr().err


def test_the_library_counts_by_the_measured_method_but_plans_alike_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep(Problem.langford(8), CPU, SHIFTED_FASTER)
    evaluated = []
    monkeypatch.setattr(counting, "count_tasks", lambda plan, *_: evaluated.append(plan.key) or _counted(plan))
    assert library.count(8) == 150
    assert [key.method for key in evaluated] == ["shifted2"]
    assert library.plan(8).key.method == "polyphase"


def _counted(plan: library.Plan) -> tuple[library.Count, float]:
    return library.merge(plan, [plan.evaluate(index) for index in plan.tasks]), 0.0


# -- the plan ---------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.parametrize("device", [CPU, Cuda()], ids=str)
def test_all_commands_choose_alike_where_nothing_was_measured(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``run`` makes a plan of this machine, ``create`` and ``mpi`` a shared one, which needs no GPU here."""
    families = (Problem.langford, Problem.skolem, Problem.hooked_langford, Problem.hooked_skolem)
    problems = [family(n) for family in families for n in range(8, 33, 3)]
    problems += [Problem.langford(n, 3) for n in (9, 19)]
    options = [(problem, seed) for problem in problems for seed in (None, 7) if seed is None or problem.copies == 2]
    shared = [chosen_plan(problem, device, seed=seed, shared=True) for problem, seed in options]
    monkeypatch.setattr(Cuda, "name", "a GPU")
    here = [chosen_plan(problem, device, seed=seed) for problem, seed in options]
    assert [each.method for each in shared] == [each.method for each in here]
    # Where a core needs days, `create` takes what is the fastest on GPUs even if no device is given.
    large = [(problem, seed) for problem, seed in options if problem.n > 23]
    on_cores = [chosen_plan(problem, CPU, seed=seed, shared=True).method for problem, seed in large]
    assert on_cores == [chosen_plan(problem, device, seed=seed, shared=True).method for problem, seed in large]
    assert len({each.method.name for each in shared}) > 2


def test_a_plan_of_this_machine_is_by_the_measured_method_and_a_shared_one_by_rule() -> None:
    problem = Problem.langford(8)
    keep(problem, CPU, SHIFTED_FASTER)
    here, everywhere = chosen_plan(problem, CPU), chosen_plan(problem, CPU, shared=True)
    assert (here.method.name, everywhere.method.name) == ("shifted2", "polyphase")
    assert here.reason.startswith("measured on this machine")
    assert everywhere.reason == "by rule for cpu"
    assert everywhere.plan.key == everywhere.key == library.plan(8).key


def test_what_is_given_is_not_chosen() -> None:
    problem = Problem.langford(8)
    keep(problem, CPU, SHIFTED_FASTER)
    named = chosen_plan(problem, CPU, "godfrey", 4)
    assert (named.key, named.reason) == (PlanKey(problem, "godfrey", 4), "")
    assert chosen_plan(problem, CPU, depth=2, seed=7, shared=True).key == PlanKey(problem, "shifted2", 2, 7)


def test_a_bad_choice_is_refused_before_there_is_a_plan() -> None:
    problem = Problem.langford(8)
    for given, error in (
        ({"method": "shifted", "depth": 99}, BadDepth),
        ({"depth": 2.0}, BadDepth),
        ({"method": "polyphase", "seed": 1}, BadSeed),
        ({"method": "shifted", "seed": "7"}, BadSeed),
        ({"method": "abacus"}, MethodDoesNotApply),
    ):
        with pytest.raises(error):
            chosen_plan(problem, CPU, **given)


def test_only_a_plan_of_this_machine_needs_a_kernel_for_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.langford(8)
    monkeypatch.setattr(type(METHODS["godfrey"]), "evaluators", {"cpu": METHODS["godfrey"].evaluators["cpu"]})
    with pytest.raises(MethodDoesNotApply, match="no kernel for cuda"):
        chosen_plan(problem, Cuda(), "godfrey")
    assert chosen_plan(problem, Cuda(), "godfrey", shared=True).key.method == "godfrey"


def test_a_depth_by_the_speed_is_measured_once_and_only_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[float | None] = []

    def depth(problem: Problem, method: object, device: Device, seconds: float | None, at_most: None) -> int:
        measured.append(seconds)
        return 4

    monkeypatch.setattr(methods, "task_depth", depth)
    plan = chosen_plan(Problem.langford(8), CPU, "polyphase", task_seconds=20.0)
    assert measured == []
    assert (plan.key.depth, plan.plan.depth, measured) == (4, 4, [20.0])


# -- langford tune choice ---------------------------------------------------------------------


def test_tune_measures_what_count_and_run_then_choose(langford: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_name(card: Cuda) -> str:
        raise NoGpu("there is none")

    monkeypatch.setattr(Cuda, "name", property(no_name))
    soon = {"langford.methods.speed:ENOUGH_SECONDS": 0.001}
    tuned = langford("tune", "choice", "11", "--repeat", "1", "--json", values=soon)
    assert tuned.returncode == 0, tuned.stderr
    [experiment] = json.loads(tuned.stdout)
    seconds = {curve["label"]: curve["trials"][0]["seconds"] for curve in experiment["curves"]}
    assert set(seconds) == {"polyphase", "shifted2"}
    assert json.loads(profile_file().read_text())["cpu"]["choice"] == {"langford-11": seconds}
    fastest = min(seconds, key=seconds.__getitem__)
    counted = json.loads(langford("count", "11", "--json").stdout)
    assert counted["method"] == fastest
    assert counted["chosen"].startswith("measured on this machine")
    # The other one is the faster now: a campaign that was begun goes on as it was.
    ran = langford("run", "langford", "11", "--json")
    other = {"polyphase": "shifted2", "shifted2": "polyphase"}[fastest]
    assert "measured on this machine" in ran.stderr
    keep(Problem.langford(11), CPU, {fastest: 2.0, other: 1.0})
    assert langford("run", "langford", "11", "--json").stdout == ran.stdout
    assert json.loads(langford("count", "11", "--json").stdout)["method"] == other
    by_name = json.loads(langford("count", "11", "--method", fastest, "--json").stdout)
    assert (by_name["method"], by_name["chosen"]) == (fastest, None)
    assert f"chosen    {other}, measured on this machine: " in langford("count", "11", "-v").stdout


def test_tune_keeps_nothing_when_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "ENOUGH_SECONDS", 0.001)
    [(kind, experiment)] = choices(Problem.hooked_skolem(10), 1, save=False)
    assert (kind, experiment.best.settings["method"]) in {("cpu", "polyphase"), ("cpu", "shifted2")}
    assert not profile_file().exists()
    with pytest.raises(BadInput):
        list(choices(Problem.langford(9, 3), 1))


@pytest.mark.exhaustive
def test_projections_are_of_the_right_order() -> None:
    """The projection of a whole count from some tasks, and the count itself, by the clock of the same core."""
    problem = Problem.langford(14)
    for method in candidates(problem, "cpu"):
        plan = method.plan(problem, 4)
        expected = measured(problem, method, CPU, 3).expected(problem)
        began = CPU.clock()
        for task in plan.tasks:
            plan.evaluate(task)
        took = CPU.clock() - began
        assert took / 4 < expected < took * 4


@pytest.mark.parametrize(
    ("n", "begins", "chosen"),
    [(30, (20, 10), 1), (30, (10, 20), 2), (15, (20, 10), 2), (5, (20, 10), 0), (30, (None, 20), 2)],
)
def test_of_methods_the_one_that_is_fastest_from_the_largest_n_on_is_chosen(
    n: int, begins: tuple[int | None, int | None], chosen: int
) -> None:
    methods = [Mock(speeds=Mock(first=Mock(return_value=begin))) for begin in (None, *begins)]
    assert by_rule(Problem.langford(n), methods, "cpu") is methods[chosen]
