"""Runs whose terminal is closed: they end in order, or go on if that was their user's wish."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import termios
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Run
from tests.support.terminals import Terminal
from tests.system import resting
from tests.system.resting import ANSWER, CAMPAIGN, hurry, wait_for_results, workers_of


def take_terminal(ignores_its_end: bool) -> None:
    """Have the terminal of this process control it."""
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)
    os.environ["TERM"] = "xterm"
    if ignores_its_end:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def started(folder: Path, terminal: Terminal, ignores_its_end: bool = False) -> AbstractContextManager[Any]:
    """A run on a terminal; its standard output is a pipe."""
    prepare = f"{__name__}:{take_terminal.__name__}", {"ignores_its_end": ignores_its_end}
    return resting.started(CAMPAIGN, folder, terminal.end, prepare=prepare)


@pytest.mark.exhaustive
def test_a_run_ends_in_order(langford: Run, tmp_path: Path) -> None:
    terminal = Terminal()
    with started(tmp_path, terminal) as process:
        wait_for_results(tmp_path, process)
        terminal.close()
        process.communicate(timeout=100)
    assert process.returncode == 128 + signal.SIGHUP
    assert b"soak" in terminal.shown  # the bar
    [status] = json.loads(langford("status", "--json").stdout)
    assert status["tasks"]["done"] > 0
    assert status["tasks"]["leased"] == 0
    assert set(status["attempts"]) <= {"done", "released"}
    assert langford(*CAMPAIGN).stdout.startswith(ANSWER)


@pytest.mark.exhaustive
def test_a_run_that_ignores_the_end_of_its_terminal_goes_on(tmp_path: Path) -> None:
    """``nohup`` and ``trap '' HUP`` have it do so; what it remarks has no place any more, and ends nothing."""
    terminal = Terminal()
    with started(tmp_path, terminal, ignores_its_end=True) as process:
        wait_for_results(tmp_path, process)
        terminal.close()
        process.send_signal(signal.SIGHUP)
        wait_for_results(tmp_path, process, 10)
        os.kill(workers_of(process.pid)[0], signal.SIGKILL)
        hurry(tmp_path)
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert output.startswith(ANSWER)
