"""A lie that nobody confirmed does not become a count through a file: with a real server, and real commands."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from db import Delivery, read_export
from jobs.reach.identity import Identity
from jobs.reach.remote import RemoteCampaign
from langford.arithmetic.residue import residue
from langford.methods import PlanKey
from langford.problem import Problem
from langford.result import Evaluation
from tests.farm.farm import NAME, Farm
from tests.support.command_line import Run

KEY, COUNT = PlanKey(Problem.hooked_langford(10), "polyphase", 6), 6824
"""No count of it is published, and an estimate does not tell 6825 from 6824."""
TASKS = 8
FILE = f"{NAME}.jsonl.gz"
WAITS = f"0 of {TASKS} drawn results replicated by independent voters"
KEPT = f"{TASKS} of {TASKS} drawn results replicated by independent voters"
CAMPAIGNS = Path(__file__).parents[2] / "jobs" / "campaigns"
OLD = CAMPAIGNS / "langford-27-shifted-10.jsonl.gz"


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    made = Farm(tmp_path, KEY)
    made.campaign.set_recheck_share(1.0)
    yield made
    made.stop()


def work_and_lie(farm: Farm, lie: int | None = 3) -> None:
    """Do all tasks as a client of the server; about one of them lie, so that the count is one too large."""
    plan = farm.campaign.plan
    client = RemoteCampaign(f"http://127.0.0.1:{farm.port}/{NAME}", farm.token)
    me = structs.replace(Identity.fresh(), host="liar")
    client.enrol(me)
    while leases := client.lease(me.worker_id, TASKS, 60, list(range(1000))):
        deliveries = []
        for lease in leases:
            result = plan.evaluate(lease.index)
            if lease.index == lie:
                value = result.value + plan.multiplier
                result = replace(result, value=value, residue=residue(value))
            deliveries.append(Delivery.of(lease, Evaluation(result, 0.5, "{}")))
        client.deliver(deliveries)
    farm.server.terminate()
    farm.server.wait(timeout=60)


def strip(source: Path, target: Path) -> None:
    """Write a file anew without its promise, as an enemy can."""
    target.write_bytes(replace(read_export(source), promise=None).to_bytes())


def test_a_lie_does_not_pass_through_a_file(farm: Farm, langford: Run, tmp_path: Path) -> None:
    work_and_lie(farm)
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
        # It decides about the task that it recomputes.
        langford("verify", NAME, "--tasks", "0", "--all-checks", "--ledger", "other.db"),
    ]
    for done in refused:
        assert done.returncode == 3, done.args
        assert (WAITS if "verify" not in done.args else f"1 of {TASKS} drawn") in done.stderr, done.args
        assert f"`langford verify {NAME} --waiting`" in done.stderr, done.args
        assert f"{COUNT + 1:,}" not in done.stdout, done.args
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


@pytest.mark.exhaustive
def test_what_is_not_confirmed_is_counted_where_that_is_meant(farm: Farm, langford: Run) -> None:
    work_and_lie(farm)
    assert langford("export", NAME).returncode == 0
    for command in (
        ["result", "--from", FILE],
        ["report", "--from", FILE, "-o", "files.html", "--json"],
        ["report", NAME, "-o", "ledger.html", "--json"],
        ["import", FILE, "--ledger", "other.db", "--json"],
        ["import", FILE, "--ledger", "other.db"],
    ):
        done = langford(*command, "--unconfirmed")
        assert done.returncode == 0, (command, done.stderr)
        assert f"NOT CONFIRMED: {WAITS}" in done.stdout, command
    verified = langford("verify", NAME, "--tasks", "0", "--all-checks", "--unconfirmed")
    assert (verified.returncode, f"NOT CONFIRMED: 1 of {TASKS} drawn" in verified.stdout) == (0, True)
    document = json.loads(langford("result", "--from", FILE, "--unconfirmed", "--json").stdout)
    said = {"count": str(COUNT + 1), "promised": 1.0, "drawn": TASKS, "replicated": 0}
    assert said.items() <= document.items()
    assert document["promise"] == f"{WAITS} (--replicate 1)"
    assert langford("verify", NAME, "--tasks", "0", "--unconfirmed").returncode == 2


def test_a_promise_that_is_kept_counts_as_a_file_and_waits_as_an_import(
    farm: Farm, langford: Run, tmp_path: Path
) -> None:
    work_and_lie(farm, lie=None)
    decided = langford("verify", NAME, "--waiting")
    assert decided.returncode == 0, decided.stderr
    assert langford("result", NAME).returncode == 0
    assert f"promise   {KEPT} (--replicate 1)" in langford("delete", NAME, "--yes").stdout
    merged = langford("result", "--from", FILE)
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
    stated = langford("verify", NAME, "--waiting", "--all-checks", "--statement", "said.txt")
    assert stated.returncode == 0, stated.stderr
    assert f"Replication: {KEPT} (--replicate 1)." in (tmp_path / "said.txt").read_text()
    assert langford("verify", "--check", "said.txt").returncode == 0
    assert langford("result", NAME).returncode == 0


def test_a_campaign_without_a_promise_says_so(langford: Run, tmp_path: Path) -> None:
    name = "langford-8-polyphase-4"
    assert "promise" not in langford("run", "langford", "8", "--method", "polyphase", "--depth", "4").stdout
    nothing = "nothing was promised (--replicate 0)"
    assert f"promise   {nothing}\n" in langford("export", name, "--out", "e.gz").stdout
    strip(tmp_path / "e.gz", tmp_path / "old.gz")
    for file, words, share in (("e.gz", nothing, 0.0), ("old.gz", "no promise recorded", None)):
        ledger = ["--ledger", f"{file}.db"]
        merged = langford("result", "--from", file)
        assert (merged.returncode, f"  promise   {words}\n" in merged.stdout) == (0, True)
        document = json.loads(langford("result", "--from", file, "--json").stdout)
        assert (document["promised"], document["promise"]) == (share, words)
        imported = langford("import", file, *ledger)
        assert (imported.returncode, f"  promise   {words}, as the file says\n" in imported.stdout) == (0, True)
        # What was imported says nothing of what this ledger did not promise.
        counted = langford("result", name, *ledger)
        assert (counted.returncode, "  promise   no promise recorded\n" in counted.stdout) == (0, True)
        verified = langford("verify", name, "--all-checks", *ledger)
        assert (verified.returncode, "promise   no promise recorded\n" in verified.stdout) == (0, True)
    reported = json.loads(langford("report", "--from", file, "-o", "r.html", "--json").stdout)
    assert (reported["promised"], reported["promise"]) == (share, words)
    assert f"{words[:1].upper()}{words[1:]}." in (tmp_path / "r.html").read_text()


def test_an_old_export_counts_as_before(langford: Run, tmp_path: Path) -> None:
    shutil.copy(OLD, tmp_path / "old.gz")
    assert b'"langford results 1"' in gzip.decompress(OLD.read_bytes())[:100]
    merged = langford("result", "--from", "old.gz")
    assert (merged.returncode, merged.stdout.count("  promise   no promise recorded\n")) == (0, 1)
    assert "111,683,611,098,764,903,232" in merged.stdout
