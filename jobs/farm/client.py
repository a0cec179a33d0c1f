"""A campaign behind a task server: one method for each request of a worker."""

from __future__ import annotations

import ipaddress
import random
import ssl
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from db import Delivery, Lease
from db.states import EventKind, Outcome
from jobs.farm import wire
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


class ClearText(LangfordError):
    """A token would travel over a network without encryption."""


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


def is_this_machine(host: str) -> bool:
    """Whether what is sent to a host never leaves this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class RemoteCampaign:
    """Requests to a server about one campaign.  Every method raises ServerAway or ServerRefuses.

    Attributes:
        name: of the campaign.
    """

    def __init__(self, url: str, token: str, certificate: Path | None = None, insecure: bool = False) -> None:
        """Prepare the requests; nothing is sent yet.  Raises NoHttpClient, BadAddress or ClearText.

        Args:
            url: http(s)://HOST:PORT/CAMPAIGN.
            token: of the campaign.
            certificate: a file to trust in addition to those of the system.
            insecure: whether the token may travel to another machine without encryption.
        """
        try:
            import httpx
        except ImportError as error:
            raise NoHttpClient("workers of a server need httpx: pip install 'langford[server]'") from error
        parts = urlsplit(url)
        self.name = parts.path.strip("/")
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.name or "/" in self.name:
            raise BadAddress(f"{url!r} is not the address of a campaign: write http://HOST:PORT/CAMPAIGN")
        if parts.scheme == "http" and not insecure and not is_this_machine(parts.hostname):
            raise ClearText(
                f"the token would travel to {parts.hostname} without encryption: write https:// (and --certificate "
                "FILE for a certificate of your own), or give --insecure inside a network that you trust"
            )
        self._errors = httpx.HTTPError
        context = ssl.create_default_context(cafile=certificate) if parts.scheme == "https" else True
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
            raise ServerAway(f"no answer from {self._address} ({error})") from error
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
