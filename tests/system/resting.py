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

from db import Ledger
from db.errors import LedgerError
from langford.methods import METHODS
from langford.problem import Problem
from tests.support.command_line import ENVIRONMENT
from tests.support.farm import HURRY, slowed
from tests.support.preloaded import Preparation, preloaded

# Started it rests at each task: long enough to interrupt anywhere.
CAMPAIGN = ["run", "langford", "12", "--method", "godfrey", "--depth", "10", "--workers", "2", "--name", "soak"]
ANSWER = "L(2,12) = 108,144\n"
TASKS = len(METHODS["godfrey"].plan(Problem.langford(12), 10).work)
RESTS = 0.1
"""Seconds at each task, until :func:`hurry`."""
PREPARED: Preparation = (
    "tests.support.preloaded:adapt",
    {"values": {"jobs.run.effort:SHORT_TASK_SECONDS": 1000.0}},
)
"""Such a run leases a stock of tasks as soon as one is done, however busy the machine is."""
ALONE: Preparation = ("tests.support.farm:prepare", {"seconds": RESTS})
"""Such a run evaluates its tasks itself: it starts no processes, which take most of a start."""


@contextmanager
def started(
    arguments: list[str],
    folder: Path,
    terminal: int | None = None,
    rests: float = RESTS,
    prepare: Preparation = PREPARED,
) -> Iterator[Any]:
    """A run, in a session of its own.

    Args:
        arguments: those of the command line.
        folder: its working folder.
        terminal: its standard input and errors; None: errors go into a pipe, as its output does.
        rests: seconds at each task.
        prepare: see :data:`Preparation`.
    """
    environment = {**ENVIRONMENT, **slowed(folder, rests)}
    process = preloaded().start(
        arguments,
        folder,
        environment,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if terminal is None else terminal,
        start_new_session=True,
        prepare=prepare,
    )
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


def tasks_done(folder: Path) -> int:
    """Results committed so far."""
    try:
        with Ledger(str(folder / "langford.db")) as ledger:
            return _done(ledger)
    except LedgerError:  # there is none yet
        return 0


def wait_for_results(folder: Path, process: Any, at_least: int = 1) -> int:
    """Wait until so many results are committed; their number."""
    deadline = time.monotonic() + 60

    def wait() -> None:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)

    while True:
        # It stays open: that takes longer than to ask it.
        with suppress(LedgerError), Ledger(str(folder / "langford.db")) as ledger:
            while (done := _done(ledger)) < at_least:
                wait()
            return done
        wait()


def _done(ledger: Ledger) -> int:
    return ledger.campaign("soak").reader.standing().tasks.get("done", 0)


def hurry(folder: Path) -> None:
    """Have runs in a folder rest no more: they may end now."""
    (folder / HURRY).touch()
