"""Workers begin with what was loaded once, and end when they should, whatever ends.

Every server imports this module, which imports little.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from jobs.pools import fork_server
from jobs.pools.fork_server import ForkServer
from tests.support.cases import exhaustive

SECONDS = 60.0
ROOT = Path(__file__).parents[2]


def load() -> int:
    return os.getpid()


def fail_to_load() -> int:
    raise ValueError("nothing there")


def fail_with_a_lock() -> int:
    raise ValueError("nothing there", threading.Lock())


def load_the_last() -> int:
    def fork() -> int:
        raise BlockingIOError("no more processes")

    os.fork = fork
    return os.getpid()


def load_for_ever() -> int:
    time.sleep(1000)
    return os.getpid()


def obey(loaded: int, number: int, pipe: Connection) -> None:
    """Say who it is, and do what it is told."""
    pipe.send((loaded, os.getppid(), os.getpid(), number))
    order = pipe.recv()
    if order == "raise":
        raise ValueError("as told")
    if order == "hold the interpreter":
        ctypes.PyDLL(None).sleep(1000)
    if order == "say more":
        pipe.send("more")


def hear(pipe: Connection) -> Any:
    assert pipe.poll(SECONDS), "nothing is said"
    return pipe.recv()


def hear_end(pipe: Connection) -> None:
    with pytest.raises((EOFError, ConnectionResetError)):
        hear(pipe)


@pytest.fixture
def server() -> Iterator[ForkServer]:
    """One with three workers."""
    made = ForkServer(load, obey, 3)
    yield made
    made.stop()


def test_workers_begin_with_what_was_loaded_once_and_end_alone(server: ForkServer) -> None:
    said = [hear(pipe) for pipe in server.pipes]
    assert [number for _, _, _, number in said] == [0, 1, 2]
    assert {(loaded, parent) for loaded, parent, _, _ in said} == {(server.pid, server.pid)}
    workers = [worker for _, _, worker, _ in said]
    # A scheduler signals every process, and a terminal too; the owner decides.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        os.kill(server.pid, number)
    for worker in workers:
        os.kill(worker, signal.SIGINT)
    for order, code in (
        ("end", 0), ("raise", 1), (signal.SIGTERM, -signal.SIGTERM), (signal.SIGSEGV, -signal.SIGSEGV),
    ):  # fmt: skip
        if isinstance(order, str):
            server.pipes[1].send(order)
        else:
            os.kill(workers[-1 if len(workers) > 3 else 1], order)
        hear_end(server.pipes[1])
        assert server.exit_code(1) == code
        server.restart(1)
        _, _, worker, number = hear(server.pipes[1])
        assert (number, worker in workers) == (1, False)
        workers.append(worker)
    server.pipes[2].send("hold the interpreter")
    server.kill(2)
    hear_end(server.pipes[2])
    assert server.exit_code(2) == -signal.SIGKILL
    server.kill(2)  # there is none any more
    for number in (0, 1):
        server.pipes[number].send("say more")
        assert hear(server.pipes[number]) == "more"


def test_what_was_said_before_the_end_is_heard(server: ForkServer) -> None:
    for pipe in server.pipes:
        hear(pipe)
    server.pipes[0].send("say more")
    assert server.pipes[0].poll(SECONDS)
    assert server.stop() == -signal.SIGKILL
    assert hear(server.pipes[0]) == "more"
    for pipe in server.pipes:
        hear_end(pipe)


def test_all_workers_end_with_the_server(server: ForkServer) -> None:
    for pipe in server.pipes:
        hear(pipe)
    server.pipes[1].send("hold the interpreter")
    os.kill(server.pid, signal.SIGKILL)
    for pipe in server.pipes:
        hear_end(pipe)
    with pytest.raises(EOFError):
        server.exit_code(0)
    server.restart(0)
    hear_end(server.pipes[0])
    assert server.stop() == -signal.SIGKILL


def test_a_server_that_does_not_answer_is_ended(server: ForkServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server, "ANSWER_SECONDS", 0.2)
    said = [hear(pipe) for pipe in server.pipes]
    os.kill(server.pid, signal.SIGSTOP)
    os.kill(said[0][2], signal.SIGKILL)
    with pytest.raises(EOFError):
        server.exit_code(0)
    for pipe in server.pipes:
        hear_end(pipe)


@pytest.mark.parametrize(("load", "kind"), [(fail_to_load, ValueError), (fail_with_a_lock, RuntimeError)])
def test_what_cannot_be_loaded_ends_the_server(
    load: Callable[[], int], kind: type[Exception], capfd: pytest.CaptureFixture[str]
) -> None:
    server = ForkServer(load, obey, 2)
    for pipe in server.pipes:
        hear_end(pipe)
    with pytest.raises(kind, match="nothing there") as raised:
        server.exit_code(0)
    assert load.__name__ in "".join(traceback.format_exception(raised.value))  # a defect is found
    assert server.stop() == 1
    assert capfd.readouterr().err == ""


def test_a_worker_that_cannot_be_started() -> None:
    """Nobody tries again at once, and again and again."""
    server = ForkServer(load_the_last, obey, 1)
    hear_end(server.pipes[0])
    with pytest.raises(BlockingIOError, match="no more processes"):
        server.exit_code(0)
    server.stop()


PROGRAM = """
import os, signal, time
from jobs.pools.fork_server import ForkServer
from tests.support.cases import exhaustive
from tests.farm.test_fork_server import hear, load, load_for_ever, obey
if __name__ == "__main__":
    {before}
    server = ForkServer({load}, obey, 2)
    workers = [hear(pipe)[2] for pipe in server.pipes] if {load} is load else []
    if workers:
        server.pipes[0].send("hold the interpreter")
    print(server.pid, *workers, flush=True)
    {then}
"""


@pytest.mark.parametrize(
    ("load", "before", "then"),
    [
        ("load", "", "os.kill(server.pid, signal.SIGSTOP); time.sleep(1000)"),
        *exhaustive(
            [
                ("load", "", "pass"),
                ("load_for_ever", "", "time.sleep(1000)"),
            ]
        ),
        ("load", "signal.signal(signal.SIGCHLD, signal.SIG_IGN)", "assert server.stop() is None"),
    ],
)
def test_nothing_outlives_the_owner(tmp_path: Path, load: str, before: str, then: str) -> None:
    """Killed, at its end, or at an error: a program may forget to stop its workers."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(load=load, before=before, then=then))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(file)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as owner:
        assert owner.stdout is not None
        processes = owner.stdout.readline().split()
        assert len(processes) == (3 if load == "load" else 1)
        if "sleep" in then:
            owner.kill()
        owner.wait(SECONDS)
    deadline = time.monotonic() + SECONDS
    while any(Path(f"/proc/{process}").exists() for process in processes):
        assert time.monotonic() < deadline, "processes outlive their owner"
        time.sleep(0.01)


def test_a_worker_whose_parent_was_killed_before_it_read_all_news_ends_without_a_traceback() -> None:
    from jobs.pools.process_pool import _serve

    parents, workers = multiprocessing.Pipe()
    workers.send("news")
    parents.close()
    _serve(Mock(), [Mock()], [Mock()], "", None, 0, workers)
