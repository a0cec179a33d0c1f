"""The clients of a task server: what is kept of them, and whether their addresses may send a request now."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from jobs.farm.api.streams import Streams
from jobs.farm.api.traffic import Traffic
from jobs.farm.dashboard.documents import HEADERS
from jobs.farm.guard.access import Access, RateLimit, TooManyRequests
from jobs.farm.guard.connections import Connections, LimitedLog

API = "/campaigns", "/metrics"
"""How the paths of programs begin; the others are those of pages."""


@dataclass(frozen=True, eq=False)
class Clients:
    """The clients of one server: their requests, connections and streams, and the log about them."""

    limit: RateLimit = field(default_factory=RateLimit)
    proxies: Collection[str] = ()  # addresses of proxies, whose X-Forwarded-For is believed
    traffic: Traffic = field(default_factory=Traffic)
    log: LimitedLog = field(default_factory=LimitedLog)  # for what the operator may read, and clients may not

    @cached_property
    def connections(self) -> Connections:
        """A connection on which a valid token arrives is no stranger's."""
        return Connections(proxies=self.proxies)

    @cached_property
    def streams(self) -> Streams:
        """Whoever runs the server closes them before it ends."""
        return Streams(self.log)


class Admitted:
    """An ASGI application that passes requests on, but refuses those of an address that sends too many."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._application, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._access.admit(Request(scope))
            except TooManyRequests as error:
                await _refusal(error, scope["path"])(scope, receive, send)
                return
        await self._application(scope, receive, send)


def _refusal(error: TooManyRequests, path: str) -> Response:
    if path.startswith(API):
        return JSONResponse({"error": str(error)}, 429, error.headers)
    return PlainTextResponse(str(error), 429, HEADERS | error.headers)
