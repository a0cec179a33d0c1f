"""Ways to tell an operator something: a command that reads it, or a URL that it is posted to."""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from typing import IO, Protocol
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from jobs.farm.requests import is_this_machine
from langford.errors import LangfordError
from langford.version import __version__

COMMAND_SECONDS, URL_SECONDS = 60.0, 20.0
"""How long a command may run, and how long a server may be silent."""
LONGEST_COMPLAINT = 300
"""Characters of what a command said that are reported."""


class BadHook(LangfordError):
    """A command or URL for notifications cannot be used."""


class NotTold(Exception):
    """A notification did not arrive; the message says why."""


class Hook(Protocol):
    """A way to tell an operator something.

    Attributes:
        channel: its name in the ledger's account, "command" or "url".
        where: the program, or the server, fit to be shown: no part of it is secret.
    """

    channel: str
    where: str

    def tell(self, document: bytes) -> None:
        """Tell a JSON document; raises NotTold."""
        ...


class CommandHook:
    """A command that gets the document on its standard input; no shell reads the command or the document."""

    channel = "command"

    def __init__(self, command: str, seconds: float = COMMAND_SECONDS) -> None:
        """Raises BadHook when there is no such program.

        Args:
            command: the program and its arguments, quoted as in a shell.
            seconds: how long it may run.
        """
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise BadHook(f"cannot read the command {command!r:.80} ({error}): close its quotes") from error
        if not self._words or shutil.which(self._words[0]) is None:
            program = self._words[0] if self._words else ""
            raise BadHook(
                f"there is no program {program!r:.80} to notify with: give --notify-command a program and its "
                "arguments; a pipe or a variable needs a script"
            )
        self.where = self._words[0]
        self._seconds = seconds

    def tell(self, document: bytes) -> None:
        """Run the command, and kill it and what it has started when it takes too long."""
        try:
            # Files, not pipes: what the command starts may keep them open, and it may say more than we can hold.
            with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as complaint:
                question.write(document)
                question.seek(0)
                code = self._run(question, complaint)
                complaint.seek(0)
                words = complaint.read(4 * LONGEST_COMPLAINT).decode(errors="replace").strip()[:LONGEST_COMPLAINT]
        except OSError as error:
            raise NotTold(f"it cannot be started ({error.strerror or error})") from error
        if code:
            raise NotTold(f"it ended with exit code {code}{': ' if words else ''}{words}")

    def _run(self, question: IO[bytes], complaint: IO[bytes]) -> int:
        """Run the command between two files; returns its exit code."""
        process = subprocess.Popen(
            self._words, stdin=question, stdout=subprocess.DEVNULL, stderr=complaint, start_new_session=True
        )
        try:
            return process.wait(self._seconds)
        except subprocess.TimeoutExpired as error:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise NotTold(f"it was killed after {self._seconds:.0f} s") from error


class UrlHook:
    """A URL that gets the document by POST; any status from 200 to 299 says that it arrived."""

    channel = "url"

    def __init__(self, url: str, seconds: float = URL_SECONDS) -> None:
        """Raises BadHook when this is no URL.

        Args:
            url: http(s)://…; a name and a password in it are sent as HTTP says.
            seconds: how long its server may be silent.
        """
        parts = _split(url)
        self.where = f"{parts.scheme}://{parts.hostname}"
        self._seconds = seconds
        self._headers = {"Content-Type": "application/json", "User-Agent": f"langford/{__version__}"}
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(login).decode()}"
        server = parts.netloc.rpartition("@")[2]
        self._url = urlunsplit((parts.scheme, server, parts.path, parts.query, ""))
        # HTTP_PROXY and HTTPS_PROXY count, but not on the way to this machine: no proxy could reach it.
        proxies = urllib.request.ProxyHandler({} if is_this_machine(parts.hostname or "") else None)
        self._open = urllib.request.build_opener(_NoRedirect, proxies).open

    def tell(self, document: bytes) -> None:
        """Post the document."""
        request = urllib.request.Request(self._url, document, self._headers, method="POST")
        try:
            with self._open(request, timeout=self._seconds):
                pass
        except urllib.error.HTTPError as error:
            error.close()
            raise NotTold(f"it answers with the status {error.code}") from error
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise NotTold(f"it does not answer ({reason})") from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Goes nowhere else: a redirected POST would become a GET without the document."""

    def redirect_request(self, *arguments: object) -> None:
        return None


def _split(url: str) -> SplitResult:
    """The parts of a URL; raises BadHook, which does not repeat it: it may be a secret."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- raises ValueError
        url.encode("ascii")
    except ValueError as error:
        raise BadHook("cannot read the URL to notify: write https://HOST/PATH") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadHook("the URL to notify must begin with http:// or https:// and a host: write https://HOST/PATH")
    return parts
