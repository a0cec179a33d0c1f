"""A run that rests at each of its tasks: there is time to do something to it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from db import Ledger, Progress
from db.errors import LedgerError
from langford.methods import METHODS
from langford.problem import Problem
from tests.command_line import COMMAND, ENVIRONMENT
from tests.integration.farm import slowed

# Started it rests at each task: long enough to interrupt anywhere.
CAMPAIGN = ["run", "langford", "15", "--method", "godfrey", "--depth", "10", "--workers", "2", "--name", "soak"]
ANSWER = "L(2,15) = 39,809,640\n"
TASKS = len(METHODS["godfrey"].plan(Problem.langford(15), 10).work)


@contextmanager
def started(arguments: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env={**ENVIRONMENT, **slowed(folder, 0.04)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def progress(folder: Path) -> Progress | None:
    """How far the campaign is; None before there is one."""
    try:
        with Ledger(str(folder / "langford.db")) as ledger:
            return ledger.campaign("soak").progress()
    except LedgerError:
        return None


def tasks_done(folder: Path) -> int:
    """Results committed so far."""
    found = progress(folder)
    return found.tasks.get("done", 0) if found else 0


def wait_for_results(folder: Path, process: subprocess.Popen[str], at_least: int = 1) -> int:
    deadline = time.monotonic() + 60
    while (done := tasks_done(folder)) < at_least:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return done
