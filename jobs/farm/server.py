"""The task server: leases and results of a ledger's campaigns over HTTP.

    GET  /campaigns                   reader  → the campaigns that the token opens
    GET  /campaigns/NAME              reader  → the campaign and how far it is
    GET  /campaigns/NAME/status       reader  → how far, how fast, until when, who works, what went wrong
    POST /campaigns/NAME/workers      worker  {worker, host, process, device_kind, kernels, …} → {pace}
    POST /campaigns/NAME/departures   worker  {worker, ending}
    POST /campaigns/NAME/leases       worker  {campaign, worker, count, seconds, held, copies} → {leases}
    POST /campaigns/NAME/renewals     worker  {attempts, seconds, steps} → {running}
    POST /campaigns/NAME/releases     worker  {attempts, outcome, note}
    POST /campaigns/NAME/failures     worker  {attempt, nonce, reason} → {set_aside}
    POST /campaigns/NAME/deaths       worker  {attempt, nonce, reason} → {set_aside}
    POST /campaigns/NAME/results      worker  {deliveries} → {receipts}
    POST /campaigns/NAME/retries      admin   {} → {reopened}

Requests carry "Authorization: Bearer TOKEN".  A token alone changes no attempt: each one is named together with
the nonce of its lease, and whoever asks for leases names a worker, whose random UUID no answer tells to others.
The token with which a worker enrols also tells whose vote its results are; it shows the same one for its leases.
409 says that the ledger does not know the worker, 410 that another campaign has the name now.  A request may be
repeated: a result names its attempt, and an attempt that has ended stays ended.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from db import Campaign, Credential, Ledger
from db.errors import LedgerBusy, LedgerError, UnknownWorker, WorkerDistrusted, WrongToken
from db.states import Outcome, Role
from jobs.farm import wire
from jobs.farm.connections import Connections, LimitedLog, Proxies
from jobs.farm.overviews import Overviews
from jobs.farm.wire import BadMessage
from langford.provenance import kernel_hash

LARGEST_BODY = 4 * 2**20
REQUESTS_PER_SECOND, BURST = 200.0, 400.0
MOST_ADDRESSES = 10_000
LONGEST_LEASE = 24 * 3600

Operation = Callable[[Ledger, Campaign, str, Any], Any]


class RateLimit:
    """A limit on the requests per second from one address; short bursts may exceed it."""

    def __init__(self, per_second: float = REQUESTS_PER_SECOND, burst: float = BURST) -> None:
        self._per_second, self._burst = per_second, burst
        # By address: requests that it may send now, and the time of its last request.
        self._allowances: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait(self, address: str) -> float:
        """Seconds until the address may send a request; 0 when it may send this one."""
        now = time.monotonic()
        with self._lock:
            if len(self._allowances) > MOST_ADDRESSES:
                # An address that was silent since then has its whole burst again, like a new one.
                full_since = now - self._burst / self._per_second
                self._allowances = {
                    known: allowance for known, allowance in self._allowances.items() if allowance[1] > full_since
                }
            allowed, last = self._allowances.get(address, (self._burst, now))
            allowed = min(self._burst, allowed + (now - last) * self._per_second)
            accepted = allowed >= 1
            self._allowances[address] = (allowed - accepted, now)
            return 0.0 if accepted else (1 - allowed) / self._per_second


def application(
    ledger: Ledger,
    names: Sequence[str],
    limit: RateLimit | None = None,
    connections: Connections | None = None,
    log: LimitedLog | None = None,
    proxies: Collection[str] = (),
) -> Starlette:
    """The server of these campaigns of a ledger; raises NoSuchCampaign.

    Args:
        ledger: where the campaigns are.
        names: of the campaigns, at least one.
        limit: on the requests of an address; strangers and workers have one each.
        connections: is told which of them show a token.
        log: for what operators shall know, and clients not.
        proxies: addresses of proxies, whose X-Forwarded-For is believed.
    """
    campaigns = {name: ledger.campaign(name) for name in names}
    for campaign in campaigns.values():
        campaign.plan  # noqa: B018 -- made now, so that the first worker need not wait for it
    limit, connections, log = limit or RateLimit(), connections or Connections(), log or LimitedLog()
    trusted = Proxies(frozenset(proxies))
    any_campaign, overviews = campaigns[names[0]], Overviews(campaigns)

    def answer(role: Role, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            client = (request.client.host, request.client.port) if request.client else ("", 0)
            address = trusted.client(client[0], request.headers.get("x-forwarded-for", ""))
            # Strangers at the address of a worker, or behind the same proxy, take nothing from its allowance.
            wait = limit.wait(f"{address} known" if connections.knows(client) else address)
            if wait:
                return _too_many(wait)
            name = request.path_params.get("name")
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            if scheme.lower() != "bearer" or not token:
                return _error(401, "send a token: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"})
            # The answer is the same for a wrong token and a wrong name: it does not tell which campaigns exist.
            # So does the time that it takes.
            try:
                asked = campaigns.values() if name is None else [campaigns.get(name, any_campaign)]
                roles = await run_in_threadpool(_roles, asked, token)
            except LedgerError as error:
                return _unavailable(log, address, error)
            if name not in (None, *campaigns) or not roles:
                log.say(address, "a request with a wrong name or token")
                return _error(403, "no campaign here has this name and this token: check both")
            if not connections.knows(client):
                connections.vouch(client)
                wait = limit.wait(f"{address} known")
                if wait:
                    return _too_many(wait)
            campaign, bearer = next(iter(roles.items()))
            if not bearer.includes(role):
                return _error(403, f"this needs a token of role {role}, yours is {bearer}: ask for another one")
            try:
                document = await _document(request)
                return JSONResponse(await run_in_threadpool(operation, ledger, campaign, token, document))
            except ClientDisconnect:
                return Response(status_code=400)  # nobody hears it
            except TooLarge:
                return _error(413, f"a request may have {LARGEST_BODY} bytes: send less at a time")
            except BadMessage as error:
                return _error(400, str(error))
            except (WorkerDistrusted, WrongToken) as error:
                return _error(403, str(error))
            except UnknownWorker as error:
                return _error(409, str(error))
            except AnotherCampaign as error:
                return _error(410, str(error))
            except LedgerError as error:
                return _unavailable(log, address, error)
            except Exception as error:
                number = uuid.uuid4().hex[:12]
                log.say(address, f"error {number}", error)
                return _error(500, f"the server has an error: its log explains it under {number}")

        return respond

    def listed(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> Any:
        return overviews.listed(list(_roles(campaigns.values(), token)))

    def route(path: str, method: str, role: Role, operation: Operation) -> Route:
        return Route("/campaigns/{name}" + path, answer(role, operation), methods=[method])

    return Starlette(
        routes=[
            Route("/campaigns", answer(Role.READER, listed), methods=["GET"]),
            route("", "GET", Role.READER, _info),
            route("/status", "GET", Role.READER, overviews.status),
            route("/workers", "POST", Role.WORKER, _enrol),
            route("/departures", "POST", Role.WORKER, _leave),
            route("/leases", "POST", Role.WORKER, _lease),
            route("/renewals", "POST", Role.WORKER, _renew),
            route("/releases", "POST", Role.WORKER, _release),
            route("/failures", "POST", Role.WORKER, _fail),
            route("/deaths", "POST", Role.WORKER, _die),
            route("/results", "POST", Role.WORKER, _deliver),
            route("/retries", "POST", Role.ADMIN, _retry),
        ]
    )


def _roles(campaigns: Iterable[Campaign], token: str) -> dict[Campaign, Role]:
    """The campaigns that a token opens, with its role there."""
    roles = {campaign: campaign.role_of(token) for campaign in campaigns}
    return {campaign: role for campaign, role in roles.items() if role is not None}


class TooLarge(Exception):
    """The body of a request is too large."""


class AnotherCampaign(Exception):
    """The worker holds plans and results of another campaign, which had this name before."""


async def _document(request: Request) -> Any:
    if request.method == "GET":
        return None
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            raise TooLarge
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"the body is not JSON ({error})") from error


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, status, headers)


def _too_many(wait: float) -> Response:
    return _error(429, "too many requests; wait and repeat", {"Retry-After": f"{wait:.2f}"})


def _unavailable(log: LimitedLog, address: str, error: LedgerError) -> Response:
    """An answer that says nothing about the ledger; the log says the rest."""
    number = uuid.uuid4().hex[:12]
    log.say(address, f"{number}: {error}")
    state = "is busy" if isinstance(error, LedgerBusy) else "does not answer"
    return _error(503, f"the ledger {state}: the server's log explains it under {number}", {"Retry-After": "2"})


def _info(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    return wire.info_document(
        wire.CampaignInfo(
            ledger.uuid,
            campaign.uuid,
            campaign.name,
            campaign.key,
            campaign.tasks,
            campaign.work,
            campaign.standing(),
            kernel_hash(),
        )
    )


def _enrol(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    identity = wire.identity_of(document)
    ledger.enrol(*identity.enrolment, token, identity.equipment)
    return {"pace": campaign.pace(identity.device_kind)}


def _leave(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    ledger.leave(*wire.departure_of(document), token)
    return {}


def _lease(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    fields = wire.exactly(document, "campaign", "worker", "count", "seconds", "held", "copies")
    if wire.identifier(fields["campaign"]) != campaign.uuid:
        # Nothing is granted: this worker would leave at once, and the tasks would wait for the end of its leases.
        raise AnotherCampaign(f"the campaign {campaign.name} is {campaign.uuid} here: start the worker again")
    worker_id, seconds = wire.text(fields["worker"]), _seconds(fields["seconds"])
    count = wire.integer(fields["count"], 1, wire.MOST_AT_ONCE)
    held = [wire.integer(attempt) for attempt in wire.several(fields["held"], wire.MOST_HELD)]
    leases = campaign.lease(worker_id, count, seconds, held, token, wire.integer(fields["copies"]))
    return {"leases": [wire.lease_document(lease) for lease in leases]}


def _renew(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    fields = wire.exactly(document, "attempts", "seconds", "steps")
    credentials, steps = _credentials(fields), wire.steps_of(fields["steps"])
    return {"running": sorted(campaign.renew(credentials, _seconds(fields["seconds"]), steps))}


def _release(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    fields = wire.exactly(document, "attempts", "outcome", "note")
    if fields["outcome"] not in (Outcome.RELEASED, Outcome.PREEMPTED):
        raise BadMessage("an attempt is given back as released or preempted")
    campaign.release(_credentials(fields), Outcome(fields["outcome"]), wire.text(fields["note"]))
    return {}


def _fail(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    return {"set_aside": campaign.fail(*_end_of(document))}


def _die(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    return {"set_aside": campaign.die(*_end_of(document))}


def _end_of(document: Any) -> tuple[Credential, str]:
    """Which attempt has ended, and why."""
    fields = wire.exactly(document, "attempt", "nonce", "reason")
    credential = wire.credential_of({name: fields[name] for name in ("attempt", "nonce")})
    return credential, wire.text(fields["reason"])


def _deliver(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    fields = wire.exactly(document, "deliveries")
    deliveries = [wire.delivery_of(delivery) for delivery in wire.several(fields["deliveries"])]
    if any(delivery.evaluation.result.index >= campaign.tasks for delivery in deliveries):
        raise BadMessage(f"the campaign has only {campaign.tasks} tasks")
    return {"receipts": [wire.receipt_document(receipt) for receipt in campaign.deliver(deliveries)]}


def _retry(ledger: Ledger, campaign: Campaign, token: str, document: Any) -> dict[str, Any]:
    return {"reopened": campaign.reopen()}


def _seconds(value: Any) -> float:
    return min(wire.real(value), LONGEST_LEASE)


def _credentials(fields: dict[str, Any]) -> list[Credential]:
    return [wire.credential_of(document) for document in wire.several(fields["attempts"])]
