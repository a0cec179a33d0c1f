"""How many cores a process may use: the smallest of all limits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from langford.machine.cores import cores

MANY = 64


@pytest.fixture(autouse=True)
def _many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: set(range(MANY)))


def machine(root: Path, groups: str, **files: str) -> Path:
    """A root with the control groups of this process, and their files."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for name, content in files.items():
        file = root / "sys/fs/cgroup" / name.replace("__", "/").replace("cpu_", "cpu.")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return root


def test_without_limits_it_is_the_affinity(tmp_path: Path) -> None:
    assert cores({}, tmp_path) == MANY


@pytest.mark.parametrize(
    ("said", "number"), [("3", 3), ("128", MANY), ("0", 1), ("", MANY), ("-2", MANY), ("four", MANY), ("²", MANY)]
)
def test_slurm_allocates_cores(said: str, number: int, tmp_path: Path) -> None:
    assert cores({"SLURM_CPUS_PER_TASK": said}, tmp_path) == number


@pytest.mark.parametrize(
    ("quota", "number"),
    [
        ("400000 100000", 4),
        ("250000 100000", 2),
        ("50000 100000", 1),
        ("max 100000", MANY),
        ("7", MANY),
        ("1 0", MANY),
    ],
)
def test_the_quota_of_a_group(quota: str, number: int, tmp_path: Path) -> None:
    root = machine(tmp_path, "0::/job\n", job__cpu_max=quota)
    assert cores({}, root) == number


def test_the_quota_of_an_outer_group_counts_too(tmp_path: Path) -> None:
    root = machine(tmp_path, "0::/job/step\n", job__step__cpu_max="max 100000", job__cpu_max="300000 100000")
    assert cores({}, root) == 3


def test_the_quota_of_the_earlier_hierarchy(tmp_path: Path) -> None:
    root = machine(tmp_path, "5:memory:/m\n4:cpu,cpuacct:/job\n")
    folder = root / "sys/fs/cgroup/cpu/job"
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text("200000\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    (folder.parent / "cpu.cfs_quota_us").write_text("-1\n")
    (folder.parent / "cpu.cfs_period_us").write_text("100000\n")
    assert cores({}, root) == 2


def test_the_smallest_counts(tmp_path: Path) -> None:
    root = machine(tmp_path, "0::/job\n", job__cpu_max="500000 100000")
    assert cores({"SLURM_CPUS_PER_TASK": "7"}, root) == 5
    assert cores({"SLURM_CPUS_PER_TASK": "4"}, root) == 4
