"""The command line as a user meets it: answers, JSON, bad input, exit codes."""

from __future__ import annotations

import hashlib
import json
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from db import Delivery, Ledger
from db.campaign.reader import ReaderCampaign
from db.errors import BadExport
from langford.cli.main import cli
from langford.result import Evaluation
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.enrolling import enrol
from tests.support.forecasts import of_a_core
from tests.support.preloaded import preloaded


def test_count_says_how_it_was_found_and_checked(langford: Run) -> None:
    done = langford("count", "12")
    assert done.returncode == 0
    assert done.stdout.startswith("L(2,12) = 108,144\n")
    for piece in ("polyphase", "zero bits", "residues", "A014552"):
        assert piece in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["12", "--method", "godfrey"], "108144"),
        (["hooked-skolem", "10"], "12808"),
        (["skolem", "9", "x3"], "9"),
        (["9"], "0"),
        (["differences", "1,3,5"], "1"),
        (["differences-1.2-over-5-empty-4"], "1"),
        (["cyclic", "1,2,4", "empty", "1,4"], "2"),
    ],
)
def test_count_json(langford: Run, arguments: list[str], expected: str) -> None:
    done = langford("count", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["count"] == expected


def test_long_counts_are_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    of_a_core(monkeypatch, 20_000.0)
    done = CliRunner().invoke(cli, ["count", "8", "--workers", "2", "--yes"])
    assert done.exit_code == 0
    assert "L(2,8) by polyphase: about 2 h 47 min on 2 idle cores" in done.stderr
    assert "langford run" in done.stderr
    assert "L(2,8) = 150" in done.stdout


def test_campaign_from_run_to_tasks(langford: Run) -> None:
    run = langford("run", "langford", "12", "--depth", "12")
    assert run.returncode == 0, run.stderr
    assert "L(2,12) = 108,144" in run.stdout
    name = "langford-12-polyphase-12"
    [status] = json.loads(langford("status", "--json").stdout)
    assert status["campaign"] == name
    nothing_left = {"leased": 0, "ready": 0, "set_aside": 0, "recheck": 0}
    assert status["tasks"] == {"total": 55, "done": 55, **nothing_left}
    assert status["attempts"] == {"done": 55}
    assert status["work"] == {"total": 1, "done": 1, **nothing_left}
    assert (status["count"], status["agrees"]) == ("108144", True)
    tasks = json.loads(langford("tasks", name, "--json").stdout)
    assert [task["index"] for task in tasks] == list(range(55))
    result = json.loads(langford("result", name, "--json").stdout)
    assert result["count"] == "108144"
    assert sum(int(task["value"]) for task in tasks) % int(result["arrangements"]) == 0
    for view in (["status"], ["tasks", name, "--state", "done"], ["result", name]):
        assert langford(*view).returncode == 0
    again = langford("run", "langford", "12", "--depth", "12")
    assert again.stdout == run.stdout


def test_a_changed_result_is_caught_by_its_residue(langford: Run, tmp_path: Path) -> None:
    langford("run", "langford", "8", "--name", "eight")
    with sqlite3.connect(tmp_path / "langford.db") as database:
        database.execute("UPDATE result SET value = value || '0' WHERE value != '0'")
    result = langford("result", "eight")
    assert result.returncode == 4
    assert "residue" in result.stderr


def test_verify_recomputes_tasks(langford: Run, tmp_path: Path) -> None:
    langford("run", "langford", "12", "--depth", "12", "--name", "twelve")
    sample = langford("verify", "twelve", "--sample", "4", "--sample-seed", "1")
    assert sample.returncode == 0, sample.stderr
    lines = [line for line in sample.stdout.splitlines() if line.startswith("task")]
    assert [line.split()[-1] for line in lines] == ["agrees"] * 4
    assert "4 of 55 tasks" in sample.stdout
    assert "seed 1" in sample.stdout
    assert f"with probability {4 / 55:.3g}" in sample.stdout
    with sqlite3.connect(tmp_path / "langford.db") as database:
        database.execute("UPDATE result SET value = '2048' WHERE task_index = 7")
    wrong = langford("verify", "twelve", "6", "7")
    assert (wrong.returncode, wrong.stdout.count("differs")) == (4, 1)
    outside = langford("verify", "twelve", "3", "55")
    assert (outside.returncode, outside.stdout) == (2, "")
    assert "task 55 is not one of the 55 tasks (0..54)" in outside.stderr


def test_list_draw_and_estimate(langford: Run, tmp_path: Path) -> None:
    assert len(langford("list", "7").stdout.splitlines()) == 26
    assert langford("list", "8", "--limit", "2").stdout.splitlines()[0] == "1 3 1 6 7 3 8 5 2 4 6 2 7 5 4 8"
    assert "┌" in langford("draw", "7", "--sample-seed", "1").stdout
    assert langford("draw", "7", "--out", "seven.svg").returncode == 0
    assert (tmp_path / "seven.svg").stat().st_size > 1000
    estimate = json.loads(langford("estimate", "31", "--walks", "20000", "--json").stdout)
    assert abs(estimate["estimate"] - 5.86e24) < 5 * estimate["standard_error"] + 0.03e24


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("40 --walks 2", "more --walks"),
        ("8 copies 3", "there may be no arrangement"),
    ],
)
def test_walks_that_find_nothing_are_no_estimate(langford: Run, arguments: str, why: str) -> None:
    done = langford("estimate", *arguments.split())
    assert done.returncode == 0
    assert "no estimate, since no walk found an arrangement" in done.stdout
    assert why in done.stdout
    assert "inf" not in done.stdout
    document = json.loads(langford("estimate", *arguments.split(), "--json").stdout, parse_constant=pytest.fail)
    assert (document["estimate"], document["standard_error"], document["fruitful"]) == (0, None, 0)


