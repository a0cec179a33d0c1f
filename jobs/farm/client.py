"""A campaign behind a task server: one method for each request of a worker."""

from __future__ import annotations

import ipaddress
import ssl
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from db import Credential, Delivery, Lease, Receipt
from db.leasing import NO_STEPS
from db.states import Ending, Outcome
from jobs.farm import wire
from jobs.farm.diagnosis import permanent
from jobs.farm.listening import BadCertificate
from jobs.farm.wire import BadMessage
from jobs.identity import Identity
from langford.errors import LangfordError

TIMEOUT_SECONDS = 10.0


class ServerAway(LangfordError):
    """The server does not answer now; it may later."""


class ServerRefuses(LangfordError):
    """The server answers that it will not do this, now or later: the token, or the name, is wrong."""


class RequestRefused(ServerAway):
    """The server, or something before it, cannot read one request; it may take others."""


class NotEnrolled(ServerAway):
    """The server's ledger does not know this worker: it is another one, or was restored from a backup."""


class CampaignReplaced(LangfordError):
    """The server has another campaign under this name than before."""


class NoHttpClient(LangfordError):
    """httpx, with which workers talk to a server, is missing."""


class BadAddress(LangfordError):
    """A text is not the address of a campaign on a server."""


class ClearText(LangfordError):
    """A token would travel over a network without encryption."""


