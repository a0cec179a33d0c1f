"""A real farm of a test: a campaign in a ledger, its server, its workers, and a relay between them."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import select

from db.schema.models import Worker
from db.states import Role
from jobs.reach.patience import Backoff
from jobs.reach.remote import SERVER, RemoteCampaign
from langford.methods import PlanKey, plan_of
from langford.methods.godfrey.cpu import GodfreyOnCpu
from langford.problem import Problem
from langford.problem.reference import published
from langford.result import PartialResult
from tests.support.command_line import ENVIRONMENT, command_on, planted
from tests.support.databases import new_ledger
from tests.support.joins import join_file
from tests.support.ports import free_port
from tests.support.preloaded import adapt, is_preloaded_for, preloaded
from tests.support.servers import QUICK

CAMPAIGN, COUNT = PlanKey(Problem.langford(12), "godfrey", 8), 108_144
TASK_SECONDS = 0.05
"""Seconds that a worker rests at each task of it, with the processor free for others, until the test needs no more
time: :meth:`Farm.finish` has the rest done at once."""
HURRY = "hurry"
"""The file that says so, in the working folder."""
LONG_CAMPAIGN = PlanKey(Problem.langford(19), "polyphase", 16)
"""One that no worker finishes in some seconds."""
NAME = "farmed"

COMPUTING = "--multiprocessing-fork"
"""What the processes of a command that compute have in their command line."""
SLOW = """
import os, sys, time
if {word!r} in sys.orig_argv:
    from langford.methods.{method}.cpu import {evaluator} as Evaluator
    evaluate = Evaluator.evaluate
    def slowly(self, index):
        if not os.path.exists({hurry!r}):
            time.sleep({seconds})
        return evaluate(self, index)
    Evaluator.evaluate = slowly
