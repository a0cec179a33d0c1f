"""A farm in one command on a real SLURM cluster: preempted, stopped and started again, and the count is right."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from db import Ledger
from tests.cluster.slurm_cluster import Cluster
from tests.support.command_line import Run
from tests.support.farm import HURRY, slowed
from tests.support.preloaded import preloaded

pytestmark = pytest.mark.timeout(600)
NAME = "langford-12-polyphase-8"
COUNT = "L(2,12) = 108,144"
TASK_SECONDS = 1.0
"""Rest of a worker at each task, so that some are left when a node is preempted."""


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """The command whose keepers ask every second, and whose workers rest until the test tells them to hurry."""
    variables = slowed(tmp_path, TASK_SECONDS, method="polyphase")
    return preloaded().program_for(
        tmp_path / "quick", ("tests.cluster.slurm_cluster:ask_often", {"variables": variables})
    )


def wait_for(happened: Callable[[], object], farm: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while not happened():
        assert farm.poll() is None, farm.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.exhaustive
def test_one_command_is_a_farm(cluster: Cluster, langford: Run, quick: Path, tmp_path: Path) -> None:
    # The farm finds this campaign by the words.
    assert langford("create", "12", "--method", "polyphase", "--depth", "8").returncode == 0
    options = ["--partition", "best-effort", "--max-queued", "3", "--host", "localhost"]

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [quick, "slurm", "keep", "12", *options],
            cwd=tmp_path, env={**os.environ}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def logs() -> str:
        return "".join(file.read_text() for file in (tmp_path / "slurm-logs" / NAME).glob("*_*.log"))

    campaign = Ledger(str(tmp_path / "langford.db"), create=False).campaign(NAME)
    farm = start()
    wait_for(lambda: campaign.reader.standing().tasks.get("leased", 0) >= 3, farm)
    for _ in range(cluster.nodes):
        cluster.urgent(3)
    wait_for(lambda: "DUE TO PREEMPTION" in logs(), farm)
    farm.send_signal(signal.SIGTERM)
    output, errors = farm.communicate(timeout=60)
    assert (farm.returncode, output) == (128 + signal.SIGTERM, ""), errors
    assert "run the same command again to resume" in errors
    folder = tmp_path / "slurm-logs" / NAME / "farm"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if "lock" not in file.name} <= {
        0o600,
        0o644,
    }
    assert "DUE TO PREEMPTION" in logs()
    kept = (folder / "workers.join").read_bytes()
    assert campaign.reader.standing().unfinished > 0
    (tmp_path / HURRY).touch()
    again = start()
    output, errors = again.communicate(timeout=400)
    assert again.returncode == 0, errors
    assert output.startswith(f"{COUNT}\n"), errors
    assert (folder / "workers.join").read_bytes() == kept
    assert not cluster.call("squeue", "--noheader", "-t", "RUNNING,PENDING", "-p", "best-effort").strip()
    assert start().communicate(timeout=60)[0].startswith(f"{COUNT}\n")  # it is there already


def test_a_farm_whose_server_cannot_start_says_why(langford: Run, tmp_path: Path) -> None:
    (tmp_path / "slurm-logs").mkdir(mode=0o700)
    done = langford("slurm", "keep", "12", "--host", "no.such.host.invalid")
    assert (done.returncode, "give --host the name by which the nodes know it" in done.stderr) == (2, True)
