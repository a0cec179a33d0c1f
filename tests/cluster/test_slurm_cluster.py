"""Campaigns on a real SLURM cluster, preempted, requeued and bereft of nodes: the exact count all the same."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from db import Ledger
from slurm import Element, QueueKeeper, Resources, SlurmScheduler, array_script, job_name
from tests.cluster.slurm_cluster import Cluster
from tests.support.command_line import Run
from tests.support.farm import HURRY, slowed
from tests.support.pages import ROOT, Shell
from tests.support.ports import free_port
from tests.support.preloaded import Preparation, preloaded

NAME, LONG = "langford-12-godfrey-10", ("langford", "12", "--method", "godfrey", "--depth", "10")
COUNT = 108_144
TASK_SECONDS = 1.0
"""Of a task while nodes are preempted: there is work left until enough of them were."""

# A busy machine is slow to start and to end processes, and the clusters' limits add up.
pytestmark = pytest.mark.timeout(600)


INHERITED = {
    "SBATCH_JOB_NAME": "other",
    "SBATCH_ARRAY_INX": "0-3",
    "SBATCH_WAIT": "1",
    "SQUEUE_FORMAT": "%j",
    "SQUEUE_FORMAT2": "name",
    "SQUEUE_NAMES": "other",
    "SQUEUE_STATES": "RUNNING",
    "SCANCEL_INTERACTIVE": "1",
    "SCANCEL_NAME": "other",
    "USER": "nobody",
}
"""Variables of an environment that must not matter."""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path, {"8765": str(free_port())}, SLURM_CONF=os.environ.get("SLURM_CONF", ""))
    yield made
    made.stop()


@pytest.mark.exhaustive
def test_the_array_of_workers_in_the_examples_completes_a_campaign(
    cluster: Cluster, shell: Shell, tmp_path: Path
) -> None:
    script = ROOT / "docs" / "examples" / "workers.sbatch"
    for command in (
        "langford create langford 12 --method polyphase --depth 8 --name l12",
        "langford serve l12 --port 8765 &",
        "until [ -f l12.join ]; do sleep 0.1; done",
        f"LANGFORD_JOIN=l12.join sbatch --array=0-1 --partition=best-effort {script}",
    ):
        code, _, errors = shell.run(command)
        assert code == 0, errors
    deadline = time.monotonic() + 240
    while cluster.call("squeue", "--noheader"):
        assert time.monotonic() < deadline, cluster.call("squeue")
        time.sleep(0.5)
    logs = "".join(file.read_text() for file in tmp_path.rglob("slurm-*.out"))
    assert logs.count("tasks done here") == 2, logs
    assert shell.run("langford result l12")[1].startswith("L(2,12) = 108,144\n"), logs


@pytest.mark.exhaustive
def test_one_command_is_a_farm(cluster: Cluster, langford: Run, tmp_path: Path) -> None:
    """Preempted, stopped and started again; its workers rest at each task until they are told to hurry."""
    name = "langford-12-polyphase-8"
    resting = {"variables": slowed(tmp_path, TASK_SECONDS, method="polyphase")}
    program = preloaded().program_for(tmp_path / "quick", ("tests.cluster.slurm_cluster:ask_often", resting))
    # The farm finds this campaign by the words.
    assert langford("create", "12", "--method", "polyphase", "--depth", "8").returncode == 0

    def start() -> subprocess.Popen[str]:
        options = ["--partition", "best-effort", "--max-queued", "3", "--host", "localhost"]
        options.append("--sbatch=--job-name=other -a0-9")  # ours hold
        return subprocess.Popen(
            [program, "slurm", "keep", "12", *options, "--notify-command", f"tee -a {tmp_path / 'told'}"],
            cwd=tmp_path, env=os.environ | INHERITED, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def wait_for(happened: Callable[[], object]) -> None:
        deadline = time.monotonic() + 200
        while not happened():
            assert farm.poll() is None, farm.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.2)

    def logs() -> str:
        return "".join(file.read_text() for file in (tmp_path / "slurm-logs" / name).glob("*_*.log"))

    campaign = Ledger(str(tmp_path / "langford.db"), create=False).campaign(name)
    farm = start()
    wait_for(lambda: campaign.reader.standing().tasks.get("leased", 0) >= 3)
    for _ in range(cluster.nodes):
        cluster.urgent(3)
    wait_for(lambda: "DUE TO PREEMPTION" in logs())
    farm.send_signal(signal.SIGTERM)
    output, errors = farm.communicate(timeout=60)
    assert (farm.returncode, output) == (128 + signal.SIGTERM, ""), errors
    assert "run the same command again to resume" in errors
    folder = tmp_path / "slurm-logs" / name / "farm"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir() if "lock" not in file.name}
    assert modes <= {0o600, 0o644}
    kept = (folder / "workers.join").read_bytes()
    assert campaign.reader.standing().unfinished > 0
    (tmp_path / HURRY).touch()
    again = start()
    output, errors = again.communicate(timeout=400)
    assert again.returncode == 0, errors
    assert output.startswith("L(2,12) = 108,144\n"), errors
    assert json.loads((tmp_path / "told").read_text())["kind"] == "done"
    assert (folder / "workers.join").read_bytes() == kept
    assert not cluster.call("squeue", "--noheader", "-t", "RUNNING,PENDING", "-p", "best-effort").strip()


@pytest.mark.exhaustive
def test_a_campaign_preempted_at_random(cluster: Cluster, langford: Run, tmp_path: Path) -> None:
    """The last test, which kills a node; until leases were given back by workers that had to leave."""
    chance = random.Random(7)
    assert langford("create", *LONG).returncode == 0
    book = Ledger(str(tmp_path / "langford.db"))
    campaign = book.campaign(NAME)
    jobs = job_name(NAME, campaign.uuid)
    resting: Preparation = ("tests.support.farm:prepare", {"variables": slowed(tmp_path, TASK_SECONDS)})
    program = preloaded().program_for(tmp_path / "programs", resting)
    command = [str(program), "run", *LONG, "--ledger", str(tmp_path / "langford.db"), "--workers", "1"]
    # In the folder of the test, where its workers see when they shall hurry.
    resources = Resources(3600, partition="best-effort", folder=tmp_path)

    def script(name: str, elements: int) -> str:
        return array_script(name, elements, resources, tmp_path, command)

    present: list[int] = []

    class Watched(SlurmScheduler):
        def elements(self, name: str) -> list[Element]:
            elements = super().elements(name)
            present.append(len(elements))
            return elements

    kept: list[object] = []
    keeper = QueueKeeper(Watched(), campaign.worker, script, most=5, seconds=2)
    thread = threading.Thread(target=lambda: kept.append(keeper.run()))
    thread.start()
    lost = None
    try:
        deadline = time.monotonic() + 240
        while lost is None or campaign.reader.overview().attempts.get("preempted", 0) < 2:
            assert time.monotonic() < deadline, campaign.reader.standing()
            time.sleep(chance.uniform(0.5, 2.5))
            # Where a node is free, the urgent job preempts nobody; before a first lease, that shows nothing.
            working, nodes = cluster.nodes_of(jobs), cluster.nodes
            if len(working) >= nodes and campaign.reader.standing().tasks.get("leased", 0) >= nodes:
                cluster.urgent(chance.uniform(2, 5))
                if lost is None and campaign.reader.overview().attempts.get("preempted"):
                    lost = working[0]
                    cluster.kill_node(lost)
        (tmp_path / HURRY).touch()
    finally:
        thread.join(timeout=200)
    assert kept == [None]
    assert max(present) <= 5
    assert campaign.reader.merged().published == COUNT
    reader = campaign.reader
    assert reader.standing().tasks == {"done": campaign.tasks}
    assert reader.overview().checked.conflicts == 0
    assert set(reader.overview().attempts) <= {"done", "preempted", "expired", "released", "superseded"}
