"""Requests to a task server, and the ways in which they fail."""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from db.errors import Away, UnknownWorker
from db.messages import BadMessage, decoded, encoded
from jobs.addresses import is_this_machine, server_parts
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from jobs.reach.diagnosis import NO_PASSWORD, distrust, permanent, proxy_of, requires_password
from jobs.reach.patience import MAX_WAIT, Calls, GivenUp, Overdue, Postponed
from jobs.reach.wire import HEADER, SPOKEN, Failure, WireVersion, disagreement
from langford.errors import BadInput, LangfordError
from langford.words import duration

if TYPE_CHECKING:
    from httpx import BaseTransport, Client, Response

TIMEOUT_SECONDS = 25.0
"""How long a server may send nothing: longer than a request waits there for its turns
(:data:`jobs.farm.guard.bounds.WAIT_SECONDS`), since to ask anew costs a busy server more than to wait."""
KEPT_SECONDS = 150.0
"""How long an unused connection is kept: longer than two renewals, and not as long as the server keeps it."""
PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
TLS_FILES = "SSLKEYLOGFILE", "SSL_CERT_FILE", "SSL_CERT_DIR"
"""Variables of the system: of proxies, in capitals or not, and of files that TLS reads or writes."""
HANDSHAKE_SECONDS = 45.0
"""How long a connection may take: a busy server lets those who work go before newcomers."""
MAX_SECONDS, MAX_ANSWER = 60.0, 4 * 2**20
"""The longest time and the largest size in bytes of a whole answer; those of a task server are far below.

A megabyte of JSON may become 40 megabytes of objects.
"""
M = TypeVar("M")
MAX_REASON = 300
"""How many characters of a server's reason for a refusal are shown."""
MOVED = {301, 302, 303, 307, 308}
PLAIN = {"", "identity"}
"""Encodings that leave an answer unchanged; in any other one, a small answer may become a huge one."""


class ServerAway(Away):
    """The server does not answer now; it may later."""


class ServerRefuses(LangfordError):
    """The server refuses a request for good: the token, the name or the version of the messages is wrong."""


class RequestRefused(ServerAway):
    """The server, or a proxy before it, refuses one request as malformed or too large; it may accept others."""


class NotEnrolled(ServerAway, UnknownWorker):
    """The server's ledger does not know this worker: it is another ledger, or was restored from a backup."""


class CampaignReplaced(LangfordError):
    """The server now has a different campaign under this name."""


