"""A real cluster for the tests of this room."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.slurm_cluster import PROGRAMS, Cluster


@pytest.fixture(scope="module")
def slurm_cluster() -> Iterator[Cluster]:
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


@pytest.fixture
def cluster(slurm_cluster: Cluster) -> Iterator[Cluster]:
    """A cluster without jobs."""
    yield slurm_cluster
    slurm_cluster.empty()
