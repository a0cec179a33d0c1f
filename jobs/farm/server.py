"""The task server: leases and results of a ledger's campaigns over HTTP.

    GET  /metrics                     reader  → numbers about the same, for Prometheus
    GET  /campaigns                   reader  → the campaigns that the token opens
    GET  /campaigns/NAME              reader  → the campaign and how far it is
    GET  /campaigns/NAME/status       reader  → how far, how fast, until when, who works, what went wrong
    GET  /campaigns/NAME/stream       reader  → the same again and again, as server-sent events
    POST /campaigns/NAME/workers      worker  {worker, host, process, device_kind, kernels, …} → {pace}
    POST /campaigns/NAME/departures   worker  {worker, ending}
    POST /campaigns/NAME/leases       worker  {campaign, worker, count, seconds, held, copies} → {leases}
    POST /campaigns/NAME/renewals     worker  {attempts, seconds, steps} → {running}
    POST /campaigns/NAME/releases     worker  {attempts, outcome, note}
    POST /campaigns/NAME/failures     worker  {attempt, nonce, reason} → {set_aside}
    POST /campaigns/NAME/deaths       worker  {attempt, nonce, reason} → {set_aside}
    POST /campaigns/NAME/results      worker  {deliveries, now} → {receipts}
    POST /campaigns/NAME/retries      admin   {} → {reopened}

Requests carry "Authorization: Bearer TOKEN".  A token alone changes no attempt: each one is named together with
the nonce of its lease, and whoever asks for leases names a worker, whose random UUID no answer tells to others.
The token with which a worker enrols also tells whose vote its results are; it shows the same one for its leases.
409 says that the ledger does not know the worker, 410 that another campaign has the name now.  A request may be
repeated: a result names its attempt, and an attempt that has ended stays ended.  The other addresses are those
of the dashboard, see :mod:`jobs.dashboard.pages`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from db import Campaign, Ledger
from db.errors import LedgerBusy, LedgerError, NoSuchCampaign, UnknownWorker, WorkerDistrusted, WrongToken
from db.states import Role
from jobs.dashboard import pages
from jobs.dashboard.documents import Documents
from jobs.farm import operations
from jobs.farm.access import Access, RateLimit, TooManyRequests
from jobs.farm.connections import Connections, LimitedLog
from jobs.farm.metrics import CONTENT_TYPE, Metrics
from jobs.farm.overviews import Overviews
from jobs.farm.streams import NoMoreStreams, Streams
from jobs.farm.traffic import Counted, Traffic, paths_of
from jobs.farm.wire import BadMessage

LARGEST_BODY = 4 * 2**20

NO_CAMPAIGN = "this token opens no campaign here: check it"
PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def application(
    ledger: Ledger,
    names: Sequence[str],
    limit: RateLimit | None = None,
    connections: Connections | None = None,
    log: LimitedLog | None = None,
    proxies: Collection[str] = (),
    streams: Streams | None = None,
    traffic: Traffic | None = None,
    overviews: Overviews | None = None,
) -> Starlette:
    """The server of these campaigns of a ledger; raises NoSuchCampaign.

    Args:
        ledger: where the campaigns are.
        names: of the campaigns, at least one.
        limit: on the requests of an address; strangers and workers have one each.
        connections: is told which of them show a token.
        log: for what operators shall know, and clients not.
        proxies: addresses of proxies, whose X-Forwarded-For is believed.
        streams: those of its campaigns, to be closed before the server ends.
        traffic: counts what is answered.
        overviews: of its campaigns.
    """
    campaigns = {name: ledger.campaign(name) for name in names}
    for campaign in campaigns.values():
        campaign.plan  # noqa: B018 -- made now, so that the first worker need not wait for it
    log = log or LimitedLog()
    access = Access(campaigns, limit or RateLimit(), connections or Connections(), log, proxies)
    overviews, streams, documents = overviews or Overviews(campaigns), streams or Streams(log), Documents()
    traffic = traffic or Traffic()
    metrics = Metrics(overviews, traffic)

    def guarded(handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            address = access.address(request)
            try:
                access.admit(request)
                return await handle(request)
            except Refused as refused:
                return refused.answer
            except TooManyRequests as error:
                return _error(429, str(error), {"Retry-After": f"{error.seconds:.2f}"})
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
            except (operations.AnotherCampaign, NoSuchCampaign) as error:
                return _error(410, str(error))
            except NoMoreStreams as error:
                return _error(503, str(error), {"Retry-After": "10"})
            except LedgerError as error:
                return _unavailable(log, address, error)
            except Exception as error:
                number = uuid.uuid4().hex[:12]
                log.say(address, f"error {number}", error)
                return _error(500, f"the server has an error: its log explains it under {number}")

        return respond

    async def authorized(request: Request, role: Role) -> tuple[Campaign, list[str]]:
        """The campaign of a request, and the tokens shown with it; raises Refused."""
        name, tokens = request.path_params["name"], _tokens(access, request)
        bearer = await access.role(request, name, tokens)
        if bearer is None:
            raise Refused(_error(403, "no campaign here has this name and this token: check both"))
        if not bearer.includes(role):
            raise Refused(_error(403, f"this needs a token of role {role}, yours is {bearer}: ask for another one"))
        return campaigns[name], tokens

    def answer(role: Role, operation: operations.Operation) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            campaign, tokens = await authorized(request, role)
            document = await _document(request)
            done = await run_in_threadpool(operation, ledger, campaign, tokens[0], document)
            return JSONResponse(done, headers=PRIVATE)

        return guarded(handle)

    async def listed(request: Request) -> Response:
        names = await access.opened(request, _tokens(access, request))
        if not names:
            raise Refused(_error(403, NO_CAMPAIGN))
        chosen = [campaigns[name] for name in names]
        return JSONResponse(await run_in_threadpool(overviews.listed, chosen), headers=PRIVATE)

    async def measured(request: Request) -> Response:
        names = await access.opened(request, _tokens(access, request))
        if not names:
            raise Refused(_error(403, NO_CAMPAIGN))
        text = await run_in_threadpool(metrics.text, names)
        return Response(text, headers=PRIVATE, media_type=CONTENT_TYPE)

    async def stream(request: Request) -> Response:
        campaign, tokens = await authorized(request, Role.READER)

        def compute() -> Any:
            return overviews.status(ledger, campaign, "", None)

        async def allowed() -> bool:
            return await access.role(request, campaign.name, tokens) is not None

        return await streams.answer(campaign.name, compute, allowed, documents.version)

    def route(path: str, method: str, role: Role, operation: operations.Operation) -> Route:
        return Route("/campaigns/{name}" + path, answer(role, operation), methods=[method])

    routes = [
        Route("/metrics", guarded(measured), methods=["GET"]),
        Route("/campaigns", guarded(listed), methods=["GET"]),
        Route("/campaigns/{name}/stream", guarded(stream), methods=["GET"]),
        route("", "GET", Role.READER, operations.info),
        route("/status", "GET", Role.READER, overviews.status),
        route("/workers", "POST", Role.WORKER, operations.enrol),
        route("/departures", "POST", Role.WORKER, operations.leave),
        route("/leases", "POST", Role.WORKER, operations.lease),
        route("/renewals", "POST", Role.WORKER, operations.renew),
        route("/releases", "POST", Role.WORKER, operations.release),
        route("/failures", "POST", Role.WORKER, operations.fail),
        route("/deaths", "POST", Role.WORKER, operations.die),
        route("/results", "POST", Role.WORKER, operations.deliver),
        route("/retries", "POST", Role.ADMIN, operations.retry),
        *pages.routes(access, documents),
    ]
    counted = Middleware(Counted, traffic=traffic, log=log, address_of=access.address, paths=paths_of(routes))
    return Starlette(routes=routes, middleware=[counted])


class Refused(Exception):
    """A request that its sender has no right to.

    Attributes:
        answer: says why.
    """

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


class TooLarge(Exception):
    """The body of a request is too large."""


def _tokens(access: Access, request: Request) -> list[str]:
    """The tokens that a request shows, at least one; raises Refused."""
    tokens = access.tokens(request)
    if not tokens:
        raise Refused(_error(401, "send a token: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"}))
    return tokens


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


def _unavailable(log: LimitedLog, address: str, error: LedgerError) -> Response:
    """An answer that says nothing about the ledger; the log says the rest."""
    number = uuid.uuid4().hex[:12]
    log.say(address, f"{number}: {error}")
    state = "is busy" if isinstance(error, LedgerBusy) else "does not answer"
    return _error(503, f"the ledger {state}: the server's log explains it under {number}", {"Retry-After": "2"})
