"""Run the real command line in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ENVIRONMENT = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
COMMAND = [sys.executable, "-m", "langford"]


@pytest.fixture
def langford(tmp_path: Path) -> Run:
    """Call ``langford`` with arguments; the working folder is ``tmp_path``."""

    def call(*arguments: str, cwd: Path = tmp_path, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=cwd,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
            **options,  # type: ignore[call-overload]
        )

    return call
