"""A seed is part of a campaign's identity: in the ledger, in files, on the wire, on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import langford as library
from db import CampaignRecord, Credential, Export, Ledger, Standing, joined, read_export
from db.errors import BadExport, CampaignMismatch, ConflictingResults
from db.messages import BadMessage, converted, document
from db.records import CampaignInfo
from jobs.reach import outbox_files
from jobs.verify import exchange
from jobs.verify.recomputation import recomputation
from langford.devices import CPU
from langford.errors import BadDepth, BadSeed
from langford.methods import MAX_SEED, PlanKey, plan_of
from langford.problem import Problem
from langford.result import Evaluation
from tests.support.brute_force import arrangements
from tests.support.campaigns import delivery
from tests.support.command_line import Run
from tests.support.enrolling import enrol
from tests.support.malicious_exports import with_header

PROBLEM = Problem.langford(7)
KEY = PlanKey(PROBLEM, "shifted", 4, 7)
DEFAULT = replace(KEY, seed=0)
UUIDS = "11111111-0000-4000-8000-000000000000", "22222222-0000-4000-8000-000000000000"


def evaluations(key: PlanKey) -> tuple[Evaluation, ...]:
    """True results of all tasks."""
    plan = plan_of(key)
    return tuple(Evaluation(plan.evaluate(index), 0.5, "{}") for index in plan.tasks)


def export_of(key: PlanKey, name: str = "seven") -> Export:
    return Export(name, key, len(plan_of(key).tasks), evaluations(key))


def info(key: PlanKey) -> CampaignInfo:
    known = CampaignRecord(1, UUIDS[1], "seven", key, 9, 1.0, 0.0, 0.0)
    return CampaignInfo.of(UUIDS[0], known, Standing({}, {}), "kernels")


# -- ledgers and files ------------------------------------------------------------------------


def test_a_ledger_keeps_campaigns_of_two_seeds_apart(ledger: Ledger, tmp_path: Path) -> None:
    files = {}
    for key in (KEY, DEFAULT):
        files[key] = tmp_path / f"{key.name}.gz"
        files[key].write_bytes(export_of(key, key.name).to_bytes())
        campaign, events = exchange.take(ledger, files[key])
        assert campaign.key == key
        assert events == [None] * len(campaign.plan.tasks)
    assert [campaign.key for campaign in ledger.campaigns()] == [KEY, DEFAULT]
    assert {campaign.reader.merged().arrangements for campaign in ledger.campaigns()} == {arrangements(PROBLEM)}
    with pytest.raises(CampaignMismatch, match="with seed 7"):
        ledger.create_campaign(KEY.name, DEFAULT, plan_of(DEFAULT).work.tolist())
    with pytest.raises(CampaignMismatch, match="join exports of one campaign"):
        joined([read_export(file) for file in files.values()])


def test_a_campaigns_advice_names_its_seed(ledger: Ledger) -> None:
    campaign = ledger.create_campaign("mine", KEY, plan_of(KEY).work.tolist())
    for worker in "ab":
        enrol(ledger, worker, "host", "1")
    [lease] = campaign.worker.lease("a", 1, 60)
    right = plan_of(KEY).evaluate(lease.index)
    campaign.worker.deliver([delivery(lease, right)])
    campaign.worker.deliver([delivery(lease, replace(right, value=right.value + 1, residue=right.residue + 1))])
    with pytest.raises(ConflictingResults, match="--method shifted --depth 4 --seed 7 --name mine"):
        campaign.reader.results()


@settings(max_examples=10)
@given(st.integers(0, MAX_SEED))
def test_every_seed_travels(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    key = replace(KEY, seed=seed)
    file = tmp_path_factory.mktemp("export") / "seven.gz"
    file.write_bytes(Export("seven", key, len(plan_of(KEY).tasks), ()).to_bytes())
    assert read_export(file).key == key
    assert converted(json.loads(json.dumps(document(info(key)))), CampaignInfo).key == key


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"seed": 7}, "has no seed"),
        ({"seed": -1}, "seed: expected an integer >= 0"),
        ({"seed": 2**31}, "seed: expected an integer <= 2147483647"),
        ({"seed": "7"}, "seed: expected an integer, got text"),
    ],
)
def test_exports_with_a_wrong_seed_are_refused(tmp_path: Path, fields: dict[str, object], says: str) -> None:
    file = tmp_path / "wrong.gz"
    file.write_bytes(with_header(**fields))
    with pytest.raises(BadExport, match=says):
        read_export(file)


def test_a_result_on_its_way_belongs_to_one_seed() -> None:
    sent = delivery(Credential(3, "n"), plan_of(KEY).evaluate(0))
    content = outbox_files.sealed(info(KEY), "kernels", sent)
    assert outbox_files.opened(content, info(KEY)) == sent
    with pytest.raises(BadMessage, match="its seed"):
        outbox_files.opened(content, info(DEFAULT))


# -- plans ------------------------------------------------------------------------------------


def test_a_recomputation_has_the_same_seed() -> None:
    plan = plan_of(KEY)
    way = recomputation(plan, None, CPU)
    assert (way.plan.seed, way.plan.depth) == (7, 6)
    assert "with the same seed 7, as sums of the tasks at depth 6" in way.words
    assert [
        way.evaluation(index, [way.part(part) for part in way.parts(index)]).result.value for index in plan.tasks
    ] == [plan.evaluate(index).value for index in plan.tasks]
    assert plan.owners(plan_of(DEFAULT)) is None


def test_the_library_takes_a_seed() -> None:
    assert library.plan(8, "shifted", seed=5).key.seed == 5
    assert library.plan(8, seed=5).key.method == "shifted2"
    assert library.count(8, seed=5) == library.count(8, "shifted", seed=6) == 150
    for call in (library.plan, library.count):
        with pytest.raises(BadSeed, match="godfrey has no seed"):
            call(8, "godfrey", seed=0)


# -- the command line -------------------------------------------------------------------------


def test_commands_take_a_seed(langford: Run) -> None:
    counted = json.loads(langford("count", "8", "--method", "shifted", "--seed", "5", "--json").stdout)
    assert (counted["count"], counted["seed"], counted["method"]) == ("150", 5, "shifted")
    created = langford("create", "langford", "8", "--method", "shifted", "--depth", "4", "--seed", "5")
    assert created.stdout.startswith("langford-8-shifted-4-seed-5: ")
    ran = langford("run", "langford", "8", "--method", "shifted", "--depth", "4", "--seed", "5", "--json")
    assert json.loads(ran.stdout)["seed"] == 5
    assert json.loads(ran.stdout)["campaign"] == "langford-8-shifted-4-seed-5"
    other = langford("run", "langford", "8", "--seed", "6", "--depth", "4")
    assert other.stdout.startswith("L(2,8) = 150\n"), other.stderr
    again = langford("run", "langford", "8", "--seed", "6", "--json")
    assert json.loads(again.stdout)["campaign"] == "langford-8-shifted2-4-seed-6"
    by_name = langford("run", "langford", "8", "--name", "langford-8-shifted2-4-seed-6", "--json")
    assert json.loads(by_name.stdout)["seed"] == 6
    default = langford("run", "langford", "8", "--method", "shifted", "--ledger", "langford.db", "--json")
    assert (json.loads(default.stdout)["seed"], json.loads(default.stdout)["count"]) == (0, "150")
    rows = json.loads(langford("status", "--json").stdout)[:2]
    assert [row["seed"] for row in rows] == [5, 6]
    assert all(row["tasks"]["done"] == row["tasks"]["total"] > 0 for row in rows)
    verified = langford("verify", "langford-8-shifted-4-seed-5", "--sample", "100%", "--statement", "said.txt")
    assert verified.returncode == 0, verified.stderr
    assert "shifted at depth 4 with seed 5" in langford("verify", "--check", "said.txt").stdout


def test_a_plan_has_one_seed_however_it_is_written() -> None:
    first, second = (library.plan(PROBLEM, "shifted", 4, seed=seed) for seed in (True, 1))
    assert (first.key.name, first.seed) == (second.key.name, 1)
    assert first.evaluate(0) == plan_of(replace(KEY, seed=1)).evaluate(0)
    for seed in (1.0, "1", 1.5):
        with pytest.raises(BadSeed, match="whole number"):
            library.plan(PROBLEM, "shifted", 4, seed=seed)  # type: ignore[arg-type]
    assert library.plan(PROBLEM, depth=np.int64(4)).key == library.plan(PROBLEM, depth=4).key
    with pytest.raises(BadDepth, match="whole number"):
        library.plan(PROBLEM, depth=4.0)  # type: ignore[arg-type]
