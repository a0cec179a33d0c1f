"""The requests that a task server has answered: they are counted, and logged if the operator wants that."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from starlette.requests import Request
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobs.farm.guard.connections import LimitedLog
from jobs.show.log_lines import line

MAX_PATH = 200
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


class Counted:
    """An ASGI application that passes requests to another one, and counts and logs them."""

    def __init__(
        self,
        app: ASGIApp,
        traffic: Traffic,
        log: LimitedLog,
        address_of: Callable[[Request], str],
        paths: Mapping[object, str],
    ) -> None:
        """``paths``: of the routes, see :func:`paths_of`."""
        self._application, self._traffic, self._log = app, traffic, log
        self._address_of, self._paths = address_of, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        began = time.perf_counter()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"], time.perf_counter() - began)
            await send(message)

        await self._application(scope, receive, note)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"]
        self._traffic.note(method, self._paths.get(scope.get("endpoint"), ELSEWHERE), status)
        if not self._traffic.listed:
            return
        # Without the query: a client may have put a token there by mistake.
        path, address = scope["path"][:MAX_PATH], self._address_of(Request(scope))
        message = f"{method} {path} is answered {status} in {seconds:.3f} s"
        fields = {"method": method, "path": path, "status": status, "seconds": round(seconds, 6)}
        if status < 400:
            line("request", f"{address}: {message}", address=address, **fields)
        else:
            self._log.say(address, message, None, "request", logging.INFO, **fields)


def paths_of(routes: Sequence[BaseRoute], prefix: str = "") -> dict[object, str]:
    """The paths of routes, with their parameters by name, by endpoint."""
    paths: dict[object, str] = {}
    for route in routes:
        if isinstance(route, Route):
            paths[route.endpoint] = prefix + route.path
        elif isinstance(route, Mount):
            paths |= paths_of(route.routes, prefix + route.path)
    return paths
