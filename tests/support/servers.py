"""A real task server whose log a test reads while it runs."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.command_line import ENVIRONMENT
from tests.support.ports import free_port
from tests.support.preloaded import Preparation, preloaded

QUICK: dict[str, object] = {
    "jobs.farm.guard.hearing:HEARING_SECONDS": 0.0,
    "jobs.show.reporter:ACTIVITY_SECONDS": 0.2,
    "jobs.show.reporter:LOOK_SECONDS": 0.5,
    "jobs.show.notifications:LOOK_SECONDS": 0.2,
}
"""Constants of a server that says soon what it says in the end."""


class Server(contextlib.ExitStack):
    """`langford serve` in a folder, as a context manager.

    Attributes:
        port: on which it listens.
        process: the server.
    """

    def __init__(self, folder: Path, name: str, *options: str, port: int | None = None) -> None:
        super().__init__()
        self.port = port or free_port()
        self._file = folder / f"server-{self.port}-{time.monotonic_ns()}.log"
        arguments = ["serve", name, "--port", str(self.port), *options]
        with self._file.open("w") as log:
            prepare: Preparation = "tests.support.preloaded:adapt", {"values": QUICK}
            self.process = preloaded().start(
                arguments, folder, ENVIRONMENT, stdout=subprocess.PIPE, stderr=log, prepare=prepare
            )
        self.callback(self.process.wait)
        self.callback(self.process.kill)
        self.wait_until(self._listens)

    def _listens(self) -> bool:
        assert self.process.poll() is None, self.log
        return "listening on" in self.log

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it has said."""
        return self._file.read_text()

    def wait_until(self, enough: Callable[[], object], seconds: float = 100.0) -> None:
        """Wait until something is so."""
        deadline = time.monotonic() + seconds
        while not enough():
            assert time.monotonic() < deadline, self.log
            time.sleep(0.05)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> str:
        """End it; returns its whole log."""
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=60)
        assert not output
        return self.log
