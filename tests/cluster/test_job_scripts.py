"""The scripts of jobs: their names, and commands that complete the campaign when a shell runs them."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from db import Campaign, Ledger
from langford import count as langford_count
from langford.cli.cluster.slurm import LANGFORD
from langford.cli.main import cli
from langford.errors import BadInput
from slurm import Element, job_name
from tests.support.campaigns import HOUR, NAME, new_campaign
from tests.support.command_line import ENVIRONMENT, Run
from tests.support.databases import fresh_database, new_ledger
from tests.support.enrolling import enrol
from tests.support.joins import join_file
from tests.support.ports import free_port
from tests.support.preloaded import ALONE, preloaded
from tests.support.servers import Server

SUBMIT = ["slurm", "keep", "--once", "ours", "--time", "20:00"]
PROBLEM = ["differences", "1,2,4,7", "--depth", "4"]


def run_script(langford: Run, campaign: Campaign, folder: Path, *options: str) -> None:
    """Run the script that --dry-run prints, as a shell reads it, and compare its name with the campaign's."""
    printed = langford(*SUBMIT, *options, "--dry-run")
    assert printed.returncode == 0, printed.stderr
    usual = shlex.join(LANGFORD)
    assert usual in printed.stdout
    text = printed.stdout.replace(usual, str(preloaded().program_for(folder / "programs", ALONE)))
    assert re.findall("--job-name=(.*)", printed.stdout) == [job_name("ours", campaign.uuid)]
    element = subprocess.run(
        ["bash"], input=text, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert element.returncode == 0, element.stderr
    assert campaign.reader.standing().tasks == {"done": campaign.tasks}
    again = langford(*SUBMIT, *options, "--dry-run")
    assert (again.returncode, again.stdout) == (0, "ours is done: no worker would be submitted\n")


def test_the_workers_of_a_ledger(langford: Run, tmp_path: Path) -> None:
    address = fresh_database("postgres", tmp_path)
    assert langford("create", *PROBLEM, "--name", "ours", "--ledger", address).returncode == 0
    with Ledger(address) as ledger:
        campaign = ledger.campaign("ours")
        run_script(langford, campaign, tmp_path, "--ledger", address)
        assert [each.name for each in ledger.campaigns()] == ["ours"]
        assert campaign.reader.merged().published == langford_count(campaign.problem)


def test_a_job_whose_campaign_was_renamed_makes_no_other_one(langford: Run, tmp_path: Path) -> None:
    address = fresh_database("postgres", tmp_path)
    assert langford("create", "8", "--name", "ours", "--ledger", address).returncode == 0
    printed = langford(*SUBMIT, "--ledger", address, "--dry-run").stdout
    assert langford("rename", "ours", "theirs", "--ledger", address).returncode == 0
    [command] = re.findall(rf"exec {re.escape(shlex.join(LANGFORD))} (.*)", printed)
    refused = langford(*shlex.split(command))
    assert (refused.returncode, "no campaign 'ours'" in refused.stderr) == (2, True)
    with Ledger(address) as ledger:
        assert [each.name for each in ledger.campaigns()] == ["theirs"]


def test_workers_have_done_their_work_when_others_hold_the_rest(langford: Run, tmp_path: Path) -> None:
    """SLURM would call the element of an array failed."""
    address = fresh_database("postgres", tmp_path)
    assert langford("create", *PROBLEM, "--name", "ours", "--ledger", address).returncode == 0
    with Ledger(address) as ledger:
        campaign = ledger.campaign("ours")
        enrol(ledger, "other", "another-host", "1")
        assert len(campaign.worker.lease("other", campaign.tasks, HOUR)) == campaign.tasks
        printed = langford(*SUBMIT, "--ledger", address, "--dry-run").stdout
        [command] = re.findall(rf"exec {re.escape(shlex.join(LANGFORD))} (.*)", printed)
        done = langford(*shlex.split(command))
        assert (done.returncode, "other workers hold the rest" in done.stderr) == (0, True), done.stderr


def test_a_farm_whose_server_cannot_start_says_why(langford: Run, tmp_path: Path) -> None:
    (tmp_path / "slurm-logs").mkdir(mode=0o700)
    done = langford("slurm", "keep", "12", "--host", "no.such.host.invalid")
    assert (done.returncode, "give --host the name by which the nodes know it" in done.stderr) == (2, True)


def test_a_farm_shows_its_script_without_a_server(langford: Run, tmp_path: Path) -> None:
    keep = ["slurm", "keep", "12", "--partition", "best-effort", "--max-queued", "3"]
    new = langford(*keep, "--dry-run")
    assert new.returncode == 0, new.stderr
    assert "langford-12-polyphase-4 is not created yet" in new.stderr
    assert [*tmp_path.iterdir()] == []
    assert langford("create", "12", "--depth", "8", "--name", "ours").returncode == 0
    with Ledger(str(tmp_path / "langford.db")) as ledger:
        campaign = ledger.campaign("ours")
        tasks = campaign.tasks
    begun = langford(*keep, "--dry-run")
    assert (begun.returncode, begun.stderr) == (0, "")
    named = langford("slurm", "keep", "ours", *keep[3:], "--dry-run")
    assert named.stdout == begun.stdout
    for shown, jobs, workers in (
        (new.stdout, "langford-12-polyphase-4-xxxxxxxx", 1),
        (begun.stdout, job_name("ours", campaign.uuid), min(3, tasks)),
    ):
        name = jobs[:-9]
        join = tmp_path / "slurm-logs" / name / "farm" / "workers.join"
        assert shown.startswith(f"#!/bin/bash\n#SBATCH --job-name={jobs}\n#SBATCH --array=0-{workers - 1}\n")
        assert f"exec {shlex.join([*LANGFORD, 'work', str(join)])} --time-limit" in shown
        assert "#SBATCH --partition=best-effort\n" in shown
    assert not (tmp_path / "slurm-logs").exists()
    assert "there is no ledger" in langford("slurm", "keep", "ours", "--ledger", "no.db", "--dry-run").stderr


def test_a_dry_run_creates_no_campaign(langford: Run, tmp_path: Path) -> None:
    address = fresh_database("postgres", tmp_path)
    with Ledger(address, create=True) as ledger:
        refused = langford("slurm", "keep", "12", "--time", "20:00", "--ledger", address, "--dry-run")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "`langford create langford-12 --dry-run` forecasts it" in refused.stderr
        assert ledger.campaigns() == []


def test_the_workers_of_a_server_of_a_file(langford: Run, tmp_path: Path) -> None:
    assert langford("create", *PROBLEM, "--name", "ours").returncode == 0
    with Ledger(str(tmp_path / "langford.db")) as ledger, Server(tmp_path, "ours"):
        run_script(langford, ledger.campaign("ours"), tmp_path, "--join", "ours.join")


def test_a_name_that_only_a_silent_server_knows(langford: Run, tmp_path: Path) -> None:
    join = join_file(tmp_path, f"http://127.0.0.1:{free_port()}/ours", "token")
    refused = langford(*SUBMIT, "--join", join, "--dry-run")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "start it with `langford serve`" in refused.stderr


# -- logs in folders of others ----------------------------------------------------------------


class Cluster:
    """Writes the output of each job where its script says, as a cluster does with the rights of the user."""

    submitted = 0

    def submit(self, script: str) -> str:
        type(self).submitted += 1
        [output] = re.findall("--output=(.*)", script)
        with open(output.replace("%j", "1").replace("%A_%a", "1_0"), "a") as log:
            log.write("of a job\n")
        return "1"

    def elements(self, name: str) -> list[Element]:
        return []


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder into which others may write, and a file of the user's that they may not."""
    monkeypatch.setattr("langford.cli.cluster.slurm.SlurmScheduler", Cluster)
    monkeypatch.setattr(Cluster, "submitted", 0)
    (tmp_path / "mine").write_text("mine")
    made = tmp_path / "shared"
    made.mkdir()
    made.chmod(0o777)
    monkeypatch.chdir(made)
    return made


def reserve(*options: str) -> Result:
    return CliRunner().invoke(
        cli, ["slurm", "reserve", "--time", "10:00", *options, "--", "langford", "8"], standalone_mode=False
    )


@pytest.mark.parametrize("planted", ["a folder", "a link to a folder", "nothing yet"])
def test_no_job_writes_through_planted_links(shared: Path, planted: str) -> None:
    logs = shared / "slurm-logs"
    theirs = shared / "theirs" if planted == "a link to a folder" else logs
    if planted != "nothing yet":
        theirs.mkdir(exist_ok=True)
        theirs.chmod(0o777)
        (theirs / "1.log").symlink_to(shared.parent / "mine")
    if theirs != logs:
        logs.symlink_to(theirs)
    refused = reserve()
    assert isinstance(refused.exception, BadInput)
    assert re.fullmatch(
        r"the logs of jobs cannot be kept in \S+, where other users can plant links to your files: other "
        r"users can write to .*; change that, or choose another folder with --logs",
        str(refused.exception),
    )
    assert Cluster.submitted == 0
    assert (shared.parent / "mine").read_text() == "mine"
    shared.chmod(0o1777)  # like /tmp, where the folder of a job is its owner's
    if planted == "nothing yet":
        assert reserve().exception is None
        assert (logs / "1.log").read_text() == "of a job\n"
    else:
        assert isinstance(reserve().exception, BadInput)
    assert reserve("--logs", str(shared.parent / "own")).exception is None


def test_no_queue_writes_through_planted_links(shared: Path, tmp_path: Path) -> None:
    with new_ledger("postgres", tmp_path) as ledger:
        new_campaign(ledger)
        address = ledger.database.engine.url.render_as_string(hide_password=False)
    for once in ([], ["--once"]):
        words = ["slurm", "keep", NAME, *once, "--time", "20:00", "--ledger", address]
        refused = CliRunner().invoke(cli, words, standalone_mode=False)
        assert isinstance(refused.exception, BadInput)
        assert "--logs" in str(refused.exception)
    assert Cluster.submitted == 0
