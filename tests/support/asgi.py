"""A client of an ASGI application in this process, on one event loop for all its requests."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from starlette.applications import Starlette


class Client:
    """Requests to an application, until it is closed."""

    def __init__(self, application: Starlette, **options: Any) -> None:
        self._loop = asyncio.Runner()
        transport = httpx.ASGITransport(application)
        self._http = httpx.AsyncClient(transport=transport, base_url="http://server", **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._loop.run(self._http.request(method, path, **options))

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.request("POST", path, **options)

    def close(self) -> None:
        self._loop.run(self._http.aclose())
        self._loop.close()
