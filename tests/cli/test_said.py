"""What short commands say of what they did, and of what is known."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from db.identity import Identity, process_name
from db.ledger import Ledger
from jobs.console import Console
from jobs.pools.evaluation import InProcessPool
from jobs.pools.pool import Finished
from jobs.run.loop import Run
from jobs.run.source import TaskSource
from langford.cli.main import cli
from langford.devices import CPU
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.enrolling import enrol
from tests.support.pages import ROOT

KEY = PlanKey(Problem.langford(12), "polyphase", 8)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: None) -> Path:
    monkeypatch.chdir(tmp_path)
    with Ledger("langford.db", create=True) as ledger:
        ledger.create_campaign("twelve", KEY, plan_of(KEY).work.tolist())
    return tmp_path


def said(*arguments: str) -> str:
    outcome = CliRunner().invoke(cli, arguments)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def test_what_is_written_is_named(folder: Path) -> None:
    assert said("draw", "--cubes", "3,1,2,1,3,2", "--out", "three.svg").startswith("three.svg: 3,1,2,1,3,2\n")
    assert said("token", "twelve", "--out", "secret").startswith("secret: a token for twelve, role worker")
    assert (folder / "secret").read_text().strip() not in said("token", "twelve", "--list")


def test_an_estimate_names_the_value_that_is_known() -> None:
    assert "exactly 2,636,337,861,200 (A014552)" in said("estimate", "20", "--walks", "100")
    assert json.loads(said("estimate", "20", "--walks", "100", "--json"))["exact"] == "2636337861200"
    assert "exactly" not in said("estimate", "rosa", "20", "--walks", "100")


def test_a_problem_that_no_method_counts_gets_one_reason() -> None:
    refused = str(CliRunner().invoke(cli, ["count", "200"]).exception)
    assert refused.endswith(
        "no method can count L(2,200): backtracking keeps the row in 128 bits; 400 places do not fit"
    )


@pytest.mark.exhaustive
def test_a_count_is_cited_with_the_program() -> None:
    assert CliRunner().invoke(cli, ["cite", "twelve"]).exception is not None  # it has no count yet
    said("run", "twelve", "--workers", "1")
    paragraph, entry = said("cite", "twelve").split("\n\n")
    assert paragraph.startswith("L(2,12) = 108,144 up to reversal was computed with langford ")
    assert entry.startswith("@software{langford,\n")
    cff = (ROOT / "CITATION.cff").read_text()
    assert re.findall('title: "(.*)"', cff) == re.findall("title = {(.*)}", entry)
    assert json.loads(said("cite", "twelve", "--json"))["citation"] == paragraph


def test_the_status_sees_that_a_process_of_this_host_is_gone() -> None:
    me = Identity.fresh()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        name = process_name(process.pid)
        with Ledger("langford.db") as ledger:
            enrol(ledger, me.worker_id, me.host, name)
            assert ledger.campaign("twelve").worker.lease(me.worker_id, 1, 100.0)
        assert "gone" not in said("status", "twelve")
        process.kill()
    assert "its process is gone" in said("status", "twelve")
    assert [worker["state"] for worker in json.loads(said("status", "--json"))[0]["workers"]] == ["ended"]


class Stopping(Console):
    """Asks to stop when the run has leased tasks."""

    def __init__(self) -> None:
        self.asked = 0

    def stop_reason(self) -> str | None:
        self.asked += 1
        return "SIGTERM" if self.asked > 2 else None


class Slow(InProcessPool):
    """Finishes nothing."""

    def poll(self, timeout: float | None) -> Iterator[Finished]:
        return iter(())


def test_a_run_that_is_stopped_knows_how_many_leases_it_gave_back() -> None:
    with Ledger("langford.db") as ledger:
        campaign = ledger.campaign("twelve")
        source = TaskSource(campaign.worker, Identity.fresh())
        report = Run(source, [CPU], Stopping(), pool_of=Slow).run()
        assert report.stopped == "SIGTERM"
        assert report.given_back > 0
        assert not campaign.reader.lease_holders()
