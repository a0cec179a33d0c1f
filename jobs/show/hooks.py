"""Ways to notify an operator: a command that reads a document, or a URL to which it is posted."""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import IO, Any, Protocol
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from jobs.addresses import is_this_machine
from langford.errors import BadInput
from langford.version import __version__

COMMAND_SECONDS, URL_SECONDS = 60.0, 20.0
"""How long a command may run, and how long a server may take to answer."""
MAX_COMPLAINT = 300
"""Characters of the output of a command that are reported."""


class NotDelivered(Exception):
    """A notification did not arrive; the message says why."""


class Hook(Protocol):
    """A way to notify an operator."""

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
        """Raises BadInput when there is no such program."""
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
            raise NotDelivered(f"it was killed after {self._seconds:.0f} s") from error
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


class UrlHook:
    """A URL that gets the document by POST; any status from 200 to 299 means that it arrived."""

    channel = "url"

    def __init__(self, url: str, seconds: float = URL_SECONDS) -> None:
        """Raises BadInput when this is no URL; ``seconds``: for the headers of the answer, the rest is not read."""
        parts = _split(url)
        self.where = f"{parts.scheme}://{parts.hostname}"
        self._seconds = seconds
        self._line = _Line()
        self._headers = {
            "Content-Type": "application/json",
            "User-Agent": f"langford/{__version__}",
            "Accept-Encoding": "identity",
        }
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(login).decode()}"
        server = parts.netloc.rpartition("@")[2]
        self._url = urlunsplit((parts.scheme, server, parts.path, parts.query, ""))
        # HTTP_PROXY and HTTPS_PROXY count, but not on the way to this machine: no proxy could reach it.
        self._proxies: dict[str, str] | None = {} if is_this_machine(parts.hostname or "") else None

    def notify(self, document: bytes) -> None:
        request = urllib.request.Request(self._url, document, self._headers, method="POST")
        line = self._line = _Line()
        proxies = urllib.request.ProxyHandler(self._proxies)
        opener = urllib.request.build_opener(_NoRedirect, proxies, _Http(line), _Https(line))
        deadline = threading.Timer(self._seconds, line.cut)
        deadline.daemon = True
        deadline.start()
        try:
            with opener.open(request, timeout=self._seconds):
                pass
        except urllib.error.HTTPError as error:
            error.close()
            raise NotDelivered(f"it answers with the status {error.code}") from error
        except (OSError, HTTPException, ValueError) as error:
            late = f"no whole answer in {self._seconds:.0f} s" if line.is_cut else None
            reason = late or getattr(error, "reason", None) or error
            raise NotDelivered(f"it does not answer ({str(reason)[:MAX_COMPLAINT]})") from error
        finally:
            deadline.cancel()
            line.close()

    def give_up(self) -> None:
        self._line.cut()


class _Line:
    """The sockets of one request: shut down when it takes too long, whatever the other end still sends."""

    def __init__(self) -> None:
        self.is_cut = False
        # Copies: TLS takes the one of its connection away.
        self._sockets: list[socket.socket] = []

    def keep(self, opened: socket.socket) -> None:
        self._sockets.append(opened.dup())
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """Shut the sockets down, which ends every wait for them."""
        self.is_cut = True
        for each in self._sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for each in self._sockets:
            each.close()


class _Kept(HTTPConnection):
    """A connection that gives its socket to a line."""

    line: _Line

    def connect(self) -> None:
        super().connect()
        self.line.keep(self.sock)


class _KeptTls(HTTPSConnection, _Kept):
    """The same with TLS, whose handshake comes after."""


def _kept(kind: type[_Kept], line: _Line, *arguments: Any, **options: Any) -> _Kept:
    made = kind(*arguments, **options)
    made.line = line
    return made


class _Http(urllib.request.HTTPHandler):
    def __init__(self, line: _Line) -> None:
        super().__init__()
        self._line = line

    def http_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(partial(_kept, _Kept, self._line), request)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, line: _Line) -> None:
        super().__init__()
        self._line = line

    def https_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(partial(_kept, _KeptTls, self._line), request)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a redirected POST would become a GET without the document."""

    def redirect_request(self, *arguments: object) -> None:
        return None


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
