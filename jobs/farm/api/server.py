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
of the dashboard, see :mod:`jobs.farm.dashboard.pages`.
"""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from db import Campaign, Ledger
from db.errors import (
    LedgerBusy,
    LedgerError,
    NoSuchCampaign,
    TooManyWorkers,
    UnknownWorker,
    WorkerDistrusted,
    WrongToken,
)
from db.records import Right
from db.states import Role
from db.work.tokens import digest
from jobs.farm.api import operations
from jobs.farm.api.admission import Admitted
from jobs.farm.api.metrics import CONTENT_TYPE, Metrics
from jobs.farm.api.overviews import Overviews
from jobs.farm.api.streams import Listener, NoMoreStreams, Streams
from jobs.farm.api.traffic import Counted, Traffic, paths_of
from jobs.farm.api.wire import BadMessage
from jobs.farm.dashboard import pages
from jobs.farm.dashboard.documents import Documents
from jobs.farm.guard import bodies
from jobs.farm.guard.access import Access, RateLimit, TooManyRequests
from jobs.farm.guard.bodies import Bounds, TooLarge
from jobs.farm.guard.connections import Connections, LimitedLog

LARGEST_BODY = bodies.RESULTS.size
FULL_SECONDS = 60
"""When a worker may ask again whose token has as many as it may have."""

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
        limit: on the requests of an address; strangers, readers and workers have one each.
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
    access = Access(ledger, campaigns, limit or RateLimit(), connections or Connections(), log, proxies)
    overviews, streams, documents = overviews or Overviews(campaigns), streams or Streams(log), Documents()
    traffic = traffic or Traffic()
    metrics = Metrics(overviews, traffic)

    def guarded(handle: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            address = access.address(request)
            try:
                return await handle(request)
            except Refused as refused:
                return refused.answer
            except TooManyRequests as error:
                return _error(429, str(error), {"Retry-After": f"{error.seconds:.2f}"})
            except ClientDisconnect:
                return Response(status_code=400)  # nobody hears it
            except TooManyWorkers as error:
                return _error(429, str(error), {"Retry-After": str(FULL_SECONDS)})
            except TooLarge as error:
                return _error(413, str(error))
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

    async def authorized(request: Request, role: Role) -> tuple[Campaign, Right]:
        """The campaign of a request, and what its tokens give there; raises Refused."""
        name, tokens = request.path_params["name"], _tokens(access, request)
        right = await access.right(request, name, tokens)
        if right is None:
            raise Refused(_error(403, "no campaign here has this name and this token: check both"))
        if not right.role.includes(role):
            message = f"this needs a token of role {role}, yours is {right.role}: ask for another one"
            raise Refused(_error(403, message))
        return campaigns[name], right

    def answer(
        role: Role, operation: operations.Operation, bounds: Bounds
    ) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            campaign, right = await authorized(request, role)
            body = await bounds.read(request)
            return _private(
                await access.work(request, lambda: operation(ledger, campaign, right.token, bounds.parse(body)))
            )

        return guarded(handle)

    async def described(request: Request) -> Response:
        campaign, right = await authorized(request, Role.READER)
        if right.role is Role.READER:
            return _private(
                await access.read(lambda: operations.info(ledger, campaign, overviews.standing(campaign.name)))
            )
        # A worker sees at once that nothing is left to do.
        return _private(await access.work(request, lambda: operations.info(ledger, campaign, campaign.standing())))

    async def status(request: Request) -> Response:
        campaign, _ = await authorized(request, Role.READER)
        text = await access.read(overviews.status_text, campaign.name)
        return Response(text, headers=PRIVATE, media_type="application/json")

    async def opened(request: Request) -> list[str]:
        """The campaigns that the tokens of a request open, at least one; raises Refused."""
        names = await access.opened(request, _tokens(access, request))
        if not names:
            raise Refused(_error(403, NO_CAMPAIGN))
        return names

    async def listed(request: Request) -> Response:
        chosen = [campaigns[name] for name in await opened(request)]
        return _private(await access.read(overviews.listed, chosen))

    async def measured(request: Request) -> Response:
        text = await access.read(metrics.text, await opened(request))
        return Response(text, headers=PRIVATE, media_type=CONTENT_TYPE)

    async def stream(request: Request) -> Response:
        campaign, right = await authorized(request, Role.READER)

        async def allowed() -> bool:
            return await access.role(request, campaign.name, [right.token]) is not None

        listener = Listener(access.address(request), digest(right.token), allowed)
        return await streams.answer(
            campaign.name, lambda: overviews.status(campaign.name), listener, documents.version
        )

    def route(path: str, role: Role, operation: operations.Operation, bounds: Bounds = bodies.MESSAGE) -> Route:
        return Route("/campaigns/{name}" + path, answer(role, operation, bounds), methods=["POST"])

    routes = [
        Route("/metrics", guarded(measured), methods=["GET"]),
        Route("/campaigns", guarded(listed), methods=["GET"]),
        Route("/campaigns/{name}/stream", guarded(stream), methods=["GET"]),
        Route("/campaigns/{name}", guarded(described), methods=["GET"]),
        Route("/campaigns/{name}/status", guarded(status), methods=["GET"]),
        route("/workers", Role.WORKER, operations.enrol),
        route("/departures", Role.WORKER, operations.leave),
        route("/leases", Role.WORKER, operations.lease, bodies.HELD),
        route("/renewals", Role.WORKER, operations.renew, bodies.ATTEMPTS),
        route("/releases", Role.WORKER, operations.release, bodies.ATTEMPTS),
        route("/failures", Role.WORKER, operations.fail),
        route("/deaths", Role.WORKER, operations.die),
        route("/results", Role.WORKER, operations.deliver, bodies.RESULTS),
        route("/retries", Role.ADMIN, operations.retry),
        *pages.routes(access, documents),
    ]
    counted = Middleware(Counted, traffic=traffic, log=log, address_of=access.address, paths=paths_of(routes))
    return Starlette(routes=routes, middleware=[counted, Middleware(Admitted, access=access)])


class Refused(Exception):
    """A request that its sender has no right to.

    Attributes:
        answer: says why.
    """

    def __init__(self, answer: Response) -> None:
        super().__init__()
        self.answer = answer


def _tokens(access: Access, request: Request) -> list[str]:
    """The tokens that a request shows, at least one; raises Refused."""
    tokens = access.tokens(request)
    if not tokens:
        raise Refused(_error(401, "send a token: Authorization: Bearer TOKEN", {"WWW-Authenticate": "Bearer"}))
    return tokens


def _private(document: Any) -> Response:
    return JSONResponse(document, headers=PRIVATE)


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": message}, status, headers)


def _unavailable(log: LimitedLog, address: str, error: LedgerError) -> Response:
    """An answer that says nothing about the ledger; the log says the rest."""
    number = uuid.uuid4().hex[:12]
    log.say(address, f"{number}: {error}")
    state = "is busy" if isinstance(error, LedgerBusy) else "does not answer"
    return _error(503, f"the ledger {state}: the server's log explains it under {number}", {"Retry-After": "2"})
