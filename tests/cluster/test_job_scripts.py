"""The scripts of jobs: their names, and commands that complete the campaign when a shell runs them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from db import Campaign, Ledger
from jobs.run.loop import result
from langford import count as langford_count
from slurm import job_name
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.databases import fresh_database
from tests.support.ports import free_port
from tests.support.servers import Server

SUBMIT = ["slurm", "submit", "ours", "--time", "20:00"]
PROBLEMS = [
    ["--differences", "1,2,3", "--places", "9", "--copies", "3", "--anyway"],
    ["langford", "8", "--method", "shifted", "--seed", "5"],
]


def run_script(langford: Run, campaign: Campaign, folder: Path, *options: str) -> None:
    """Run the script that --dry-run prints, as a shell reads it, and compare its name with the campaign's."""
    printed = langford(*SUBMIT, *options, "--dry-run")
    assert printed.returncode == 0, printed.stderr
    assert re.findall("--job-name=(.*)", printed.stdout) == [job_name("ours", campaign.uuid)]
    element = subprocess.run(
        ["bash"], input=printed.stdout, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert element.returncode == 0, element.stderr
    assert campaign.standing().tasks == {"done": campaign.tasks}


@pytest.mark.parametrize("problem", PROBLEMS, ids=" ".join)
def test_the_workers_of_a_ledger(langford: Run, tmp_path: Path, problem: list[str]) -> None:
    address = fresh_database("postgres", tmp_path)
    assert langford("create", *problem, "--name", "ours", "--ledger", address).returncode == 0
    with Ledger(address) as ledger:
        campaign = ledger.campaign("ours")
        run_script(langford, campaign, tmp_path, "--ledger", address)
        assert [each.name for each in ledger.campaigns()] == ["ours"]
        assert result(campaign).published == langford_count(campaign.problem)


def test_the_workers_of_a_server_of_a_file(langford: Run, tmp_path: Path) -> None:
    assert langford("create", *PROBLEMS[0], "--name", "ours").returncode == 0
    assert langford("token", "ours", "--out", "token").returncode == 0
    with Ledger(str(tmp_path / "langford.db")) as ledger, Server(tmp_path, "ours") as server:
        run_script(langford, ledger.campaign("ours"), tmp_path, "--server", server.url, "--token-file", "token")


def test_a_name_that_only_a_silent_server_knows(langford: Run, tmp_path: Path) -> None:
    (tmp_path / "token").touch(0o600)
    (tmp_path / "token").write_text("token")
    served = ["--server", f"http://127.0.0.1:{free_port()}", "--token-file", "token"]
    refused = langford(*SUBMIT, *served, "--dry-run")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "start it with `langford serve`" in refused.stderr
