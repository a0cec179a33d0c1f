"""The first check of every request: whether its address may send one now, whatever it asks for."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from jobs.farm.dashboard.documents import HEADERS
from jobs.farm.guard.access import Access, TooManyRequests

API = "/campaigns", "/metrics"
"""How the paths of programs begin; the others are those of pages."""


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
