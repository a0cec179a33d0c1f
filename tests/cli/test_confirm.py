"""``langford confirm``: a count is confirmed by another sum, contradicted by a wrong one, and resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from db import Export, Ledger
from jobs.verify.agreement import agreement
from jobs.verify.confirmation import Confirmation, confirmations, confirming_plan
from jobs.verify.second_method import advised, second_method
from langford.arithmetic.residue import residue
from langford.devices import CPU, Cuda, Device
from langford.errors import BadInput, MethodDoesNotApply
from langford.methods import MAX_SEED, METHODS, Count, Method, PlanKey, plan_of
from langford.methods.speed import Speed, whole_work
from langford.problem import Problem
from langford.result import Evaluation, PartialResult
from tests.support.cases import exhaustive
from tests.support.command_line import Run
from tests.support.databases import new_ledger

PROBLEM = Problem.langford(8)
ROSA = Problem.named("rosa", 8)
SAME = Problem.from_differences(range(1, 9), 17, [9])
"""The same rows by another name."""


def write_campaign(folder: Path, key: PlanKey, results: list[PartialResult], name: str = "eight") -> None:
    """A campaign with these results in the ledger of a folder."""
    evaluations = tuple(Evaluation(result, 0.1, "{}") for result in results)
    with new_ledger("sqlite", folder, "langford.db") as ledger:
        ledger.take(Export(name, key, len(plan_of(key).tasks), evaluations), plan_of(key), "i", "here", "1")


def true_results(key: PlanKey) -> list[PartialResult]:
    plan = plan_of(key)
    return [plan.evaluate(index) for index in plan.tasks]


@pytest.mark.parametrize(
    ("key", "options", "method", "seed"),
    [
        (PlanKey(PROBLEM, "polyphase", 4), [], "shifted2", 0),
        (PlanKey(PROBLEM, "shifted2", 4), [], "polyphase", 0),
        (PlanKey(PROBLEM, "shifted", 4), ["--seed", "9"], "shifted", 9),
        *exhaustive([(PlanKey(PROBLEM, "shifted", 4), [], "polyphase", 0)]),
        (PlanKey(PROBLEM, "shifted", 4, 3), ["--method", "shifted"], "shifted", 4),
        (PlanKey(PROBLEM, "shifted", 4, MAX_SEED), ["--method", "shifted"], "shifted", 0),
        (PlanKey(PROBLEM, "polyphase", 4), ["--method", "miller"], "miller", 0),
        (PlanKey(Problem.langford(9, 3), "miller", 1), [], "regular", 0),
    ],
    ids=str,
)
def test_another_sum_confirms(
    langford: Run, tmp_path: Path, key: PlanKey, options: list[str], method: str, seed: int
) -> None:
    write_campaign(tmp_path, key, true_results(key))
    done = langford("confirm", "eight", *options, "--json")
    assert done.returncode == 0, done.stderr
    assert "recounting eight using" in done.stderr
    assert "confirmed" not in done.stderr
    document = json.loads(done.stdout)
    assert document["agrees"] is True
    first, second = document["campaigns"]
    assert (first["campaign"], first["method"], first["seed"]) == ("eight", key.method, key.seed)
    assert (second["method"], second["seed"]) == (method, seed)
    assert first["arrangements"] == second["arrangements"] == str(2 * int(first["count"]))
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        assert [campaign.name for campaign in ledger.campaigns()] == ["eight", second["campaign"]]


def test_a_wrong_count_is_not_confirmed(langford: Run, tmp_path: Path) -> None:
    # Nothing but a second sum finds it: it is off by one, its residue fits, and nobody has published the count.
    key = PlanKey(Problem.named("hooked-langford", 10), "shifted", 2)
    right = true_results(key)
    value = right[1].value + 1
    write_campaign(tmp_path, key, [right[0], replace(right[1], value=value, residue=residue(value)), *right[2:]])
    assert langford("result", "eight").returncode == 0
    done = langford("confirm", "eight", "--json")
    assert done.returncode == 4
    assert "not confirmed: the two counts differ" in done.stderr
    assert "langford verify eight --sample 100%" in done.stderr
    document = json.loads(done.stdout)
    assert document["agrees"] is False
    first, second = (int(campaign["arrangements"]) for campaign in document["campaigns"])
    assert first - second == 1
    text = langford("confirm", "eight")
    assert (text.returncode, "confirmed:" in text.stdout) == (4, False)


# -- which method -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("begun", "chosen"),
    [
        ("", "godfrey"),
        ("create godfrey --depth 4, create miller", "godfrey"),
        ("create miller, run shifted2", "shifted2"),
        ("run shifted2, run miller", "miller"),
        ("run shifted --seed 3", "shifted"),
    ],
    ids=[
        "the least related",
        "the same, begun at another depth",
        "a finished one",
        "of those finished, the least related",
        "a finished one by another seed",
    ],
)
def test_a_second_count_that_was_begun_is_resumed(langford: Run, tmp_path: Path, begun: str, chosen: str) -> None:
    key = PlanKey(ROSA, "shifted", 0)
    write_campaign(tmp_path, key, true_results(key))
    made = []
    for command in filter(None, begun.split(", ")):
        verb, method, *options = command.split()
        made.append(f"rosa-8-{method}")
        plan = ["rosa", "8", "--method", method, "--name", f"rosa-8-{method}", *options]
        assert langford(verb, *plan).returncode == 0
    done = langford("confirm", "eight", "--json")
    assert done.returncode == 0, done.stderr
    second = json.loads(done.stdout)["campaigns"][1]
    assert second["method"] == chosen
    assert (second["campaign"] in made) == (f"rosa-8-{chosen}" in made)
    assert json.loads(langford("confirm", "eight", "--json").stdout)["campaigns"][1] == second


def test_of_several_methods_the_least_related_of_those_that_cost_little_counts_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    costs = {"polyphase": 20.0, "godfrey": 60.0, "shifted": 40.0, "shifted2": 40.0}
    key = PlanKey(Problem.langford(12), "shifted2", 0)

    def chosen(first: PlanKey = key, **others: float) -> str:
        def tabled(problem: Problem, method: Method, device_kind: str) -> Speed:
            seconds = {**costs, **others}.get(method.name, 180.0)
            return Speed(seconds / whole_work(problem, method), 1.0, method, problem)

        monkeypatch.setattr("jobs.verify.second_method.tabled", tabled)
        method = second_method(first, "cpu")
        assert method is not None
        return method.name

    assert chosen() == "polyphase"
    assert chosen(polyphase=170.0, godfrey=170.0) == "shifted", "shares more, but costs less"
    assert chosen(godfrey=0.9, polyphase=0.1, shifted=0.1, shifted2=0.1) == "polyphase", "all take moments"
    few = PlanKey(Problem.langford(8), "miller", 0)
    assert chosen(few, miller=9.0, regular=9.0) != "regular", "places colours by the same code"


def test_nothing_is_measured_for_the_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    def second(key: PlanKey, seeded: bool = False) -> str:
        method = second_method(key, "cpu", seeded=seeded)
        assert method is not None
        return method.name

    monkeypatch.setattr("langford.methods.speed.measured", lambda *_: pytest.fail("measured"))
    assert second(PlanKey(Problem.langford(15, copies=3), "miller", 2)) == "regular"
    assert second(PlanKey(Problem.langford(20), "shifted", 0), seeded=True) == "shifted"
    assert advised(PlanKey(Problem.langford(24), "shifted2", 8)) == "--method polyphase"
    assert advised(PlanKey(Problem.parse("starter-20"), "necklace", 0, 4)) == "--method necklace --seed 5"


def begun(key: PlanKey) -> Mock:
    """A campaign without all results."""
    campaign = Mock(key=key, problem=key.problem)
    campaign.name = key.name
    campaign.reader.standing.return_value = Mock(missing=1, is_stopped=False)
    return campaign


def second_plan(
    first: PlanKey,
    other: PlanKey,
    method: str | None = None,
    seed: int | None = None,
    depth: int | None = None,
    device: Device = CPU,
) -> PlanKey:
    return confirming_plan([begun(other)], begun(first), method, seed, depth, [device])[0]


def test_a_campaign_that_is_begun_is_another_sum_of_what_is_asked_for() -> None:
    first, polyphase = PlanKey(PROBLEM, "shifted", 4), PlanKey(PROBLEM, "polyphase", 4)
    assert second_plan(first, polyphase) == polyphase
    seeded = second_plan(first, polyphase, seed=9)
    assert (seeded.method, seeded.seed) == ("shifted", 9)
    seven = replace(polyphase, problem=Problem.langford(7))
    assert second_plan(first, seven, "polyphase").problem == PROBLEM


def test_a_campaign_by_another_name_or_at_another_depth() -> None:
    first, same = PlanKey(ROSA, "shifted", 0), PlanKey(SAME, "godfrey", 4)
    assert second_plan(first, same) == same
    assert second_plan(first, replace(same, problem=ROSA), depth=6) == PlanKey(ROSA, "godfrey", 6)


@pytest.mark.parametrize(
    ("first", "method", "seed", "words"),
    [
        (PlanKey(PROBLEM, "polyphase", 4), "polyphase", None, "is this same sum"),
        (PlanKey(Problem.langford(9, 3), "miller", 1), None, 5, "no other method .* by a seed: choose another"),
    ],
    ids=["by no seed of its own", "no method has seeds"],
)
def test_no_plan_confirms(first: PlanKey, method: str | None, seed: int | None, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        second_plan(first, first, method, seed)


def test_a_method_without_a_kernel_for_the_device_confirms_nothing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = PlanKey(ROSA, "shifted", 0), PlanKey(ROSA, "godfrey", 4)
    assert second_plan(first, other, device=Cuda()) == other
    monkeypatch.setattr(type(METHODS["godfrey"]), "evaluators", {"cpu": METHODS["godfrey"].evaluators["cpu"]})
    assert second_plan(first, other, device=Cuda()).method != "godfrey"
    with pytest.raises(MethodDoesNotApply, match="no kernel for cuda"):
        second_plan(first, other, "godfrey", device=Cuda())


@pytest.mark.parametrize(("problem", "compared"), [(PROBLEM, 1), (Problem.langford(7), 0)], ids=str)
def test_only_counts_of_one_problem_are_compared(problem: Problem, compared: int) -> None:
    campaign, other = begun(PlanKey(PROBLEM, "shifted", 4)), begun(PlanKey(problem, "polyphase", 4))
    other.reader.standing.return_value.missing = 0
    assert len([*confirmations(campaign, Mock(), [campaign, other])]) == compared


# -- what it says -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "count", "agrees", "words"),
    [
        (PROBLEM, 150, True, "confirmed: polyphase and shifted give the same count"),
        (PROBLEM, 151, False, "not with what is known: differs"),
        (
            Problem.named("hooked-langford", 10),
            6824,
            True,
            "confirmed: polyphase and shifted",
        ),  # nothing is published
    ],
)
def test_two_counts_that_agree_must_agree_with_what_is_known(
    monkeypatch: pytest.MonkeyPatch, problem: Problem, count: int, agrees: bool, words: str
) -> None:
    asked = Mock(wraps=agreement)
    monkeypatch.setattr("jobs.verify.confirmation.agreement", asked)
    both = Count(problem, 2 * count, count, 1, 1, ())
    keys = [(method, PlanKey(problem, method, 4)) for method in ("polyphase", "shifted")]
    confirmation = Confirmation(problem, keys[0], keys[1], (both, both))
    assert confirmation.agrees is confirmation.document()["agrees"] is agrees
    assert words in confirmation.words
    asked.assert_called_once()  # it may take random walks
