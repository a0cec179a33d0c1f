"""A program whose files change while it runs computes nothing: no result may say that other kernels made it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.pools.process_pool import WorkerPool
from langford import provenance
from langford.devices import CPU
from tests.support.campaigns import KEY
from tests.support.command_line import ENVIRONMENT

ROOT = Path(__file__).parents[2]
PROGRAM = """
from pathlib import Path
from jobs.pools.kept_workers import KeptWorkers
from langford.methods import PlanKey
from langford.problem import Problem
from tests.farm.test_kept_workers import CountsPlans, evaluated

first, second = (PlanKey(Problem.langford(n), "polyphase", 4) for n in (7, 8))
if __name__ == "__main__":
    with KeptWorkers() as workers:
        pool = workers.pool(first, [CountsPlans()])
        evaluated(pool, 0)
        pool.stop()
        with Path("langford/methods/shifted/kernels/shifted.cu").open("a") as source:
            source.write("// changed")
        workers.pool(second, [CountsPlans()])
"""


@pytest.mark.exhaustive
def test_a_kept_worker_gets_no_task_after_a_change(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "langford", tmp_path / "langford")
    (tmp_path / "program.py").write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=ENVIRONMENT | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    changed = rf"InstallationChanged: .* \(kernels {provenance.kernel_hash()} before, \w+ now\): start it again"
    assert re.search(changed, ended.stderr), ended.stderr


def test_no_worker_starts_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.pools.process_pool.kernel_hash", lambda: "0123456789abcdef")
    with pytest.raises(provenance.InstallationChanged, match="kernels 0123456789abcdef before"):
        WorkerPool(KEY, [CPU])


def test_an_installation_without_kernels_has_no_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The hash of nothing would be one that any two such installations share."""
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    with pytest.raises(provenance.InstallationChanged, match=f"no kernels are left in {tmp_path}: reinstall"):
        provenance.require_unchanged("0123456789abcdef")
