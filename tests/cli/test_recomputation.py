"""Tasks recomputed in parts: every part once, several of one task at once, and each task compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from db import Ledger
from jobs.pools.evaluation import evaluate
from jobs.verify.recomputation import Comparison, Recomputation, compare, recomputation
from langford.cli.results.confirm import confirm
from langford.cli.results.verify import verify
from langford.devices import CPU, HOST, Device
from langford.errors import BadDepth, MethodDoesNotApply
from langford.methods import METHODS, Plan, PlanKey, plan_of
from langford.problem import Problem
from langford.provenance import read
from langford.result import Evaluation
from tests.support.campaigns import PLAN, finish, new_campaign
from tests.support.cases import exhaustive
from tests.support.databases import new_ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with new_ledger("sqlite", tmp_path) as opened:
        yield opened


@dataclass(frozen=True)
class Together(Recomputation):
    """Each part waits until all that may be evaluated at once are."""

    barrier: Barrier

    @property
    def at_once(self) -> int:
        return self.barrier.parties

    def part(self, part: int) -> Evaluation:
        self.barrier.wait(timeout=60)
        return super().part(part)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_part_belongs_to_one_task(method: str) -> None:
    rows = [Problem.langford(8), Problem.named("starter", 6)]
    problem = next(each for each in rows if METHODS[method].refusal(each) is None)
    plan = plan_of(PlanKey(problem, method, 4))
    way = recomputation(plan, None, CPU)
    parts = [part for index in plan.tasks for part in way.parts(index)]
    assert sorted(parts) == list(way.plan.tasks)
    assert all(way.owners[part] == index for index in plan.tasks for part in way.parts(index))


SMALL = [
    Problem.langford(3), Problem.named("starter", 2), Problem.langford(4), Problem.skolem(4),
    Problem.langford(3, 3), Problem.named("hooked-skolem", 3), Problem.named("starter", 4),
    Problem.named("cyclic-skolem", 4),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "kernel"),
    [
        *((method, CPU) for method in sorted(METHODS.keys() - {"shifted", "shifted2"})),
        *exhaustive([("shifted2", CPU), ("miller", HOST)]),
    ],
    ids=str,
)
def test_all_tasks_of_small_problems_agree_at_every_depth(method: str, kernel: Device) -> None:
    """With the sums of deeper tasks, also those of a search that have none, and by the other kernel."""
    compared = childless = 0
    for problem in SMALL if kernel == CPU else SMALL[:2]:
        if METHODS[method].refusal(problem) is not None:
            continue
        for depth in METHODS[method].depths(problem):
            with suppress(BadDepth, MethodDoesNotApply):
                plan = METHODS[method].plan(problem, depth)
                way = recomputation(plan, None, kernel)
                stored: Any = SimpleNamespace(results=[evaluate(plan, index, CPU) for index in plan.tasks])
                shares = dict.fromkeys(plan.tasks, 0.0)

                def done(index: int, share: float, shares: dict[int, float] = shares) -> None:
                    shares[index] += share

                for comparison in compare(stored, way, plan.tasks, done):
                    assert comparison.verdict == "agrees", (problem.name, depth, comparison.words)
                    compared, childless = compared + 1, childless + (not way.parts(comparison.index))
                assert list(shares.values()) == pytest.approx([1.0] * len(plan.tasks))
    assert compared
    if kernel == CPU and METHODS[method].unit == "nodes":
        assert childless


def test_the_parts_of_one_task_are_evaluated_at_once(ledger: Ledger) -> None:
    campaign = new_campaign(ledger)
    finish(campaign, "a")
    way = recomputation(PLAN, None, CPU)
    index = max(PLAN.tasks, key=lambda index: len(way.parts(index)))
    together = Together(PLAN, way.plan, way.owners, way.device, way.words, Barrier(len(way.parts(index))))
    assert together.at_once > 1
    (comparison,) = compare(campaign.reader.export(), together, [index], lambda *_: None)
    assert comparison.verdict == "agrees"


def test_each_task_is_compared_and_its_parts_are_told(ledger: Ledger) -> None:
    campaign = new_campaign(ledger)
    shares = dict.fromkeys(PLAN.tasks, 0.0)

    def done(index: int, share: float) -> None:
        shares[index] += share

    way = recomputation(PLAN, None, CPU)
    assert list(compare(campaign.reader.export(), way, PLAN.tasks, done)) == [
        Comparison(index, None, None) for index in PLAN.tasks
    ]
    assert set(shares.values()) == {0.0}
    finish(campaign, "a")
    for comparison in compare(campaign.reader.export(), way, PLAN.tasks, done):
        assert comparison.verdict == "agrees"
        assert comparison.recomputed == PLAN.evaluate(comparison.index).value
    assert list(shares.values()) == pytest.approx([1.0] * len(PLAN.tasks))


def test_a_recomputed_value_tells_its_device_as_results_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(CPU), "described", property(lambda device: "cpu of a maker"))
    way = recomputation(PLAN, None, CPU)
    again = way.evaluation(0, [way.part(part) for part in way.parts(0)])
    facts = [read(each.provenance) for each in (evaluate(PLAN, 0), again)]
    assert facts[1] == {**facts[0], "how": way.words}
    assert facts[0]["device"] == "cpu of a maker"


def test_help_names_the_methods_that_share_partial_results() -> None:
    problem = Problem.langford(8)
    plans = {name: method.plan(problem, 4) for name, method in METHODS.items() if method.refusal(problem) is None}
    sharing = {name for name in plans for other in plans if name != other and _share(plans[name], plans[other])}
    assert sharing == {"miller", "regular"}
    for command in (verify, confirm):
        words = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
        assert "miller and regular" in words
        assert "partial sums" in words


def _share(plan: Plan, other: Plan) -> bool:
    """Whether the tasks of two plans have the same partial results, one by one."""
    owners = plan.owners(other)
    return owners is not None and [*owners] == [*other.tasks] == [*plan.tasks]