class Requests:
    """Requests to one server, with one token.

    Attributes:
        address: of the server, http(s)://HOST:PORT, or of a proxy with the path under which it has the server.
        name: of the campaign in the URL; empty: it names none.
        spoken: the version of the server's messages; None: unknown.
    """

    def __init__(
        self,
        url: str,
        token: str,
        certificate: Path | None = None,
        console: Console = SILENT,
        clock: Clock = SYSTEM,
        transport: BaseTransport | None = None,
    ) -> None:
        """Nothing is sent yet.  Raises BadInput.

        Args:
            url: http(s)://HOST:PORT or http(s)://HOST:PORT/CAMPAIGN; a path before the campaign is the server's.
            certificate: a file to trust in addition to those of the system.
            transport: carries the requests; None: the network does.
        """
        import httpx

        parts = server_parts(url)
        below, _, self.name = parts.path.strip("/").rpartition("/")
        self.address, self.clock = f"{parts.scheme}://{parts.netloc}{below and f'/{below}'}", clock
        host = parts.hostname or ""
        self._errors = httpx.HTTPError
        self._server = parts.scheme, host, parts.port or (443 if parts.scheme == "https" else 80)
        self._answered, self._calls = False, Calls(console, "the server", clock)
        self._certificate = certificate
        self._client = partial(
            httpx.Client,
            transport=transport,
            headers=httpx.Headers(
                {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity", HEADER: str(SPOKEN)}
            ),
            timeout=httpx.Timeout(TIMEOUT_SECONDS, connect=HANDSHAKE_SECONDS),
            limits=httpx.Limits(keepalive_expiry=KEPT_SECONDS),
            # HTTP_PROXY and HTTPS_PROXY are used, except to reach this machine, which no proxy could.
            trust_env=not is_this_machine(host),
        )
        try:
            self._proxy = proxy_of(parts.scheme, host)
            self._http = self._connected()
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            reason = "a SOCKS proxy needs another package" if isinstance(error, ImportError) else "no such proxy"
            given = ", ".join(name for name in os.environ if name.upper() in PROXIES)
            raise BadInput(
                f"cannot use the proxies of the environment, {given} ({reason}): write a proxy as http://HOST:PORT "
                "and addresses in NO_PROXY without brackets, or unset them"
            ) from error

    def close(self) -> None:
        self._http.close()

    def get(self, answer_type: type[M], address: str, path: str = "") -> M:
        return self._ask(answer_type, "GET", address, path, None)

    def post(self, answer_type: type[M], address: str, path: str, request: Any) -> M:
        """Raises ServerAway, also for an answer of another type, ServerRefuses or CampaignReplaced.

        Args:
            address: of the server or campaign, also used in messages.
            path: appended to it.
        """
        return self._ask(answer_type, "POST", address, path, encoded(request))

    def _ask(self, answer_type: type[M], method: str, address: str, path: str, body: bytes | None) -> M:
        try:
            response, content = self._calls.make(
                partial(_exchange, self._http, method, address, path, body), MAX_SECONDS
            )
        except GivenUp as error:
            raise ServerAway(f"no answer from {address}{self._through} ({error})") from error
        except Overdue as error:
            # The thread that still reads the answer ends when its connection is closed.
            self._http.close()
            self._http = self._connected()
            raise ServerAway(
                f"incomplete answer from {address}{self._through} after {duration(MAX_SECONDS)}"
            ) from error
        except self._errors as error:
            if self._answered:
                raise ServerAway(f"no answer from {address}{self._through} ({self._passing(error)})") from error
            reason = self._diagnosis(permanent, error, *self._server, self._proxy)
            if reason is not None:
                raise ServerRefuses(f"{address} cannot be reached: {reason}") from error
            raise ServerAway(f"no answer from {address}{self._through} ({error})") from error
        status, is_first = response.status_code, not self._answered
        if status == NO_PASSWORD and self._proxy is not None and not self._answered:
            raise ServerRefuses(f"{address} cannot be reached: {requires_password(self._proxy)}")
        self._answered = True
        is_answer = status == 200 and content.lstrip()[:1] in (b"{", b"[")
        version = response.headers.get(HEADER)
        if is_answer or version is not None:
            with understood(address):
                disagree = disagreement(SPOKEN, WireVersion.stated(version))
            if disagree is not None:
                raise ServerRefuses(f"{address}: {disagree}")
        if is_answer:
            with understood(address):
                return decoded(content, answer_type)
        # A task server answers JSON, also when it refuses; everything else comes from a proxy or another server.
        said = None if status == 200 else _error_in(content)
        reason = f"HTTP status {status}" if said is None else f"{said:.{MAX_REASON}}"
        if status in (401, 403):
            raise ServerRefuses(f"{address} refuses: {reason}")
        if said is None:
            pointed = _pointed_to(response)
            if pointed is not None:
                moved = f"{address} has moved to {pointed} ({reason}): use the server's address there"
                raise ServerRefuses(moved) if is_first else ServerAway(moved)
            kind = response.headers.get("content-type", "nothing").partition(";")[0]
            raise ServerAway(f"no task server answers at {address}{self._through}, but {reason} with {kind[:40]}")
        if status == 409:
            raise NotEnrolled(f"{address}: {reason}")
        if status == 410:
            raise CampaignReplaced(f"the server now has a different campaign under this name: {reason}")
        if status in (400, 413):
            raise RequestRefused(f"{address} refuses a request: {reason}")
        if status == 429:
            raise Postponed(f"the server allows no more now: {reason}", _wait_in(response))
        if status == 503 and "retry-after" in response.headers:
            raise Postponed(f"the server is busy: {reason}", _wait_in(response))
        raise ServerAway(f"the server is busy: {reason}")

    @property
    def _through(self) -> str:
        return "" if self._proxy is None else f" through {self._proxy}, the proxy of the environment"

    def _connected(self) -> Client:
        """A client that trusts what is in the file of the certificate now; raises BadInput."""
        # Without TLS the authorities of the system are not needed, and to load them takes 0.1 s.
        is_safe = self._server[0] == "https"
        context = _trusting(self._certificate) if is_safe else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return self._client(verify=context)

    def _passing(self, error: Exception) -> str:
        """Why a server does not answer that has answered before; of one that has a new certificate, what to do."""
        untrusted = self._diagnosis(distrust, error, *self._server[1:])
        if untrusted is None:
            return str(error)
        with suppress(BadInput):  # the file is being written
            before, self._http = self._http, self._connected()
            before.close()
        file = self._certificate or "the certificates that this system trusts"
        copied = f"copy it to {file}; it is read again before each request"
        remedy = copied if untrusted.is_unknown else untrusted.remedy
        return f"its certificate is not trusted here ({untrusted.reason}): {remedy}"

    def _diagnosis(self, look: Callable[..., M | None], *arguments: object) -> M | None:
        """None when the look takes too long."""
        try:
            return self._calls.make(partial(look, *arguments), MAX_SECONDS)
        except (GivenUp, Overdue):
            return None


def _exchange(http: Client, method: str, address: str, path: str, body: bytes | None) -> tuple[Response, bytes]:
    """Raises ServerAway for an answer that is encoded or too large."""
    content = bytearray()
    headers = {} if body is None else {"Content-Type": "application/json"}
    with http.stream(method, address + path, content=body, headers=headers) as response:
        encoding = response.headers.get("content-encoding", "")
        if encoding.strip().lower() not in PLAIN:
            raise ServerAway(
                f"no task server answers at {address}, but a server that compresses its answers "
                f"({encoding[:40]!r}): "
                "turn compression off in the proxy before the server"
            )
        for part in response.iter_raw():
            content += part
            if len(content) > MAX_ANSWER:
                raise ServerAway(f"no task server answers at {address}, but a server whose answer does not end")
    return response, bytes(content)


def _error_in(content: bytes) -> str | None:
    """None when no task server gives a reason."""
    try:
        return decoded(content, Failure).error
    except BadMessage:
        return None


def _wait_in(response: Response) -> float:
    """The seconds for which a refusal asks to wait, at most MAX_WAIT."""
    named = response.headers.get("retry-after", "")
    return min(MAX_WAIT, float(named)) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", named, re.ASCII) else MAX_WAIT


def _pointed_to(response: Response) -> str | None:
    """Where an answer says that its address is now; None: it does not."""
    place: str = response.headers.get("location", "")
    if response.status_code not in MOVED or not place.isprintable():
        return None
    return place.rpartition("@")[2][:MAX_REASON] or None


@contextmanager
def understood(address: str) -> Iterator[None]:
    """Raises ServerAway instead of BadMessage, for an answer that no task server gives."""
    try:
        yield
    except BadMessage as error:
        raise ServerAway(
            f"{address} gave an unexpected answer ({error}): use the server's version of langford"
        ) from error


def _trusting(certificate: Path | None) -> ssl.SSLContext:
    """In addition to those of the system; raises BadInput."""
    try:
        context = ssl.create_default_context()
    except OSError as error:  # of the files that the system's variables name
        given = [name for name in TLS_FILES if name in os.environ]
        named = [name for name in given if os.environ[name] == error.filename] or given
        raise BadInput(
            f"TLS cannot use a file ({error.strerror or error}): correct or unset {', '.join(named)}"
        ) from error
    try:
        if certificate is not None:
            # One that the server's authority has signed may be given, too: as in Python 3.13.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.load_verify_locations(certificate)
    except OSError as error:
        raise BadInput(
            f"{certificate} is not a certificate ({error.strerror or error}): give the server's, in PEM"
        ) from error
    return context
