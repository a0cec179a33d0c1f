"""A farm of one command: the folder with its certificate, token and address, and the process of its task server.

The folder is for the user alone, on a file system that the nodes share: the jobs read the authority's certificate
and the token there.  Whoever starts the farm again finds the same authority, token and port, so that workers of
before still reach it.  The server ends with the process that started it, however that ends.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.clock import SYSTEM, Clock
from langford.errors import BadInput, LangfordError, NotInstalled
from langford.machine.durable import replace_file
from langford.machine.folders import objection
from langford.version import install

if TYPE_CHECKING:
    from trustme import CA

START_SECONDS = 120.0
"""The longest time that a server may take to start, its plan included."""
STOP_SECONDS = 10.0
PORTS = range(20_000, 32_000)
"""Above those of services, and below those that systems give to clients."""


class ServerEnded(LangfordError):
    """The server of a farm does not run."""


class FarmFolder:
    """The files of a farm, of which only the user may read any.

    Attributes:
        authority: the certificate that the workers trust.
        certificate: the server's chain and key.
        token: of the workers.
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
        self.authority, self.certificate = folder / "authority.pem", folder / "server.pem"
        self.token, self.ready, self.log = folder / "worker.token", folder / "ready", folder / "server.log"

    def certify(self, names: Sequence[str]) -> None:
        """Write a certificate for these names, by the authority of this folder; raises NotInstalled."""
        try:
            from trustme import CA
        except ImportError as error:
            raise NotInstalled(
                f"a farm needs trustme for its certificate ({error}): {install('server')}"
            ) from error
        made = self._authority(CA)
        leaf = made.issue_cert(*names, organization_name="langford")
        chain = [leaf.private_key_pem, *leaf.cert_chain_pems]
        # A private key is never replaced; this one was made here.
        self.certificate.unlink(missing_ok=True)
        replace_file(self.certificate, b"".join(blob.bytes() for blob in chain), private=True)

    def _authority(self, kind: type[CA]) -> CA:
        key = self.folder / "authority.key"
        with suppress(FileNotFoundError):
            return kind.from_pem(self.authority.read_bytes(), key.read_bytes())
        made = kind(organization_name="langford")
        replace_file(key, made.private_key_pem.bytes(), private=True)
        replace_file(self.authority, made.cert_pem.bytes(), private=True)
        return made

    def port(self) -> int:
        """The same each time, and at first one that is free."""
        file = self.folder / "port"
        with suppress(FileNotFoundError, ValueError):
            return int(file.read_text())
        port = _free_port()
        replace_file(file, f"{port}\n".encode(), private=True)
        return port


def names_of_this_machine(host: str | None) -> list[str]:
    """The names for its certificate; the first one is that under which the nodes reach it: ``host``, if given."""
    own = [socket.getfqdn(), socket.gethostname(), "localhost", "127.0.0.1"]
    return [*dict.fromkeys(filter(None, [host, *own]))]


@contextmanager
def served(
    command: Sequence[str], folder: FarmFolder, environment: Mapping[str, str], clock: Clock = SYSTEM
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that writes ``folder.ready`` while the block runs; it ends when its standard input is closed.

    Raises ServerEnded if it ends before it listens.
    """
    folder.ready.unlink(missing_ok=True)
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
