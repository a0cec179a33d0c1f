"""A campaign behind a task server, as its workers see it."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
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
    """The server answers, and will not do this however often it is asked."""


class Backoff:
    """When to ask again: after waits that double, each with jitter so that workers do not come together."""

    def __init__(self, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT) -> None:
        self._first, self._longest = first, longest
        self._failures = 0
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to ask."""
        return time.monotonic() >= self._next

    def failed(self) -> None:
        """The server was away: wait longer."""
        wait = min(self._longest, self._first * 2**self._failures)
        self._failures += 1
        self.pause(wait)

    def succeeded(self) -> None:
        """The server answered: the next failure starts anew."""
        self._failures = 0
        self._next = 0.0

    def pause(self, seconds: float) -> None:
        """Ask again after half to all of these seconds."""
        self._next = time.monotonic() + seconds * random.uniform(0.5, 1.0)


class RemoteCampaign:
    """Calls to a server, one method each; raises ServerAway or ServerRefuses."""

    def __init__(self, url: str, token: str, certificate: Path | None = None) -> None:
        """``url``: http(s)://HOST:PORT/CAMPAIGN; ``certificate``: a file to trust besides the system's."""
        try:
            import httpx
        except ImportError as error:
            raise ServerRefuses("workers of a server need httpx: pip install 'langford[server]'") from error
        parts = urlsplit(url)
        self.name = parts.path.strip("/")
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.name or "/" in self.name:
            raise ServerRefuses(f"{url!r} is no campaign's address: write http://HOST:PORT/CAMPAIGN")
        self._errors = httpx.HTTPError
        import ssl

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
        """Make this worker known."""
        self._call("POST", "/workers", **asdict(identity))

    def lease(self, worker: str, count: int, seconds: float) -> list[Lease]:
        """Up to ``count`` tasks."""
        found = self._call("POST", "/leases", worker=worker, count=count, seconds=seconds)
        return [wire.lease_of(each) for each in found["leases"]]

    def renew(self, attempts: Iterable[int], seconds: float) -> set[int]:
        """Move deadlines; the attempts that still run."""
        return set(self._call("POST", "/renewals", attempts=list(attempts), seconds=seconds)["running"])

    def release(self, attempts: Iterable[int], outcome: Outcome, note: str) -> None:
        """Give tasks back."""
        self._call("POST", "/releases", attempts=list(attempts), outcome=outcome, note=note)

    def fail(self, attempt: int, reason: str) -> bool:
        """A task failed; whether it was set aside."""
        return bool(self._call("POST", "/failures", attempt=attempt, reason=reason[:1000])["set_aside"])

    def deliver(self, deliveries: Sequence[Delivery]) -> list[EventKind | None]:
        """Hand in results; the event of each (Campaign.deliver)."""
        documents = [wire.delivery_document(each) for each in deliveries]
        events = self._call("POST", "/results", deliveries=documents)["events"]
        return [None if event is None else EventKind(event) for event in events]

    def _call(self, method: str, path: str, **fields: Any) -> Any:
        try:
            answer = self._http.request(method, self._address + path, json=fields if method == "POST" else None)
        except self._errors as error:
            raise ServerAway(f"no answer from {self._address} ({error})") from error
        try:
            document = answer.json()
        except ValueError:
            document = {}
        if not isinstance(document, dict):
            document = {}
        if answer.status_code == 429 or answer.status_code >= 500:
            raise ServerAway(f"the server is busy: {document.get('error', answer.status_code)}")
        if answer.status_code != 200:
            raise ServerRefuses(f"{self._address} refuses: {document.get('error', answer.status_code)}")
        return document
