"""A run of the tests takes over nothing from its shell, and leaves no process behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.support.inheritance import RUN

ROOT = Path(__file__).parents[2]
OTHERS = {name: value for name, value in os.environ.items() if name != RUN}
"""The variables of a shell in which no tests run."""
SETTINGS = """
import os, signal, sys
import tests.support.inheritance
names = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGCHLD")
print(*(name for name in names if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN))
print(*sorted({"COLUMNS", "LC_ALL", "LANGFORD_JOIN", "PYTHONUTF8", "NO_COLOR"} & os.environ.keys()))
print(os.environ["TERM"], os.umask(0), sys.dont_write_bytecode)
"""
STARTING = """
import subprocess, sys, time
import tests.support.inheritance
sleeping = [subprocess.Popen(["sleep", "1000"], start_new_session=own) for own in (True, False)]
print(*(each.pid for each in sleeping), flush=True)
time.sleep(1000)
"""


def test_nothing_is_taken_over_from_the_shell() -> None:
    shell = "trap '' HUP INT QUIT TERM CHLD; umask 077; exec \"$@\""
    odd = {
        "COLUMNS": "20",
        "LC_ALL": "C",
        "LANGFORD_JOIN": "x",
        "PYTHONUTF8": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "",
        "TERM": "xterm",
    }
    done = subprocess.run(
        ["sh", "-c", shell, "sh", sys.executable, "-c", SETTINGS],
        cwd=ROOT, env={**OTHERS, **odd}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["", "", f"dumb {0o022} False"]


def test_what_an_interrupted_run_has_started_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTING], cwd=ROOT, env=OTHERS, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        processes = [int(word) for word in run.stdout.readline().split()]
        assert all(map(is_alive, processes))
        assert len(processes) == 2
        run.kill()
    deadline = time.monotonic() + 100
    while any(map(is_alive, processes)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def is_alive(process: int) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