def test_few_fruitful_walks_give_no_error(langford: Run) -> None:
    done = langford("estimate", "32", "--walks", "100")
    assert "L(2,32) ≈ 1e+26, roughly: too few fruitful walks for an error" in done.stdout
    assert "±" not in done.stdout
    document = json.loads(langford("estimate", "32", "--walks", "100", "--json").stdout, parse_constant=pytest.fail)
    assert document["standard_error"] is None
    assert 0 < document["fruitful"] < 30


def test_a_second_run_evaluates_a_share_of_the_first_again(langford: Run) -> None:
    created = langford("create", "langford", "12", "--depth", "14", "--replicate", "0.3")  # of 198 tasks
    assert created.returncode == 0, created.stderr
    name, again = "langford-12-polyphase-14", ["run", "langford", "12", "--depth", "14", "--json"]
    for _ in range(2):  # on one host alone it waits
        first = langford(*again)
        assert (first.returncode, json.loads(first.stdout)["count"]) == (3, None)
        assert "drawn results replicated by independent voters" in first.stderr
        [waiting] = json.loads(langford("status", "--json").stdout)
        drawn = waiting["checked"]["drawn"]
        assert 0 < waiting["tasks"]["recheck"] == drawn
    unconfirmed = json.loads(langford("result", name, "--unconfirmed", "--json").stdout)
    assert (unconfirmed["count"], unconfirmed["replicated"]) == ("108144", 0)
    assert "secret" not in unconfirmed
    assert f"NOT CONFIRMED: 0 of {drawn}" in langford("result", name, "--unconfirmed").stdout
    assert json.loads(langford(*again, host="elsewhere").stdout)["count"] == "108144"
    [checked] = json.loads(langford("status", name, "--json").stdout)
    assert (checked["tasks"]["recheck"], checked["checked"]["confirmed"]) == (0, drawn)
    assert checked["checked"]["replicated"] == checked["checked"]["drawn"] == drawn
    result = json.loads(langford("result", name, "--json").stdout)
    assert result["replicated"] == drawn
    assert hashlib.sha256(result["secret"].encode()).hexdigest() == result["draw"]
    assert checked["tasks"] == {**waiting["tasks"], "recheck": 0}


# -- campaigns by name ------------------------------------------------------------------------