"""
EVALUATORS = {"godfrey": "GodfreyOnCpu", "polyphase": "PolyphaseOnCpu"}
"""Those that can be slowed, by their method."""


def slowed(
    folder: Path, seconds: float = TASK_SECONDS, word: str = COMPUTING, method: str = "godfrey"
) -> dict[str, str]:
    """The environment of a worker whose tasks of a method take longer, with the processor free.

    Args:
        folder: where it keeps how.
        seconds: that each task takes longer.
        word: in the command line of those that compute.
        method: whose evaluator is slowed.
    """
    program = SLOW.format(seconds=seconds, word=word, hurry=HURRY, method=method, evaluator=EVALUATORS[method])
    variables = planted(folder / f"slowed-{seconds}", program)
    _slowed[variables["PYTHONPATH"]] = seconds
    return variables


_slowed: dict[str, float] = {}
"""Values of PYTHONPATH that slow tasks and do nothing else, with the seconds."""


def prepare(seconds: float | None = None, variables: Mapping[str, str] | None = None) -> None:
    """Have this process, a server or a worker to be, wait for shorter times.

    Args:
        seconds: it evaluates its tasks itself, each of which takes longer; None: it starts processes for them.
        variables: for those processes, see :func:`slowed`.
    """
    os.environ.update(variables or {})
    adapt(QUICK, in_process=seconds is not None)
    RemoteCampaign.transport = replace(SERVER, idle_seconds=(0.5, 60.0))
    Backoff.__init__.__defaults__ = 0.05, 0.2
    if seconds is not None:
        slow(seconds)


def slow(seconds: float) -> None:
    """As :func:`slowed`, in this process."""
    evaluate = GodfreyOnCpu.evaluate

    def slowly(self: GodfreyOnCpu, index: int) -> PartialResult:
        if not os.path.exists(HURRY):
            time.sleep(seconds)
        return evaluate(self, index)

    GodfreyOnCpu.evaluate = slowly  # type: ignore[method-assign]


def start(
    arguments: list[str],
    folder: Path,
    environment: dict[str, str],
    host: str | None = None,
    in_process: bool = False,
    **options: Any,
) -> Any:
    """Start a command whose tasks may be slowed, from the preloaded process where that serves.

    Args:
        arguments: of the command.
        folder: in which it works.
        environment: its variables.
        host: the name of the machine, as the command sees it; None: its own.
        in_process: whether it may do without processes that compute, which take most of a start.
        options: see :meth:`tests.support.preloaded.Preloaded.start`.

    Returns:
        a :class:`subprocess.Popen`, or what is used like one.
    """
    # Such a plant does nothing in the command itself.
    is_usual = COMPUTING in _planted(environment)
    others = {name: value for name, value in environment.items() if name != "PYTHONPATH" or not is_usual}
    if is_preloaded_for(others):
        seconds = _slowed.get(environment.get("PYTHONPATH", "")) if in_process else None
        function = "tests.support.farm:prepare", {"seconds": seconds}
        return preloaded().start(arguments, folder, environment, host=host, prepare=function, **options)
    return subprocess.Popen([*command_on(host), *arguments], cwd=folder, env=environment, text=True, **options)


def _planted(environment: dict[str, str]) -> str:
    """The program that a command runs at its start; "" if there is none."""
    program = Path(environment.get("PYTHONPATH", "").partition(os.pathsep)[0], "sitecustomize.py")
    return program.read_text() if program.exists() else ""


class Farm:
    """A campaign in a ledger, its server, and its workers."""

    def __init__(self, folder: Path, key: PlanKey) -> None:
        self.folder, self.port = folder, free_port()
        self.ledger = new_ledger("sqlite", folder, "langford.db")
        self.campaign = self.ledger.create_campaign(NAME, key, plan_of(key).work.tolist())
        self.token = self.campaign.operator.new_token(Role.WORKER)
        self.processes: list[subprocess.Popen[str]] = []
        self.server = self.serve()

    def start(
        self, *arguments: str, host: str | None = None, in_process: bool = False, **variables: str
    ) -> subprocess.Popen[str]:
        environment = {**ENVIRONMENT, **slowed(self.folder), **variables}
        process: subprocess.Popen[str] = start(
            list(arguments), self.folder, environment, host, in_process, stderr=subprocess.PIPE
        )
        self.processes.append(process)
        return process

    def serve(self, *more: str, **variables: str) -> subprocess.Popen[str]:
        process = self.start("serve", NAME, *more, "--port", str(self.port), **variables)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return process
            time.sleep(0.05)
        raise AssertionError(process.communicate(timeout=5))

    def work(
        self,
        *options: str,
        port: int | None = None,
        outbox: str = "outbox",
        in_process: bool = True,
        token: str | None = None,
        **more: Any,
    ) -> subprocess.Popen[str]:
        """A worker; most tests need none that starts a process to compute."""
        address = f"http://127.0.0.1:{port or self.port}/{NAME}"
        join = join_file(self.folder, address, token or self.token, name=f"{Path(outbox).name}.join")
        words = "work", join, "--workers", "1", "--outbox", outbox
        return self.start(*words, "--lease", "5", *options, in_process=in_process, **more)

    def work_on(self, host: str) -> subprocess.Popen[str]:
        """A worker that votes: on a host of its own, with a token of its own."""
        return self.work(host=host, outbox=f"outbox-{host}", token=self.campaign.operator.new_token(Role.WORKER))

    def workers(self) -> list[Any]:
        """The workers that have enrolled, as the ledger keeps them."""
        with self.ledger.database.reading() as connection:
            return list(connection.execute(select(Worker.__table__)))

    def done(self) -> int:
        return self.campaign.reader.standing().tasks.get("done", 0)

    def wait_until(self, enough: Callable[[], bool], pause: float = 0.05) -> None:
        deadline = time.monotonic() + 100
        while not enough():
            assert time.monotonic() < deadline, "it takes too long"
            time.sleep(pause)

    def finish(self, *workers: subprocess.Popen[str]) -> None:
        """All workers end well, and the ledger holds each task once and the exact count."""
        (self.folder / HURRY).touch()
        for worker in workers:
            try:
                _, errors = worker.communicate(timeout=150)
            except subprocess.TimeoutExpired:
                worker.kill()
                raise AssertionError(f"it has not ended: {worker.communicate(timeout=30)[1]}") from None
            assert worker.returncode == 0, errors
        assert self.campaign.reader.merged().published == published(self.campaign.problem)
        reader = self.campaign.reader
        assert reader.standing().tasks == {"done": self.campaign.tasks}
        assert reader.overview().checked.conflicts == 0

    def stop(self) -> None:
        """End all that runs."""
        for process in self.processes:
            process.kill()
            process.communicate(timeout=30)


class Proxy:
    """A relay to the server that can be cut: connections break, new ones hang or are refused."""

    def __init__(self, to: int) -> None:
        self.port, self._to, self.cut = free_port(), to, False
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            inner, _ = self._listener.accept()
            try:
                outer = None if self.cut else socket.create_connection(("127.0.0.1", self._to))
            except OSError:
                outer = None
            if outer is None:
                inner.close()
                continue
            for pair in ((inner, outer), (outer, inner)):
                threading.Thread(target=self._relay, args=pair, daemon=True).start()

    def _relay(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(4096):
                if self.cut:
                    break  # the request may have arrived, its answer has not
                target.sendall(content)
        close(source, target)


def close(*sockets: socket.socket) -> None:
    """Close connections, so that the other ends and the threads that read them see it at once."""
    for each in sockets:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
