"""What commands print for machines: one JSON document each, whose values are compared with the ledger's."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from db.errors import Unreplicated
from db.states import Outcome
from db.store.revision import SCHEMA
from jobs.run.loop import RunReport
from langford.cli.campaigns.running import conclude
from langford.cli.main import cli
from langford.errors import MachineFailed
from langford.ledger import Campaign, Ledger
from slurm import job_name
from tests.support.campaigns import COUNT, HOUR, KEY, NAME, PLAN, TASKS, finish, new_campaign, true_deliveries
from tests.support.command_line import Run
from tests.support.databases import new_ledger
from tests.support.servers import Server

NOTHING_PROMISED = {"promised": 0.0, "promise": "no replication requested (--replicate 0)"}
Tell = Callable[..., Any]


@pytest.fixture
def tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tell:
    """Run a command with --json in this process, in ``tmp_path``; what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Any:
        done = CliRunner().invoke(cli, [*arguments, "--json"], standalone_mode=False)
        assert done.exception is None, done.exception
        return json.loads(done.stdout)

    return call


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    """A campaign without results in ./langford.db."""
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        name = new_campaign(ledger).name
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        yield ledger.campaign(name)


def test_the_document_of_a_new_campaign(tell: Tell, tmp_path: Path) -> None:
    created = tell("create", "langford", "12", "--depth", "8", "--name", "twelve")
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        made = ledger.campaign("twelve")
        assert created == {"campaign": "twelve", "uuid": made.uuid, "tasks": made.tasks, "ledger": "langford.db"}


def test_the_documents_of_tasks_set_aside(tell: Tell, campaign: Campaign) -> None:
    for _ in range(3):
        campaign.worker.end(campaign.worker.lease("a", 1, 60.0), Outcome.FAILED, "it breaks")
    assert tell("retry", NAME) == {"campaign": NAME, "reopened": 1}
    assert tell("retry", NAME) == {"campaign": NAME, "reopened": 0}


def test_the_documents_of_a_campaign_that_ends_early(tell: Tell, campaign: Campaign, tmp_path: Path) -> None:
    campaign.worker.lease("a", 2, 60.0)
    assert tell("cancel", NAME) == {"campaign": NAME, "released": 2, "set_aside": TASKS}
    assert tell("rename", NAME, "given-up") == {"campaign": "given-up", "before": NAME}
    file = "given-up.jsonl.gz"
    deleted = {"campaign": "given-up", "results": 0, "left_out": [], "file": file, **NOTHING_PROMISED}
    assert tell("delete", "given-up", "--yes") == deleted
    assert (tmp_path / file).is_file()
    assert tell("status") == []


def test_the_documents_of_files(tell: Tell, campaign: Campaign) -> None:
    finish(campaign, "a")
    exported = tell("export", NAME, "--out", "e.gz")
    results = {"results": TASKS, "tasks": TASKS}
    named = {"left_out": [], "file": "e.gz", "signature": None}
    assert exported == {"campaign": NAME, **results, **named, **NOTHING_PROMISED}
    for new in (TASKS, 0):
        imported = tell("import", "e.gz", "--ledger", "other.db")
        said = {"file": "e.gz", "campaign": NAME, "created": bool(new), "new": new}
        assert imported["files"] == [{**said, **NOTHING_PROMISED}]
        [counted] = imported["counts"]
        assert (counted["campaign"], counted["count"], counted["agrees"]) == (NAME, str(COUNT), True)
        assert counted == tell("result", NAME, "--ledger", "other.db")


def test_a_verification_with_nothing_to_decide_prints_a_document_too(tell: Tell, campaign: Campaign) -> None:
    finish(campaign, "a")
    decided = tell("verify", NAME, "--waiting")
    assert (decided["campaign"], decided["agrees"], decided["tasks"]) == (NAME, None, [])


def test_several_counts_are_one_document(tell: Tell, campaign: Campaign) -> None:
    with Ledger("langford.db") as ledger:
        finish(ledger.create_campaign("again", KEY, PLAN.work.tolist()), "b")
    finish(campaign, "a")
    first, second = tell("result", NAME), tell("result", "again")
    assert [(each["campaign"], each["count"]) for each in (first, second)] == [
        (NAME, str(COUNT)),
        ("again", str(COUNT)),
    ]
    assert tell("result", NAME, "again") == [first, second]
    assert tell("result", NAME, NAME) == first


def test_the_documents_of_tokens(tell: Tell, campaign: Campaign) -> None:
    made = tell("token", NAME, "--role", "reader", "--label", "board")
    assert {**made, "token": ""} == {"campaign": NAME, "role": "reader", "label": "board", "token": ""}
    kept = tell("token", NAME, "--out", "worker.token")
    assert kept == {"campaign": NAME, "role": "worker", "label": "", "file": "worker.token"}
    with Ledger("langford.db") as ledger:
        shown = [made["token"], Path("worker.token").read_text().strip()]
        assert {right.token: right.role for right in ledger.rights(shown)} == dict(
            zip(shown, ["reader", "worker"], strict=True)
        )
    assert [record["role"] for record in tell("token", NAME, "--list")] == ["reader", "worker"]
    assert tell("token", NAME, "--revoke", "all") == {"campaign": NAME, "revoked": 2}


