"""A campaign behind a task server: one method for each request of a worker."""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from db import Delivery, Lease
from db.states import EventKind, Outcome
from jobs.farm import wire
from jobs.farm.diagnosis import permanent
from jobs.farm.listening import BadCertificate
from jobs.identity import Identity
from langford.errors import LangfordError

TIMEOUT_SECONDS = 10.0
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0


class ServerAway(LangfordError):
    """The server does not answer now; it may later."""


class ServerRefuses(LangfordError):
    """The server answers that it will not do this, now or later."""


class NoHttpClient(LangfordError):
    """httpx, with which workers talk to a server, is missing."""


class BadAddress(LangfordError):
    """A text is not the address of a campaign on a server."""


class Backoff:
    """When to ask again: each failure doubles the wait; a random part keeps workers from asking all at once."""

    def __init__(self, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT) -> None:
        self._first, self._longest = first, longest
        self._failures = 0
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to ask."""
        return time.monotonic() >= self._next

    def failed(self) -> None:
        """Note that the server was away: wait longer."""
        seconds = min(self._longest, self._first * 2**self._failures)
        self._failures += 1
        self.pause(seconds)

    def succeeded(self) -> None:
        """Note that the server answered: ask at once, and wait the shortest time after the next failure."""
        self._failures = 0
        self._next = 0.0

    def pause(self, seconds: float) -> None:
        """Ask again after a random part of these seconds, from half to all."""
        self._next = time.monotonic() + seconds * random.uniform(0.5, 1.0)


class RemoteCampaign:
    """Requests to a server about one campaign.  Every method raises ServerAway or ServerRefuses.

    Attributes:
        name: of the campaign.
    """

    def __init__(self, url: str, token: str, certificate: Path | None = None) -> None:
        """Prepare the requests; nothing is sent yet.  Raises NoHttpClient or BadAddress.

        Args:
            url: http(s)://HOST:PORT/CAMPAIGN.
            token: of the campaign.
            certificate: a file to trust in addition to those of the system.
        """
        try:
            import httpx
        except ImportError as error:
            raise NoHttpClient("workers of a server need httpx: pip install 'langford[server]'") from error
        parts = _split(url)
        self.name = parts.path.strip("/")
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.name or "/" in self.name:
            raise BadAddress(f"{url!r} is not the address of a campaign: write http://HOST:PORT/CAMPAIGN")
        self._errors = httpx.HTTPError
        self._server = parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._answered = False
        context = _trusting(certificate) if parts.scheme == "https" else True
        self._address = f"{parts.scheme}://{parts.netloc}/campaigns/{quote(self.name)}"
        self._http = httpx.Client(
            verify=context,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_SECONDS,
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def info(self) -> wire.CampaignInfo:
        """The campaign and how far it is."""
        return wire.info_of(self._call("GET", ""))

    def enrol(self, identity: Identity) -> None:
        """Register this worker."""
        self._call("POST", "/workers", **wire.identity_document(identity))

    def lease(self, worker_id: str, count: int, seconds: float) -> list[Lease]:
        """Lease up to ``count`` tasks for ``seconds``."""
        answer = self._call("POST", "/leases", worker=worker_id, count=count, seconds=seconds)
        return [wire.lease_of(document) for document in answer["leases"]]

    def renew(self, attempts: Iterable[int], seconds: float) -> set[int]:
        """Move deadlines to ``seconds`` from now; returns the attempts that still run."""
        return set(self._call("POST", "/renewals", attempts=list(attempts), seconds=seconds)["running"])

    def release(self, attempts: Iterable[int], outcome: Outcome, note: str) -> None:
        """Give tasks back unfinished."""
        self._call("POST", "/releases", attempts=list(attempts), outcome=outcome, note=note)

    def fail(self, attempt: int, reason: str) -> bool:
        """Note that a task failed; returns whether it was set aside."""
        return bool(self._call("POST", "/failures", attempt=attempt, reason=reason[:1000])["set_aside"])

    def deliver(self, deliveries: Sequence[Delivery]) -> list[EventKind | None]:
        """Deliver results; returns the event of each, see Campaign.deliver."""
        documents = [wire.delivery_document(delivery) for delivery in deliveries]
        events = self._call("POST", "/results", deliveries=documents)["events"]
        return [None if event is None else EventKind(event) for event in events]

    def _call(self, method: str, path: str, **fields: Any) -> Any:
        """Send one request; returns the document of the answer."""
        try:
            response = self._http.request(method, self._address + path, json=fields if method == "POST" else None)
        except self._errors as error:
            # Once the server has answered, its address and its certificate are right: it will be back.
            reason = None if self._answered else permanent(error, *self._server)
            if reason is not None:
                raise ServerRefuses(f"{self._address} cannot be reached: {reason}") from error
            raise ServerAway(f"no answer from {self._address} ({error})") from error
        self._answered = True
        try:
            document = response.json()
        except ValueError:
            document = {}
        if not isinstance(document, dict):
            document = {}
        if response.status_code == 429 or response.status_code >= 500:
            raise ServerAway(f"the server is busy: {document.get('error', response.status_code)}")
        if response.status_code != 200:
            raise ServerRefuses(f"{self._address} refuses: {document.get('error', response.status_code)}")
        return document


def _split(url: str) -> SplitResult:
    """The parts of the address of a campaign; raises BadAddress where it has a port that cannot be."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 -- raises ValueError
        url.encode("ascii")
    except ValueError as error:
        raise BadAddress(f"{url!r} is no address ({error}): write http://HOST:PORT/CAMPAIGN") from error
    return parts


def _trusting(certificate: Path | None) -> ssl.SSLContext:
    """A context that trusts a certificate in addition to those of the system; raises BadCertificate."""
    try:
        context = ssl.create_default_context()
        if certificate is not None:
            context.load_verify_locations(certificate)
    except OSError as error:
        raise BadCertificate(
            f"{certificate} is no certificate ({error.strerror or error}): give the server's, in PEM"
        ) from error
    return context
