"""A run that rests at each of its tasks: there is time to do something to it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from db import Ledger, Progress
from db.errors import LedgerError
from langford.methods import METHODS
from langford.problem import Problem
from tests.farm.farm import slowed, start
from tests.support.command_line import COMMAND, ENVIRONMENT

# Started it rests at each task: long enough to interrupt anywhere.
CAMPAIGN = ["run", "langford", "15", "--method", "godfrey", "--depth", "10", "--workers", "2", "--name", "soak"]
ANSWER = "L(2,15) = 39,809,640\n"
TASKS = len(METHODS["godfrey"].plan(Problem.langford(15), 10).work)


@contextmanager
def started(
    arguments: list[str], folder: Path, command: list[str] = COMMAND, terminal: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A run, in a session of its own.

    Args:
        arguments: those of the command line.
        folder: its working folder.
        command: what they are given to.
        terminal: its standard input and errors; None: errors go into a pipe, as its output does.
    """
    environment = {**ENVIRONMENT, **slowed(folder, 0.04)}
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True}
    if command is COMMAND and terminal is None:
        process = start(arguments, folder, environment, **streams)
    else:
        if terminal is not None:
            streams |= {"stdin": terminal, "stderr": terminal}
        process = subprocess.Popen([*command, *arguments], cwd=folder, env=environment, text=True, **streams)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def children(pid: int) -> list[int]:
    """Living processes that a process has started, but for multiprocessing's resource tracker."""
    living = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children():
            with suppress(psutil.NoSuchProcess):  # a process that nobody has waited for, too
                if any("spawn_main" in word for word in child.cmdline()):
                    living.append(child.pid)
    return living


def workers_of(pid: int) -> list[int]:
    """Worker processes of a run: the children of its fork server."""
    return [worker for server in children(pid) for worker in children(server)]


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
