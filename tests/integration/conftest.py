"""A farm, a full disk and a SLURM cluster, all real."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.farm import CAMPAIGN, Farm
from tests.integration.slurm_cluster import PROGRAMS, Cluster


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[Farm]:
    """A farm for L(2,15)."""
    made = Farm(tmp_path, CAMPAIGN)
    yield made
    made.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid():
        pytest.skip(f"needs root and {', '.join(missing)}: apt-get install slurmctld slurmd slurm-client munge")
    # munged wants every folder above its socket to be nobody else's.
    folder = Path(tempfile.mkdtemp(prefix="langford-slurm-", dir="/var/tmp"))
    folder.chmod(0o755)
    made = Cluster(folder, nodes=4)
    try:
        made.start()
        yield made
    finally:
        made.stop()
    shutil.rmtree(folder, ignore_errors=True)
