"""The file with which a worker joins a farm: where the campaign is, the token that opens it, whom to trust.

    # langford join 1
    address https://farm:8765/langford-28-shifted2-16
    token 5bK...
    -----BEGIN CERTIFICATE-----
    ...

The certificate is that of the server's authority; without one, those of the system are trusted.  OpenSSL and curl
skip the lines before it, so the same file serves as their file of certificates.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.addresses import has_scheme, lacks_scheme, server_parts
from jobs.console import SILENT, Console
from langford.errors import BadInput
from langford.machine.durable import FileTooLarge, content, replace_file
from langford.machine.folders import others_can_read
from langford.machine.outputs import headed

if TYPE_CHECKING:
    from jobs.reach.remote import RemoteCampaign

SUFFIX = ".join"
HEADING = "# langford join 1"
FORM = headed("a join file", HEADING.encode())
MAX_SIZE = 256 * 1024
"""Bytes that a file may have; a chain of certificates has a few thousand."""
TOKEN = re.compile("[!-~]+")
"""The form of a token."""
CERTIFICATES = re.compile("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)
CONNECT_SECONDS = 3.0


def is_join_file(place: str) -> bool:
    """Whether a command means a join file, not the name of a campaign: by its ending, a slash, or an address.

    >>> is_join_file("l24.join"), is_join_file("./l24"), is_join_file("l24"), is_join_file("farm:8765")
    (True, True, False, True)
    """
    return place.endswith(SUFFIX) or "/" in place or lacks_scheme(place)


class NotAJoinFile(BadInput):
    """A file that `langford serve` did not write, or not to its end."""


@dataclass(frozen=True)
class Join:
    """What a worker needs to know.

    Attributes:
        addresses: of one campaign on its server, the best one first.
        token: opens it.
        certificates: to trust in addition to those of the system, PEM; empty: none.
    """

    addresses: Sequence[str]
    token: str
    certificates: str = ""

    def write(self, file: Path) -> None:
        """Write it, for the user alone; an earlier join file is replaced.  Raises OSError, or NotReplaceable."""
        lines = [HEADING, *(f"address {address}" for address in self.addresses), f"token {self.token}"]
        text = "".join([*(f"{line}\n" for line in lines), self.certificates])
        replace_file(file, text.encode(), FORM, private=True)

    @classmethod
    def read(cls, file: Path) -> Join:
        """Raises NotAJoinFile, BadInput where others may have read it, or OSError."""
        text = str(file).replace(":/", "://", 1)  # a path has one slash of them
        if has_scheme(text) or lacks_scheme(text):
            raise NotAJoinFile(
                f"{text} is an address: give the file that `langford serve` wrote, NAME{SUFFIX}, which contains it"
            )
        if file.is_dir():
            raise NotAJoinFile(f"{file} is a folder: give the file that `langford serve` wrote, NAME{SUFFIX}")
        if others_can_read(file):
            raise BadInput(
                f"others on this machine can read the token in {file}: chmod 600 {file}; if they may have done so, "
                "revoke the token (`langford token NAME --revoke`), delete the file, and start the server again"
            )
        try:
            text = content(file, MAX_SIZE).decode("utf-8-sig", errors="replace")
        except FileTooLarge:
            text = ""
        head, *_ = text.partition("-----BEGIN")
        heading, *lines = head.splitlines() or [""]
        fields = [line.split(maxsplit=1) for line in lines if line]
        given = [field[1] for field in fields if len(field) == 2 and field[0] == "address"]
        tokens = [field[1] for field in fields if len(field) == 2 and field[0] == "token"]
        if heading != HEADING or not given or len(tokens) != 1 or not TOKEN.fullmatch(tokens[0]):
            raise NotAJoinFile(
                f"{file} is not a complete join file: copy NAME{SUFFIX} again, which `langford serve` writes and "
                "whose path it prints"
            )
        return cls(given, tokens[0], "".join(CERTIFICATES.findall(text)))

    @property
    def campaign(self) -> str:
        """The campaign's name."""
        return server_parts(self.addresses[0]).path.rpartition("/")[2]


def joined(file: Path, console: Console = SILENT) -> RemoteCampaign:
    """The campaign of a join file, to which nothing is sent yet.

    A server without TLS is trusted: who started it, and made the file, has decided that the network is safe.

    Raises as :meth:`Join.read`.
    """
    from jobs.reach.remote import RemoteServer

    join = Join.read(file)
    trusted = file if join.certificates else None
    return RemoteServer(reached(join.addresses), join.token, trusted, console).campaign()


def reached(addresses: Sequence[str]) -> str:
    """The first at which something listens; the first of all, if none: the server may start later."""
    for address in addresses if len(addresses) > 1 else ():
        parts = server_parts(address)
        with suppress(OSError, UnicodeError):
            port = parts.port or (443 if parts.scheme == "https" else 80)
            socket.create_connection((parts.hostname, port), CONNECT_SECONDS).close()
            return address
    return addresses[0]
