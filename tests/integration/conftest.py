"""Run the real command line in a folder of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ENVIRONMENT = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
COMMAND = [sys.executable, "-m", "langford"]


def free_port() -> int:
    """A port of this machine that nothing listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


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
