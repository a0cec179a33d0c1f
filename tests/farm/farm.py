"""A real farm of a test: a campaign in a ledger, its server, its workers, and a relay between them."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import select

from db import Ledger
from db.states import Role
from db.store.models import Worker
from jobs.run.loop import result
from langford.methods import PlanKey, plan_of
from langford.problem import Problem
from tests.support.command_line import COMMAND, ENVIRONMENT, command_on, planted
from tests.support.ports import free_port
from tests.support.preloaded import is_preloaded_for, preloaded

CAMPAIGN, COUNT = PlanKey(Problem.langford(15), "godfrey", 8), 39_809_640
TASK_SECONDS = 0.05
"""Seconds that a worker rests at each task of it: some in all, in which the processor is free for others."""
LONG_CAMPAIGN = PlanKey(Problem.langford(19), "polyphase", 16)
"""One that no worker finishes in some seconds."""
NAME = "farmed"

COMPUTING = "--multiprocessing-fork"
"""What the processes of a command that compute have in their command line."""
SLOW = """
import sys, time
if {word!r} in sys.orig_argv:
    from langford.methods.godfrey.cpu import GodfreyOnCpu
    evaluate = GodfreyOnCpu.evaluate
    def slowly(self, index):
        time.sleep({seconds})
        return evaluate(self, index)
    GodfreyOnCpu.evaluate = slowly
"""


def slowed(folder: Path, seconds: float = TASK_SECONDS, besides: str = "", word: str = COMPUTING) -> dict[str, str]:
    """The environment of a worker whose tasks by Godfrey's sum take so much longer, with the processor free.

    Args:
        folder: where it keeps how.
        seconds: that each task takes longer.
        besides: what its processes do at their start.
        word: in the command line of those that compute.
    """
    variables = planted(folder / f"slowed-{seconds}", f"{SLOW.format(seconds=seconds, word=word)}{besides}")
    if word == COMPUTING and not besides:
        _for_computing_processes.add(variables["PYTHONPATH"])
    return variables


_for_computing_processes: set[str] = set()
"""Values of PYTHONPATH whose plants do nothing in a command itself."""


def start(arguments: list[str], folder: Path, environment: dict[str, str], **options: Any) -> Any:
    """Start a command whose computing processes may be slowed, from the preloaded process where that serves.

    Returns:
        a :class:`subprocess.Popen`, or what is used like one.
    """
    path = environment.get("PYTHONPATH")
    others = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    if (path is None or path in _for_computing_processes) and is_preloaded_for(others):
        return preloaded().start(arguments, folder, environment, **options)
    return subprocess.Popen([*COMMAND, *arguments], cwd=folder, env=environment, text=True, **options)


class Farm:
    """A campaign in a ledger, its server, and its workers."""

    def __init__(self, folder: Path, key: PlanKey) -> None:
        self.folder, self.port = folder, free_port()
        self.ledger = Ledger(str(folder / "langford.db"), create=True)
        self.campaign = self.ledger.create_campaign(NAME, key, plan_of(key).work.tolist())
        self.token = self.campaign.new_token(Role.WORKER)
        self.processes: list[subprocess.Popen[str]] = []
        self.server = self.serve()

    def start(self, *arguments: str, host: str | None = None, **variables: str) -> subprocess.Popen[str]:
        environment = {**ENVIRONMENT, **slowed(self.folder), "LANGFORD_TOKEN": self.token, **variables}
        process: Any
        if host is None:
            process = start(list(arguments), self.folder, environment, stderr=subprocess.PIPE)
        else:
            process = subprocess.Popen(
                [*command_on(host), *arguments], cwd=self.folder, env=environment, text=True, stderr=subprocess.PIPE
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
        self, *options: str, port: int | None = None, outbox: str = "outbox", **more: str
    ) -> subprocess.Popen[str]:
        url = f"http://127.0.0.1:{port or self.port}/{NAME}"
        return self.start("work", url, "--workers", "1", "--outbox", outbox, "--lease", "5", *options, **more)

    def work_on(self, host: str) -> subprocess.Popen[str]:
        """A worker that votes: on a host of its own, with a token of its own."""
        return self.work(host=host, outbox=f"outbox-{host}", LANGFORD_TOKEN=self.campaign.new_token(Role.WORKER))

    def workers(self) -> list[Any]:
        """The workers that have enrolled, as the ledger keeps them."""
        with self.ledger.database.reading() as connection:
            return list(connection.execute(select(Worker.__table__)))

    def done(self) -> int:
        return self.campaign.standing().tasks.get("done", 0)

    def wait_until(self, enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 100
        while not enough():
            assert time.monotonic() < deadline, "it takes too long"
            time.sleep(0.02)

    def finish(self, *workers: subprocess.Popen[str]) -> None:
        """All workers end well, and the ledger holds each task once and the exact count."""
        for worker in workers:
            _, errors = worker.communicate(timeout=150)
            assert worker.returncode == 0, errors
        assert result(self.campaign).published == COUNT
        progress = self.campaign.progress()
        assert progress.tasks == {"done": self.campaign.tasks}
        assert progress.conflicts == 0

    def stop(self) -> None:
        """End all that runs."""
        for process in self.processes:
            process.kill()
            process.communicate()


class Proxy:
    """A relay to the server that can be cut: connections break, new ones hang or are refused."""

    def __init__(self, to: int) -> None:
        self.port, self._to, self.cut = free_port(), to, False
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            inner, _ = self._listener.accept()
            if self.cut:
                inner.close()
                continue
            outer = socket.create_connection(("127.0.0.1", self._to))
            for pair in ((inner, outer), (outer, inner)):
                threading.Thread(target=self._relay, args=pair, daemon=True).start()

    def _relay(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(4096):
                if self.cut:
                    break  # the request may have arrived, its answer has not
                target.sendall(content)
        for each in (source, target):
            each.close()
