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
from jobs.pools.process_pool import WorkerPool
from tests.farm.test_gpu_workers import KEY, LikeAGpu

if __name__ == "__main__":
    pool = WorkerPool(KEY, [LikeAGpu(), LikeAGpu()])
    pool.submit(0, 0)
    list(pool.poll(60))  # the first worker has its kernels now, the second none yet
    with Path("langford/methods/shifted/kernels/shifted.cu").open("a") as source:
        source.write("// changed")
    for token in (1, 2):
        pool.submit(token, 0)
    while pool.in_flight:
        for news in pool.poll(60):
            print(news)
    pool.stop()
"""


@pytest.mark.exhaustive
def test_a_worker_gets_no_task_after_a_change(tmp_path: Path) -> None:
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
    changed = rf"\(kernels {provenance.kernel_hash()} before, \w+ now\): start it again"
    assert re.search(changed, ended.stdout), ended


def test_no_worker_starts_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.pools.process_pool.kernel_hash", lambda: "0123456789abcdef")
    with pytest.raises(provenance.InstallationChanged, match="kernels 0123456789abcdef before"):
        WorkerPool(KEY, [CPU])


def test_an_installation_without_kernels_has_no_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The hash of nothing would be one that any two such installations share."""
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    with pytest.raises(provenance.InstallationChanged, match=f"no kernels are left in {tmp_path}: reinstall"):
        provenance.require_unchanged("0123456789abcdef")
