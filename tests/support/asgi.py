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


class Bridge(httpx.BaseTransport):
    """Carries the requests of workers in this process to an application, instead of a network.

    Attributes:
        hidden: headers that are lost on the way, in both directions.
    """

    def __init__(self, application: Starlette, *hidden: str) -> None:
        self._client, self.hidden = Client(application), hidden

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = self._left(request.headers)
        answer = self._client.request(request.method, request.url.path, headers=headers, content=request.read())
        content = httpx.ByteStream(answer.content)
        return httpx.Response(answer.status_code, headers=self._left(answer.headers), stream=content)

    def _left(self, headers: httpx.Headers) -> list[tuple[str, str]]:
        return [(name, value) for name, value in headers.items() if name.lower() not in self.hidden]

    def close(self) -> None:
        self._client.close()
