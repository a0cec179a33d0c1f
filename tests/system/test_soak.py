"""A short soak: thousands of faults in the benchmark, some dozens here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.command_line import ENVIRONMENT

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.exhaustive
def test_faults_lose_nothing() -> None:
    """The seed chooses what happens; when it happens depends on the machine."""
    # Not below the folder of all tests: each new session closes that to other users, and one of them runs Postgres.
    with TemporaryDirectory() as folder:
        soak = subprocess.run(
            [sys.executable, BENCHMARKS / "soak.py", "--quick", "--faults", "15", "--seed", "14", "--postgres"],
            env={**ENVIRONMENT, "TMPDIR": folder}, capture_output=True, text=True, timeout=280, check=False,
        )  # fmt: skip
    assert soak.returncode == 0, soak.stdout + soak.stderr
    assert "0 lost, 0 doubled, 0 wrong accepted, 0 workers ended" in soak.stdout
    faults = re.search(r"^([0-9,]+) faults in", soak.stdout, re.MULTILINE)
    assert faults is not None
    assert int(faults.group(1).replace(",", "")) >= 15
    kinds = re.findall(r"^\| ([a-z].*?) \| [0-9]", soak.stdout, re.MULTILINE)
    assert len(kinds) > 6, kinds
