"""The programs and job scripts of docs/examples count right: on this machine, and on a real cluster."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.slurm_cluster import Cluster
from tests.support.cases import exhaustive
from tests.support.command_line import ENVIRONMENT
from tests.support.pages import ROOT, Shell
from tests.support.ports import free_port

EXAMPLES = ROOT / "docs" / "examples"
SHOWN = "L(2,12) = 108,144\n"
PROGRAMS = {
    "with_submitit.py": ("submitit", ["12", "--jobs", "2", "--cluster", "local"]),
    "with_dask.py": ("distributed", ["12"]),
}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path, {"8765": str(free_port())}, SLURM_CONF=os.environ.get("SLURM_CONF", ""))
    yield made
    made.stop()


@pytest.mark.parametrize("name", ["with_submitit.py", *exhaustive(["with_dask.py"])])
def test_a_program_counts_with_processes_of_this_machine(name: str, tmp_path: Path) -> None:
    package, arguments = PROGRAMS[name]
    pytest.importorskip(package, reason=f"needs {package}")
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, SHOWN), done.stderr


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_the_array_of_workers_completes_a_campaign(cluster: Cluster, shell: Shell, tmp_path: Path) -> None:
    for command in (
        "langford create langford 12 --method polyphase --depth 8 --name l12",
        "langford token l12 --out worker.token",
        "langford serve l12 --port 8765 &",
        f"FARM=http://127.0.0.1:8765/l12 sbatch --array=0-1 --partition=best-effort {EXAMPLES}/workers.sbatch",
    ):
        code, _, errors = shell.run(command)
        assert code == 0, errors
    deadline = time.monotonic() + 240
    while (counted := shell.run("langford result l12"))[0] == 3:
        assert time.monotonic() < deadline, cluster.call("squeue")
        time.sleep(1)
    logs = "".join(file.read_text() for file in tmp_path.rglob("slurm-*.out"))
    assert (counted[0], counted[1].splitlines()[0]) == (0, SHOWN.strip()), logs
    while cluster.call("squeue", "--noheader"):
        assert time.monotonic() < deadline, cluster.call("squeue")
        time.sleep(0.5)
    logs = "".join(file.read_text() for file in tmp_path.rglob("slurm-*.out"))
    assert logs.count("tasks done here") == 2, logs


def test_every_example_is_run_here() -> None:
    files = {file.name for file in EXAMPLES.iterdir() if file.is_file()}
    assert files == {*PROGRAMS, "workers.sbatch", "langford.lua"}


def test_the_module_puts_the_command_on_the_path_of_the_page() -> None:
    """Lmod runs it; here is no Lua."""
    module = (EXAMPLES / "langford.lua").read_text()
    [root] = re.findall(r'^local root = "(.*)"$', module, re.MULTILINE)
    assert f"python3 -m venv {root}\n" in (EXAMPLES.parent / "where-it-runs.md").read_text()
    assert 'prepend_path("PATH", pathJoin(root, "bin"))' in module
