"""The options with which a command reaches a task server."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobs.console import SILENT, Console
from jobs.reach.join import TOKEN
from langford.cli.options.groups import gathered
from langford.errors import BadInput
from langford.machine.durable import FileTooLarge, content
from langford.machine.folders import others_can_read

if TYPE_CHECKING:
    from jobs.reach.remote import RemoteServer

MAX_TOKEN_FILE = 4_096


@dataclass(frozen=True)
class AccessOptions:
    token_file: Path | None
    certificate: Path | None
    insecure: bool  # whether the token may travel without encryption

    def server(self, url: str, console: Console = SILENT) -> RemoteServer:
        """Raises BadInput."""
        from jobs.reach.remote import RemoteServer

        return RemoteServer(url, token_of(self.token_file), self.certificate, self.insecure, console)


def token_of(file: Path | None) -> str:
    """The token for a task server: the file's content, or LANGFORD_TOKEN; raises BadInput."""
    if file and (file.is_dir() or file.is_char_device() or file.is_block_device()):
        raise BadInput(f"{file} is not a file: give --token-file the file that `langford token NAME --out` wrote")
    if file and others_can_read(file):
        raise BadInput(
            f"others on this machine can read the token file {file}: chmod 600 {file}; if they may have "
            "done so, revoke the token and make another one (`langford token NAME --revoke`)"
        )
    token = (_text_of(file) if file else os.environ.get("LANGFORD_TOKEN", "")).strip()
    if not token:
        raise BadInput("give a token of the campaign: --token-file FILE, or LANGFORD_TOKEN (see `langford token`)")
    if not TOKEN.fullmatch(token):
        raise BadInput(
            f"{file or 'LANGFORD_TOKEN'} does not contain a token, which is one word of letters, digits, - and _: "
            "copy it again, or make another one (`langford token NAME`)"
        )
    return token


def _text_of(file: Path) -> str:
    try:
        return content(file, MAX_TOKEN_FILE).decode("utf-8-sig", errors="replace")
    except FileTooLarge as error:
        raise BadInput(
            f"{error}, which no token has: give the file that `langford token NAME --out` wrote"
        ) from error


access_options = gathered(
    "access",
    AccessOptions,
    click.option(
        "--token-file",
        type=click.Path(exists=True, path_type=Path),
        help="File with the server's token; default: LANGFORD_TOKEN.",
    ),
    click.option(
        "--certificate",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A server's certificate to trust in addition to those of the system.",
    ),
    click.option(
        "--insecure",
        is_flag=True,
        help="Send the token without encryption, to a server in a network that you trust.",
    ),
)