def test_a_name_alone_resumes_a_campaign(langford: Run, tmp_path: Path) -> None:
    plan = ["langford", "8", "--depth", "4", "--method", "polyphase"]
    assert langford("create", *plan, "--name", "mine").returncode == 0
    for _ in range(2):  # the second time it is done
        done = langford("run", "mine", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["campaign"] == "mine"
        assert json.loads(done.stdout)["count"] == "150"
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        assert [campaign.name for campaign in ledger.campaigns()] == ["mine"]


def test_a_campaign_of_differences(langford: Run) -> None:
    plan = ["differences", "1,3,5", "--depth", "2", "--method", "polyphase"]
    for chosen in (plan, ["differences-1.3.5-over-6-polyphase-2"]):
        done = langford("run", *chosen)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("differences {1, 3, 5} over 6 places = 1\n")
    problem = ["differences", "1,2,5,7", "over", "9", "empty", "4"]
    created = langford("create", *problem, "--name", "odd", "--json")
    assert created.returncode == 0, created.stderr
    counted = langford("count", *problem, "--json")
    ran = langford("run", "odd", "--json")
    assert json.loads(ran.stdout)["count"] == json.loads(counted.stdout)["count"]


def test_another_depth_that_is_half_done_is_named(langford: Run, tmp_path: Path) -> None:
    plan = ["langford", "8", "--method", "polyphase"]
    assert langford("create", *plan, "--depth", "6", "--name", "begun").returncode == 0
    quiet = langford("run", *plan, "--depth", "2")
    assert "begun" not in quiet.stderr  # nothing of it is done
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        campaign = ledger.campaign("begun")
        enrol(ledger, "a", "host", "1")
        [lease] = campaign.worker.lease("a", 1, 60.0)
        evaluation = Evaluation(campaign.plan.evaluate(lease.index), 0.1, "{}")
        campaign.worker.deliver([Delivery.of(lease, evaluation)])
        share = lease.work / campaign.work
    told = langford("run", *plan, "--depth", "4")
    assert told.returncode == 0
    done = f"1 of {campaign.tasks} tasks, {share:.0%} of the work"
    assert f"begun counts the same and is unfinished ({done})" in told.stderr
    assert "`langford run begun` resumes it" in told.stderr
    assert langford("run", "begun").returncode == 0
    assert "resumes it" not in langford("run", *plan, "--depth", "8").stderr  # it is done


def test_a_deleted_campaign_comes_back_from_its_export(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "langford", "8", "--name", "mine").returncode == 0
    refused = langford("delete", "mine")
    assert refused.returncode == 2
    assert "mine with" in refused.stderr
    assert not (tmp_path / "mine.jsonl.gz").exists()
    done = langford("delete", "mine", "--yes")
    assert done.returncode == 0, done.stderr
    assert "mine.jsonl.gz" in done.stdout
    assert "no campaign 'mine'" in langford("result", "mine").stderr
    assert "  created   the campaign mine: L(2,8) by " in langford("import", "mine.jsonl.gz").stdout
    assert "created" not in langford("import", "mine.jsonl.gz").stdout
    assert langford("result", "mine").stdout.startswith("L(2,8) = 150\n")


def test_a_deletion_that_was_killed_is_repeated(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "langford", "8", "--name", "mine").returncode == 0
    # The export is written, and the campaign is still there.
    prepare = ("tests.support.preloaded:die_at", {"place": "db.campaign.operator:OperatorCampaign.delete"})
    killed = preloaded().start(["delete", "mine", "--yes"], tmp_path, ENVIRONMENT, prepare=prepare)
    assert killed.wait() == -signal.SIGKILL
    kept = (tmp_path / "mine.jsonl.gz").read_bytes()
    assert langford("delete", "mine", "--yes").returncode == 0
    assert (tmp_path / "mine.jsonl.gz").read_bytes() == kept
    assert "no campaign 'mine'" in langford("result", "mine").stderr


def test_a_campaign_that_stays_keeps_the_export_that_was_there(langford: Run, tmp_path: Path) -> None:
    assert langford("create", "langford", "8", "--depth", "4", "--name", "mine").returncode == 0
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        enrol(ledger, "a", "host", "1")
        assert ledger.campaign("mine").worker.lease("a", 1, 60.0)
    assert langford("export", "mine").returncode == 0
    assert "first stop these" in langford("delete", "mine", "--yes").stderr
    assert (tmp_path / "mine.jsonl.gz").exists()


def test_exported_files_come_from_standard_input(langford: Run, tmp_path: Path) -> None:
    assert langford("run", "langford", "8", "--depth", "4", "--name", "mine").returncode == 0
    assert langford("export", "mine", "--out", "mine.gz").returncode == 0
    whole = (tmp_path / "mine.gz").read_bytes()

    def call(content: bytes, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["result", "--from", "-", *arguments], content, standalone_mode=False)

    assert call(whole).stdout.startswith("L(2,8) = 150\n")
    assert call(whole, str(tmp_path / "mine.gz")).stdout.startswith("L(2,8) = 150\n")
    other = tmp_path / "other.db"
    assert CliRunner().invoke(cli, ["import", "-", "-l", str(other)], whole).stdout.startswith("standard input: ")
    with closing(sqlite3.connect(other)) as database:
        assert "standard input, SHA-256" in str(database.execute("SELECT detail FROM event").fetchall())
    assert "standard input is not an export, or is truncated" in str(call(whole[:100]).exception)
    assert "standard input has no signature" in str(call(whole, "--allowed-signers", __file__).exception)


def test_what_is_in_doubt_stays_behind(langford: Run) -> None:
    """A file says of no result that it is in doubt: it would be merged, and nobody would know."""
    assert langford("run", "langford", "8", "--depth", "4", "--name", "mine").returncode == 0
    assert langford("recheck", "mine", "0").returncode == 0
    exported = langford("export", "mine", "--out", "part.gz")
    assert exported.returncode == 0
    assert "1 result in doubt left out (first: task 0)" in exported.stderr
    assert "Traceback" not in exported.stderr
    merged = langford("result", "--from", "part.gz")
    assert merged.returncode == 3, merged
    asked = langford("delete", "mine")
    assert "and 1 result in doubt, which would be lost" in asked.stderr
    deleted = langford("delete", "mine", "--yes")
    assert "1 result in doubt lost" in deleted.stdout


def test_what_cannot_be_read_back_is_not_deleted(
    langford: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert langford("run", "langford", "8", "--depth", "4", "--name", "mine").returncode == 0
    whole = ReaderCampaign.trusted_export
    monkeypatch.setattr(ReaderCampaign, "trusted_export", lambda self: replace(whole(self), content=b"half of it"))
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(cli, ["delete", "mine", "--yes"], standalone_mode=False)
    assert isinstance(refused.exception, BadExport)
    assert not (tmp_path / "mine.jsonl.gz").exists()
    assert langford("result", "mine").stdout.startswith("L(2,8) = 150\n")
