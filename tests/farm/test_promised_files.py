"""A lie that nobody confirmed does not become a count through a file, whatever command reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from db import Campaign, Ledger, read_export
from langford.arithmetic.residue import residue
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.campaigns import delivery
from tests.support.command_line import Run
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol

NAME = "promised"
KEY, COUNT = PlanKey(Problem.named("hooked-langford", 10), "polyphase", 6), 6824
"""No count of it is published, and an estimate does not tell 6825 from 6824."""
TASKS = 8
FILE = f"{NAME}.jsonl.gz"
WAITS = f"0 of {TASKS} drawn results replicated by independent voters"
KEPT = f"{TASKS} of {TASKS} drawn results replicated by independent voters"


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with new_ledger("sqlite", tmp_path, "langford.db") as ledger:
        made = ledger.create_campaign(NAME, KEY, plan_of(KEY).work.tolist())
        made.operator.raise_share(1.0)
        yield made


def work_and_lie(campaign: Campaign, lie: int | None = 3) -> None:
    """Do all tasks as one worker; about one of them lie, so that the count is one too large."""
    enrol(Ledger(campaign.database.where), "liar", "host", "1")
    for lease in campaign.worker.lease("liar", TASKS, 60):
        result = campaign.plan.evaluate(lease.index)
        if lease.index == lie:
            value = result.value + campaign.plan.multiplier
            result = replace(result, value=value, residue=residue(value))
        campaign.worker.deliver([delivery(lease, result)])


def strip(source: Path, target: Path) -> None:
    """Write a file anew without its promise, as an enemy can."""
    target.write_bytes(replace(read_export(source), promise=None).to_bytes())


@pytest.mark.usefixtures("undrawn")
def test_a_lie_does_not_pass_through_a_file(campaign: Campaign, langford: Run, tmp_path: Path) -> None:
    work_and_lie(campaign)
    assert langford("result", NAME).returncode == 3
    exported = langford("export", NAME)
    assert (exported.returncode, exported.stdout.splitlines()[1]) == (0, f"promise   {WAITS} (--replicate 1)")
    refused = [
        langford("result", "--from", FILE),
        langford("result", "--from", FILE, FILE, "--json"),
        langford("report", "--from", FILE, "-o", "files.html"),
        langford("report", NAME, "-o", "ledger.html"),
        langford("import", FILE, "--ledger", "other.db"),
        langford("result", NAME, "--ledger", "other.db"),
    ]
    for done in refused:
        assert done.returncode == 3, done.args
        assert WAITS in done.stderr, done.args
        assert f"`langford verify {NAME} --waiting`" in done.stderr, done.args
        assert f"{COUNT + 1:,}" not in done.stdout, done.args
    for command in (["result", "--from", FILE], ["report", NAME, "-o", "forced.html"]):
        done = langford(*command, "--unconfirmed")
        assert (done.returncode, f"NOT CONFIRMED: {WAITS}" in done.stdout) == (0, True), command
    assert "= " not in refused[0].stdout
    for page in ("files.html", "ledger.html"):
        assert f"{COUNT + 1:,}" not in (tmp_path / page).read_text()
        assert "No count, although all tasks are done" in (tmp_path / page).read_text()
    deleted = langford("delete", NAME, "--yes", "--out", "kept.gz")
    assert (deleted.returncode, f"promise   {WAITS}" in deleted.stdout) == (0, True)
    again = langford("import", "kept.gz", "--json")
    [counted] = json.loads(again.stdout)["counts"]
    assert (again.returncode, counted["count"], counted["promised"]) == (3, None, 1.0)
    waits = langford("result", NAME)
    assert (waits.returncode, waits.stdout, WAITS in waits.stderr) == (3, "", True)
    decided = langford("verify", NAME, "--waiting")
    assert (decided.returncode, decided.stdout.count("differs")) == (4, 1)
    assert json.loads(langford("result", NAME, "--json").stdout)["count"] == str(COUNT)


def test_a_promise_that_is_kept_counts_as_a_file_and_waits_as_an_import(
    campaign: Campaign, langford: Run, tmp_path: Path
) -> None:
    work_and_lie(campaign, lie=None)
    decided = langford("verify", NAME, "--waiting")
    assert decided.returncode == 0, decided.stderr
    assert langford("result", NAME).returncode == 0
    assert f"promise   {KEPT} (--replicate 1)" in langford("delete", NAME, "--yes").stdout
    merged = langford("result", "--from", FILE, "-v")
    assert (merged.returncode, f"  checked   {KEPT}\n" in merged.stdout) == (0, True)
    strip(tmp_path / FILE, tmp_path / "stripped.gz")
    assert langford("result", "--from", "stripped.gz").returncode == 0  # nobody can tell
    for files in ((FILE, "stripped.gz"), ("stripped.gz", FILE)):
        joined = langford("result", "--from", *files)
        assert (joined.returncode, WAITS in joined.stderr) == (3, True)
    imported = langford("import", FILE)
    assert (imported.returncode, f"promise   {KEPT} (--replicate 1), as the file says" in imported.stdout) == (
        3,
        True,
    )
    assert WAITS in imported.stderr
    # Without an own share, and with the stripped file before: the promise comes all the same.
    for files, code in ((["stripped.gz"], 0), ([FILE], 3), (["stripped.gz"], 3)):
        assert langford("import", *files, "--ledger", "other.db").returncode == code
    stated = langford("verify", NAME, "--waiting", "--statement", "said.txt")
    assert stated.returncode == 0, stated.stderr
    assert f"Replication: {KEPT} (--replicate 1)." in (tmp_path / "said.txt").read_text()
    assert langford("verify", "--check", "said.txt").returncode == 0
    assert langford("result", NAME).returncode == 0


@pytest.mark.usefixtures("undrawn")
def test_a_campaign_without_a_promise_says_so(langford: Run, tmp_path: Path) -> None:
    name = "langford-8-polyphase-4"
    assert "promise" not in langford("run", "langford", "8", "--method", "polyphase", "--depth", "4").stdout
    nothing = "no replication requested (--replicate 0)"
    assert f"promise   {nothing}\n" in langford("export", name, "--out", "e.gz").stdout
    strip(tmp_path / "e.gz", tmp_path / "old.gz")
    for file, words, share in (("e.gz", nothing, 0.0), ("old.gz", "no promise recorded", None)):
        ledger = ["--ledger", f"{file}.db"]
        merged = langford("result", "--from", file)
        assert (merged.returncode, f"  promise   {words}\n" in merged.stdout) == (0, True)
        document = json.loads(langford("result", "--from", file, "--json").stdout)
        assert (document["promised"], document["promise"]) == (share, words)
        imported = langford("import", file, *ledger)
        promises = [line for line in imported.stdout.splitlines() if "promise" in line]
        assert (imported.returncode, promises) == (0, [f"  promise   {words}, as the file says"])
        # What was imported says nothing of what this ledger did not promise.
        verified = langford("verify", name, *ledger)
        assert (verified.returncode, "promise   no promise recorded\n" in verified.stdout) == (0, True)
    reported = json.loads(langford("report", "--from", file, "-o", "r.html", "--json").stdout)
    assert (reported["promised"], reported["promise"]) == (share, words)
    assert f"{words[:1].upper()}{words[1:]}." in (tmp_path / "r.html").read_text()