def is_this_machine(host: str) -> bool:
    """Whether what is sent to a host never leaves this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class RemoteCampaign:
    """Requests to a server about one campaign.  Every method raises ServerAway, ServerRefuses or CampaignReplaced.

    Attributes:
        name: of the campaign.
        uuid: of the campaign; None before the first answer that tells it.
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
        parts = _split(url)
        self.name = parts.path.strip("/")
        self.uuid: str | None = None
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.name or "/" in self.name:
            raise BadAddress(f"{url!r} is not the address of a campaign: write http://HOST:PORT/CAMPAIGN")
        if parts.scheme == "http" and not insecure and not is_this_machine(parts.hostname):
            raise ClearText(
                f"the token would travel to {parts.hostname} without encryption: write https:// (and --certificate "
                "FILE for a certificate of your own), or give --insecure inside a network that you trust"
            )
        self._errors = httpx.HTTPError
        self._server = parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
        self._answered = False
        context = _trusting(certificate) if parts.scheme == "https" else True
        self._address = f"{parts.scheme}://{parts.netloc}/campaigns/{quote(self.name)}"
        self._http = httpx.Client(
            verify=context,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_SECONDS,
            # HTTP_PROXY and HTTPS_PROXY count, but not on the way to this machine: no proxy could reach it.
            trust_env=not is_this_machine(parts.hostname),
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def info(self) -> wire.CampaignInfo:
        """The campaign and how far it is."""
        with _understood(self._address):
            info = wire.info_of(self._call("GET", ""))
        self.uuid = self.uuid or info.uuid
        if info.uuid != self.uuid:
            raise CampaignReplaced(
                f"the server has another campaign than before: {self.name} is {info.uuid}, not {self.uuid}: start "
                "this worker again to work for that one"
            )
        return info

    def enrol(self, identity: Identity) -> float | None:
        """Register this worker; returns the pace of others like it, see Campaign.pace."""
        with _understood(self._address):
            return wire.pace_of(self._call("POST", "/workers", **wire.identity_document(identity)))

    def leave(self, worker_id: str, ending: Ending) -> None:
        """Note how the work of this worker ended; raises NotEnrolled."""
        self._call("POST", "/departures", worker=worker_id, ending=ending)

    def lease(
        self, worker_id: str, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> list[Lease]:
        """Lease up to ``count`` tasks of the campaign that was seen first for ``seconds``; raises NotEnrolled.

        Args:
            worker_id: the worker.
            count: how many at most.
            seconds: until the deadline.
            held: all attempts that the worker has; others in its name go back at once.
            copies: how many copies of tasks that others hold, when none is ready.
        """
        campaign = self.uuid or self.info().uuid
        asked = {"worker": worker_id, "count": count, "seconds": seconds, "held": list(held), "copies": copies}
        with _understood(self._address):
            answer = wire.exactly(self._call("POST", "/leases", campaign=campaign, **asked), "leases")
            return [wire.lease_of(document) for document in wire.several(answer["leases"])]

    def renew(
        self, credentials: Collection[Credential], seconds: float, steps: Mapping[int, int] = NO_STEPS
    ) -> set[int]:
        """Move deadlines to ``seconds`` from now; returns the attempts that still run.

        ``steps``: how far the evaluation of some attempts is, by attempt.
        """
        running: set[int] = set()
        for documents in _documents(credentials):
            made = [
                [document["attempt"], steps[document["attempt"]]]
                for document in documents
                if document["attempt"] in steps
            ]
            with _understood(self._address):
                answer = self._call("POST", "/renewals", attempts=documents, seconds=seconds, steps=made)
                attempts = wire.several(wire.exactly(answer, "running")["running"])
                running.update(wire.integer(attempt) for attempt in attempts)
        return running

    def release(self, credentials: Collection[Credential], outcome: Outcome, note: str) -> None:
        """Give tasks back unfinished."""
        for documents in _documents(credentials):
            self._call("POST", "/releases", attempts=documents, outcome=outcome, note=note[:1000])

    def fail(self, credential: Credential, reason: str) -> bool:
        """Note that a task failed; returns whether it was set aside."""
        return self._end(credential, "/failures", reason)

    def die(self, credential: Credential, reason: str) -> bool:
        """Note that the process died that evaluated a task; returns whether it was set aside."""
        return self._end(credential, "/deaths", reason)

    def _end(self, credential: Credential, path: str, reason: str) -> bool:
        document = wire.credential_document(credential)
        with _understood(self._address):
            answer = wire.exactly(self._call("POST", path, **document, reason=reason[:1000]), "set_aside")
            return bool(answer["set_aside"])

    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Deliver results; returns what became of each, see Campaign.deliver.  Raises RequestRefused."""
        documents = [wire.delivery_document(delivery) for delivery in deliveries]
        with _understood(self._address):
            answer = wire.exactly(self._call("POST", "/results", deliveries=documents, now=time.time()), "receipts")
            receipts = [wire.receipt_of(document) for document in wire.several(answer["receipts"])]
            if len(receipts) != len(deliveries):
                raise wire.BadMessage(f"expected {len(deliveries)} receipts")
            return receipts

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
        except (ValueError, RecursionError):
            document = None
        status = response.status_code
        # A task server says JSON, also when it refuses; the rest is what stands before it, or in its place.
        ours = isinstance(document, dict) and (status == 200 or "error" in document)
        reason = document["error"] if ours and status != 200 else f"HTTP status {status}"
        if status in (401, 403):
            raise ServerRefuses(f"{self._address} refuses: {reason}")
        if not ours:
            kind = response.headers.get("content-type", "nothing").partition(";")[0]
            raise ServerAway(f"no task server answers at {self._address}, but {reason} with {kind[:40]}")
        if status == 200:
            return document
        if status == 409:
            raise NotEnrolled(f"{self._address}: {reason}")
        if status == 410:
            raise CampaignReplaced(f"the server has another campaign than before: {reason}")
        if status in (400, 413):
            raise RequestRefused(f"{self._address} refuses a request: {reason}")
        raise ServerAway(f"the server is busy: {reason}")


@contextmanager
def _understood(address: str) -> Iterator[None]:
    """Raises ServerAway for an answer that is not what a task server says."""
    try:
        yield
    except BadMessage as error:
        raise ServerAway(f"{address} answers in another way than expected ({error})") from error


def _documents(credentials: Collection[Credential]) -> Iterator[list[dict[str, Any]]]:
    """Credentials as JSON, in parts of what a request may hold; one empty part when there is none."""
    documents = [wire.credential_document(credential) for credential in credentials]
    for start in range(0, max(1, len(documents)), wire.MOST_AT_ONCE):
        yield documents[start : start + wire.MOST_AT_ONCE]


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
