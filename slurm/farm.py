"""A farm of one command: its folder, and the process of its task server.

The folder is for the user alone, on a file system that the nodes share: the jobs read the join file there.  A farm
that is started again has the same authority, token and port, so that its workers still reach it.  The server ends
with the process that started it, however that ends.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from jobs.addresses import server_parts
from jobs.clock import SYSTEM, Clock
from jobs.reach.join import SUFFIX, Join, NotAJoinFile
from langford.errors import BadInput, LangfordError
from langford.machine.folders import objection
from langford.machine.outputs import READY, remove_output

START_SECONDS = 120.0
"""The longest time that a server may take to start, its plan included."""
STOP_SECONDS = 10.0
PORTS = range(20_000, 32_000)
"""Above those of services, and below those that systems give to clients."""


class ServerEnded(LangfordError):
    """The server of a farm does not run."""


def join_file(folder: Path) -> Path:
    """The file with which the workers of a farm join, in its folder."""
    return folder / f"workers{SUFFIX}"


class FarmFolder:
    """The files of a farm, of which only the user may read any.

    Attributes:
        join: with which the workers join; the server writes it, and its certificate beside it.
        ready: written by the server once it listens.
        log: of the server.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder, unless it is there; raises BadInput or OSError where others may read or change it."""
        reason = objection(folder, create=True)
        if reason is not None:
            raise BadInput(f"the farm's token cannot be kept in {folder}: {reason}, or choose another --logs")
        folder.chmod(0o700)
        self.folder = folder
        self.join, self.ready, self.log = join_file(folder), folder / "ready", folder / "server.log"

    def port(self) -> int:
        """That of the join file, so that workers which run still reach the server; at first one that is free."""
        with suppress(FileNotFoundError, NotAJoinFile):
            port = server_parts(Join.read(self.join).addresses[0]).port
            if port is not None:
                return port
        return _free_port()


@contextmanager
def served(
    command: Sequence[str], folder: FarmFolder, environment: Mapping[str, str], clock: Clock = SYSTEM
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that writes ``folder.ready`` while the block runs; it ends when its standard input is closed.

    Raises ServerEnded if it ends before it listens.
    """
    remove_output(folder.ready, READY)
    with open(folder.log, "ab", opener=_private) as log:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, env=dict(environment), start_new_session=True
        )
    try:
        deadline = clock.monotonic() + START_SECONDS
        while not folder.ready.exists():
            if server.poll() is not None or clock.monotonic() > deadline:
                raise ServerEnded(
                    f"the task server did not start: read {folder.log}; its last line is {_last(folder)}"
                )
            clock.wait(0.05)
        yield server
    finally:
        assert server.stdin is not None
        server.stdin.close()
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _last(folder: FarmFolder) -> str:
    lines = folder.log.read_text(errors="replace").splitlines()
    return lines[-1][:300] if lines else "empty"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _free_port() -> int:
    while True:
        port = secrets.choice(PORTS)
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("", port))
            return port
