"""The task server: leases and results of a ledger's campaigns over HTTP.

docs/http.md lists the addresses with their roles and messages; a test compares them.

Requests carry "Authorization: Bearer TOKEN", those of workers also their version of the messages
(:mod:`jobs.reach.wire`).  A token alone changes no attempt: a request names an attempt and the
nonce of its lease, and a request for leases names a worker, whose random UUID no answer reveals.  The token with
which a worker enrols also decides whose vote its results are; the worker sends the same token for its leases.
409 says that the ledger does not know the worker, 410 that another campaign has the name now.  A request may be
repeated: a result names its attempt, and an attempt that has ended stays ended.  The other addresses are those of
the dashboard, see :mod:`jobs.farm.dashboard.pages`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from db import Campaign, Ledger
from db.errors import (
    LedgerBusy,
    LedgerError,
    LedgerFull,
    NoSuchCampaign,
    TooManyLeases,
    TooManyWorkers,
    UnknownWorker,
    WorkerDistrusted,
    WrongToken,
)
from db.messages import BadMessage, encoded
from db.records import CampaignInfo, Right
from db.states import Role
from jobs.farm.api.authority import Authority, Forbidden, NoToken
from jobs.farm.api.clients import Admitted, Clients, paths_of
from jobs.farm.api.metrics import CONTENT_TYPE, Metrics
from jobs.farm.api.operations import ANSWERED, AnotherCampaign, Answered
from jobs.farm.api.overviews import Overviews
from jobs.farm.api.renewals import Renewals
from jobs.farm.dashboard.pages import Documents, Pages
from jobs.farm.guard.access import Access
from jobs.farm.guard.bodies import ATTEMPTS, BodyTooLarge, Bounds
from jobs.farm.guard.refusals import NotAllowed, Refusal, refusing
from jobs.farm.guard.shares import NoTime
from jobs.reach.wire import ENROL, HEADER, LEASE, RENEW, SPOKEN, Done, OtherVersion
from langford.errors import BadInput, LangfordError

T = TypeVar("T")
NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
PRIVATE = {"Cache-Control": "no-store", HEADER: str(SPOKEN)}


class NotJson(LangfordError):
    """The body of a request is said to be something else than JSON."""


REFUSALS: Mapping[type[Exception], Refusal] = {
    BadMessage: Refusal(400),
    ClientDisconnect: Refusal(400),  # the client does not receive it, but it is counted
    NoToken: Refusal(401, {"WWW-Authenticate": "Bearer"}),
    Forbidden: Refusal(403),
    OtherVersion: Refusal(403, is_logged=True),
    WorkerDistrusted: Refusal(403),
    WrongToken: Refusal(403),
    UnknownWorker: Refusal(409),
    AnotherCampaign: Refusal(410),
    NoSuchCampaign: Refusal(410),
    NotAllowed: Refusal(405),
    BodyTooLarge: Refusal(413),
    NotJson: Refusal(415),
    TooManyLeases: Refusal(429, {"Retry-After": "60"}, is_logged=True),
    TooManyWorkers: Refusal(429, {"Retry-After": "60"}),
    NoTime: Refusal(503),
    LedgerBusy: Refusal(
        503, {"Retry-After": "2"}, "the ledger is busy: the server's log explains it under {number}"
    ),
    LedgerFull: Refusal(
        503,
        {"Retry-After": "2"},
        "no space is left for the ledger, whose operator has to free some: then the server continues by itself "
        "({number} in its log)",
    ),
    LedgerError: Refusal(
        503, {"Retry-After": "2"}, "the ledger does not answer: the server's log explains it under {number}"
    ),
    Exception: Refusal(500, message="the server has an error: its log explains it under {number}"),
}


def application(
    ledger: Ledger, names: Sequence[str], clients: Clients | None = None, overviews: Overviews | None = None
) -> Starlette:
    """The server of some campaigns of a ledger; raises NoSuchCampaign.

    Args:
        ledger: an open one, which stays open as long as the server.
        names: of the campaigns.
        clients: what is known of those who ask, and their limits; None: new ones.
        overviews: of the same campaigns, where others ask them too; None: new ones.
    """
    campaigns = {name: ledger.campaign(name) for name in names}
    for campaign in campaigns.values():
        campaign.plan  # noqa: B018 -- made now, so that the first worker need not wait for it
    clients, overviews, documents = clients or Clients(), overviews or Overviews(campaigns), Documents()
    access = Access(ledger, campaigns, clients)
    numbers, authority = Metrics(overviews, clients.traffic), Authority(access)
    endpoints = Endpoints(authority, overviews, numbers, Renewals(authority, clients.charges))
    routes = [*endpoints.routes(), Pages(access, documents).mount()]
    middleware = [
        Middleware(Admitted, access=access, clients=clients, paths=paths_of(routes)),
        refusing(access, REFUSALS, _error),
    ]
    return Starlette(routes=routes, middleware=middleware)


@dataclass(frozen=True, eq=False)
class Endpoints:
    """The addresses of programs: each method that takes a request answers those to one address."""

    authority: Authority
    overviews: Overviews
    numbers: Metrics
    renewals: Renewals

    @property
    def access(self) -> Access:
        return self.authority.access

    def routes(self) -> list[BaseRoute]:
        """All addresses; then the same ones for all other methods, which would be taken for those of pages.

        They are compared with an address one after the other: those of workers come first.
        """
        routes = [
            Route("/campaigns/{name}" + RENEW.path, self.renew, methods=["POST"]),
            *[self._operation(answered) for answered in ANSWERED],
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/campaigns", self.listed, methods=["GET"]),
            Route("/campaigns/{name}", self.info, methods=["GET"]),
            Route("/campaigns/{name}/status", self.status, methods=["GET"]),
            Route("/campaigns/{name}/why", self.why, methods=["GET"]),
            Route("/health", self.health, methods=["GET"]),
        ]
        return [*routes, *[Route(route.path, OtherMethods(route.methods or ())) for route in routes]]

    async def metrics(self, request: Request) -> Response:
        names = await self.authority.opened(request)
        text = await self.access.read(request, self.numbers.text, names)
        return Response(text, headers=PRIVATE, media_type=CONTENT_TYPE)

    async def health(self, request: Request) -> Response:
        """For anyone: it answers, and says nothing."""
        return Response(headers=PRIVATE)

    async def listed(self, request: Request) -> Response:
        chosen = [self.access.campaigns[name] for name in await self.authority.opened(request)]
        return _private(await self.access.read(request, self.overviews.listed, chosen))

    async def info(self, request: Request) -> Response:
        """For readers the progress is some seconds old."""

        def described(campaign: Campaign, right: Right) -> CampaignInfo | Campaign:
            if right.role is Role.READER:
                return campaign
            return campaign.reader.info(self.overviews.standing_for_workers(request.path_params["name"]))

        info = await self.authority.ask(request, Role.READER, described)
        if isinstance(info, Campaign):
            shown = info
            info = await self.access.read(request, lambda: shown.reader.info(self.overviews.standing(shown.name)))
        return _private(encoded(info))

    async def status(self, request: Request) -> Response:
        """Some seconds old."""
        campaign, _ = await self.authority.ask(request, Role.READER, _both)
        return _private(await self.access.read(request, self.overviews.status, campaign.name))

    async def why(self, request: Request) -> Response:
        """What the task ``?task=N`` waits for; without it, why each worker that is present has none."""
        campaign, _ = await self.authority.ask(request, Role.READER, _both)
        asked = request.query_params.get("task", "")
        if asked and not NUMBER.fullmatch(asked):
            raise BadMessage("?task= takes the number of a task")
        try:
            reasons = await self.access.read(request, campaign.reader.why, int(asked) if asked else None)
        except BadInput as error:  # there is no such task
            raise BadMessage(str(error)) from error
        return JSONResponse(reasons, headers=PRIVATE)

    async def renew(self, request: Request) -> Response:
        async with self._body(request, RENEW.role, ATTEMPTS) as body:
            return _private(await self.renewals.make(request, body))

    @asynccontextmanager
    async def _body(self, request: Request, role: Role, bounds: Bounds) -> AsyncIterator[bytes]:
        """The body of a request that needs a role, while it is used; raises NotJson, and as the authority."""
        if not self.access.gave(request, role):
            # Nothing is read of what a stranger or a reader sends.
            await self.authority.ask(request, role, _both)
        async with self.access.body(request, bounds) as body:
            if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise NotJson("send JSON, with the header Content-Type: application/json")
            yield body

    def _operation(self, answered: Answered[Any, Any]) -> Route:
        operation, bounds = answered.operation, answered.bounds

        async def operate(request: Request) -> Response:
            async with self._body(request, operation.role, bounds) as body:

                def answer(campaign: Campaign, right: Right) -> bytes:
                    workers = campaign.worker.on(self.authority.terms(right))
                    done = encoded(answered.answer(workers, bounds.parse(body, operation.request)) or Done())
                    if operation not in (ENROL, LEASE):
                        self.overviews.end(request.path_params["name"])
                    return done

                return _private(await self.authority.ask(request, operation.role, answer))

        return Route("/campaigns/{name}" + operation.path, operate, methods=["POST"])


class OtherMethods:
    """An ASGI application that refuses requests of methods which an address does not take."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotAllowed(self._allowed)


def _both(campaign: Campaign, right: Right) -> tuple[Campaign, Right]:
    return campaign, right


def _private(text: bytes) -> Response:
    return Response(text, headers=PRIVATE, media_type="application/json")


def _error(message: str, status: int, headers: Mapping[str, str]) -> Response:
    return JSONResponse({"error": message}, status, {**headers, HEADER: str(SPOKEN)})
