"""Ways to notify an operator: a command that reads a document, or a URL to which it is posted."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
from contextlib import suppress
from typing import IO, Protocol
from urllib.parse import SplitResult, urlsplit

from jobs.addresses import is_this_machine
from jobs.console import Console
from jobs.reach.patience import Calls, GivenUp, Overdue
from langford.errors import BadInput
from langford.version import __version__
from langford.words import duration

COMMAND_SECONDS, URL_SECONDS = 60.0, 20.0
"""How long a command may run, and how long a server may take to answer."""
MAX_COMPLAINT = 300
"""Characters of the output of a command that are reported."""
HEADERS = {
    "Content-Type": "application/json",
    "User-Agent": f"langford/{__version__}",
    "Accept-Encoding": "identity",
}


class NotDelivered(Exception):
    """A notification did not arrive; the message says why."""


class Hook(Protocol):
    """A way to notify; ``channel``: its kind, ``where``: the command or host, for people."""

    channel: str
    where: str

    def notify(self, document: bytes) -> None:
        """Deliver a JSON document; raises NotDelivered."""
        ...

    def give_up(self) -> None:
        """End what another thread delivers, which is not delivered then."""
        ...


class CommandHook:
    """A command that gets the document on its standard input; no shell reads the command or the document."""

    channel = "command"

    def __init__(self, command: str, seconds: float = COMMAND_SECONDS) -> None:
        """
        Args:
            command: a program and its arguments, split as by a shell.
            seconds: that it may take.

        Raises BadInput when there is no such program.
        """
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise BadInput(f"cannot read the command {command!r:.80} ({error}): close its quotes") from error
        if not self._words or shutil.which(self._words[0]) is None:
            program = self._words[0] if self._words else ""
            raise BadInput(
                f"there is no program {program!r:.80} to notify with: give --notify-command a program and its "
                "arguments; a pipe or a variable needs a script"
            )
        self.where = self._words[0]
        self._seconds = seconds
        self._lock, self._given_up = threading.Lock(), False
        self._process: subprocess.Popen[bytes] | None = None

    def notify(self, document: bytes) -> None:
        try:
            # Files, not pipes: what the command starts may keep them open, and its output may be huge.
            with tempfile.TemporaryFile() as question, tempfile.TemporaryFile() as complaint:
                question.write(document)
                question.seek(0)
                code = self._run(question, complaint)
                complaint.seek(0)
                words = complaint.read(4 * MAX_COMPLAINT).decode(errors="replace").strip()[:MAX_COMPLAINT]
        except OSError as error:
            raise NotDelivered(f"it cannot be started ({error.strerror or error})") from error
        if code:
            raise NotDelivered(f"it ended with exit code {code}{': ' if words else ''}{words}")

    def _run(self, question: IO[bytes], complaint: IO[bytes]) -> int:
        with self._lock:
            if self._given_up:
                raise NotDelivered("this program ends")
            process = self._process = subprocess.Popen(
                self._words, stdin=question, stdout=subprocess.DEVNULL, stderr=complaint, start_new_session=True
            )
        try:
            code = process.wait(self._seconds)
        except subprocess.TimeoutExpired as error:
            _kill(process)
            raise NotDelivered(f"it was killed after {duration(self._seconds)}") from error
        if code and self._given_up:
            raise NotDelivered("it was killed, because this program ends")
        return code

    def give_up(self) -> None:
        with self._lock:
            self._given_up = True
            if self._process is not None and self._process.poll() is None:
                _kill(self._process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class UrlHook(Console):
    """A URL that gets the document by POST; any status from 200 to 299 means that it arrived."""

    channel = "url"

    def __init__(self, url: str, seconds: float = URL_SECONDS) -> None:
        """
        Args:
            url: http or https.
            seconds: for the headers of the answer; the rest is not read.

        Raises BadInput when this is no URL.
        """
        parts = _split(url)
        self.where = f"{parts.scheme}://{parts.hostname}"
        self._url, self._seconds = url, seconds
        self._reason: str | None = None
        # HTTP_PROXY and HTTPS_PROXY count, but not on the way to this machine: no proxy could reach it.
        self._uses_proxies = not is_this_machine(parts.hostname or "")

    def notify(self, document: bytes) -> None:
        from httpx import Client, HTTPError, InvalidURL, TimeoutException

        def post() -> int:
            # The body of the answer is not read.  No redirect is followed: it would become a GET.
            with client.stream("POST", self._url, content=document, headers=HEADERS) as response:
                return response.status_code

        try:
            trusted, seconds = ssl.create_default_context(), self._seconds
            with Client(verify=trusted, trust_env=self._uses_proxies, timeout=seconds) as client:
                # Another thread sends it, and ends with its connection, however long the answer is.
                status = Calls(self, self.where).make(post, seconds)
        except GivenUp as error:
            raise NotDelivered("it does not answer, and this program ends") from error
        except (Overdue, TimeoutException) as error:
            raise NotDelivered(f"it does not answer (incomplete answer after {duration(self._seconds)})") from error
        except (HTTPError, InvalidURL, OSError, ValueError, ImportError) as error:
            raise NotDelivered(f"it does not answer ({str(error)[:MAX_COMPLAINT]})") from error
        if not 200 <= status < 300:
            raise NotDelivered(f"it answers with the status {status}")

    def give_up(self) -> None:
        self._reason = "this program ends"

    def stop_reason(self) -> str | None:
        return self._reason


def has_secret(url: str) -> bool:
    """Whether a URL has a name, a password or a query, which are often secrets.

    >>> has_secret("https://ada:s@host/"), has_secret("https://host/?key=s"), has_secret("https://host/hook")
    (True, True, False)
    """
    return "@" in url.partition("://")[2].partition("/")[0] or "?" in url


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- raises ValueError
        if any(letter <= " " or letter > "~" for letter in url):
            # The request would fail, with an error that quotes the path.
            raise ValueError("only printable ASCII can be sent")
    except ValueError as error:
        raise BadInput("cannot read the URL to notify: write https://HOST/PATH") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadInput("the URL to notify must begin with http:// or https:// and a host: write https://HOST/PATH")
    return parts
