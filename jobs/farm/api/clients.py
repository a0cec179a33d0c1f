"""The clients of a task server: their connections and requests, which are counted."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobs.farm.api.operations import RANKS
from jobs.farm.guard.access import RANK, Access
from jobs.farm.guard.charges import charged
from jobs.farm.guard.defence import Defence
from jobs.farm.guard.shares import NoTime, Rank
from jobs.show.log_lines import line

API = "/campaigns", "/metrics"
"""How the paths of programs begin; the others are those of pages."""
MAX_PATH = 200
HTTPS_SECONDS = 182 * 86_400
"""How long browsers reach a server with TLS by TLS only."""
HEADERS = {
    # Nothing from elsewhere, no script or style inside a page, no frame around it, and no text that becomes markup.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of every answer, which bound what a browser does with it."""
PROTECTING = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
PROTECTING_WITH_TLS = [*PROTECTING, (b"strict-transport-security", b"max-age=%d" % HTTPS_SECONDS)]
ELSEWHERE = "elsewhere"
"""The path of requests that no route of the server answers."""
KNOWN_METHODS = frozenset({"GET", "HEAD", "POST"})


class Traffic:
    """How many requests were answered, by method, path of the route, and status.

    Attributes:
        listed: whether each request is logged; failed requests of an address are limited to a few lines a minute.
    """

    def __init__(self, listed: bool = False) -> None:
        self.listed = listed
        self._answered: Counter[tuple[str, str, int]] = Counter()
        self._lock = threading.Lock()

    @property
    def answered(self) -> Mapping[tuple[str, str, int], int]:
        """By (method, path of the route, status)."""
        with self._lock:
            return dict(self._answered)

    def note(self, method: str, path: str, status: int) -> None:
        """Unknown methods are counted together as "other"."""
        with self._lock:
            self._answered[method if method in KNOWN_METHODS else "other", path, status] += 1


@dataclass(frozen=True, eq=False)
class Clients(Defence):
    """The clients of one server: their requests and connections, and the log about them."""

    traffic: Traffic = field(default_factory=Traffic)


class Admitted:
    """An ASGI application that counts, logs and passes on requests, each at its turn."""

    def __init__(self, app: ASGIApp, access: Access, clients: Clients, paths: Mapping[object, str]) -> None:
        """``paths``: of the routes, see :func:`paths_of`."""
        self._application, self._access, self._paths = app, access, paths
        self._traffic, self._charges, self._turns = clients.traffic, clients.charges, clients.turns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        began = time.perf_counter()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._protect(scope, message["headers"])
                self._note(scope, message["status"], time.perf_counter() - began)
            await send(message)

        application, request = self._application, Request(scope)
        payer = self._access.payer(request)
        scope[RANK] = rank = RANKS.get("/" + scope["path"].rpartition("/")[2], Rank.OTHERS)
        try:
            await self._turns.wait(payer, rank)
        except NoTime as error:
            self._access.miss(request)
            application = _refusal(error, scope["path"])
        await charged(application(scope, receive, note), self._charges, payer)

    def _protect(self, scope: Scope, headers: list[tuple[bytes, bytes]]) -> None:
        """Add the headers that every answer has."""
        given = {name for name, _ in headers}
        more = PROTECTING_WITH_TLS if self._access.encrypted(Request(scope)) else PROTECTING
        headers += [header for header in more if header[0] not in given]

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"]
        self._traffic.note(method, self._paths.get(scope.get("endpoint"), ELSEWHERE), status)
        if not self._traffic.listed:
            return
        # Without the query: a client may have put a token there by mistake.
        path, address = scope["path"][:MAX_PATH], self._access.address(Request(scope))
        message = f"{method} {path} is answered {status} in {seconds:.3f} s"
        if status < 400:
            line(f"{address}: {message}")
        else:
            self._access.log.say(address, message)


def paths_of(routes: Sequence[BaseRoute]) -> dict[object, str]:
    """The paths of routes by endpoint, the only thing of a route that Starlette tells in every version."""
    paths: dict[object, str] = {}
    for route in routes:
        if isinstance(route, Route):
            paths[route.endpoint] = route.path
        elif isinstance(route, Mount):
            paths |= paths_of(route.routes)  # its own path is empty
    return paths


def _refusal(error: NoTime, path: str) -> Response:
    if path.startswith(API):
        return JSONResponse({"error": str(error)}, 503, error.headers)
    return PlainTextResponse(str(error), 503, error.headers)