def test_the_documents_of_ledgers(tell: Tell, campaign: Campaign) -> None:
    tables = {table["name"]: table for table in tell("ledger", "copy", "langford.db", "copy.db")}
    assert (tables["campaign"]["rows"], tables["task"]["rows"]) == (1, TASKS)
    assert len(tables["task"]["checksum"]) == 64
    assert tell("ledger", "upgrade", "--ledger", "copy.db") == {"ledger": "copy.db", "schema": SCHEMA}


def test_the_documents_of_arrangements(tell: Tell, tmp_path: Path) -> None:
    drawn = tell("draw", "--cubes", "3,1,2,1,3,2", "--out", "three.svg")
    assert drawn == {
        "arrangement": [3, 1, 2, 1, 3, 2],
        "file": "three.svg",
        "problem": "langford-3",
        "fault": None,
        "planar": True,
        "mirror": [2, 3, 1, 2, 1, 3],
    }
    assert (tmp_path / "three.svg").exists()
    assert tell("draw", "7", "--sample-seed", "1")["file"] is None


def test_the_documents_of_jobs(tell: Tell, campaign: Campaign, tmp_path: Path) -> None:
    options = ["--time", "20:00", "--dry-run"]
    with Server(tmp_path, NAME):
        served = ["--join", f"{NAME}.join"]
        for arguments, jobs in (
            (["slurm", "keep", NAME, *served, *options], job_name(NAME, campaign.uuid)),
            (["slurm", "reserve", *options, "langford", "8"], "langford-mpi"),
        ):
            script = tell(*arguments)["script"]
            assert script.startswith(f"#!/bin/bash\n#SBATCH --job-name={jobs}\n#SBATCH ")
            assert script == CliRunner().invoke(cli, arguments, standalone_mode=False).stdout


def test_the_document_of_a_worker(langford: Run, campaign: Campaign, tmp_path: Path) -> None:
    with Server(tmp_path, NAME):
        work = ["work", f"{NAME}.join", "--outbox", "outbox"]
        done = langford(*work, "--workers", "1", "--json")
    assert json.loads(done.stdout) == {
        "campaign": NAME,
        "tasks_done": TASKS,
        "results_waiting": 0,
        "set_aside": 0,
        "given_back": 0,
        "stopped": None,
    }


@pytest.mark.parametrize(
    ("report", "received", "code", "reason"),
    [
        (RunReport(2, 1.0, "SIGTERM", 0), signal.SIGTERM, 143, "stopped by SIGTERM after 2 tasks"),
        (RunReport(2, 1.0, "time limit", 0), None, 3, "tasks done (stopped at the time limit)"),
        (RunReport(2, 1.0, None, 0), None, 3, "tasks done (other workers hold the rest)"),
        (RunReport(2, 1.0, None, 1), None, 1, "1 task is set aside (failed too often, or cancelled)"),
    ],
)
def test_a_run_that_ends_early_prints_a_document_too(
    campaign: Campaign,
    capsys: pytest.CaptureFixture[str],
    report: RunReport,
    received: signal.Signals | None,
    code: int,
    reason: str,
) -> None:
    stop = Mock(received=received)
    campaign.worker.deliver(true_deliveries(campaign.worker.lease("a", 1, HOUR)))
    assert conclude(campaign, report, stop, as_json=True) == code
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert reason in document.pop("reason")
    assert reason in printed.err
    assert document == {
        "campaign": NAME,
        "depth": 8,
        "seed": 0,
        "problem": "langford-7",
        "method": "polyphase",
        "count": None,
        "tasks": TASKS,
        "tasks_done": 1,
        "tasks_here": 2,
        "set_aside": report.set_aside,
        "stopped": report.stopped,
    }


def test_a_run_whose_results_disagree_prints_a_document_too(
    campaign: Campaign, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign.operator.raise_share(1.0)
    finish(campaign, "a")
    with pytest.raises(Unreplicated) as error:
        conclude(campaign, RunReport(TASKS, 1.0, None, 0), Mock(received=None), as_json=True)
    document = json.loads(capsys.readouterr().out)
    assert (document["count"], document["tasks_done"], document["reason"]) == (None, TASKS, str(error.value))


def test_a_run_that_fails_prints_a_document_too(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise MachineFailed("no memory is left")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("langford.cli.campaigns.run.complete", broken)
    done = CliRunner().invoke(cli, ["run", NAME, "--json"], standalone_mode=False)
    assert isinstance(done.exception, MachineFailed)
    document = json.loads(done.stdout)
    assert (document["count"], document["tasks_done"], document["reason"]) == (None, 0, "no memory is left")
