"""The task server in this process: clients of its application, on one event loop for all their requests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import httpx
from starlette.applications import Starlette

from db import Campaign, Ledger
from db.states import Role
from jobs.farm.api import server
from jobs.farm.api.clients import Clients
from jobs.farm.guard.hearing import Hearing
from jobs.reach.remote import RemoteCampaign, RemoteServer
from tests.support.campaigns import new_campaign, terms_of
from tests.support.databases import new_ledger
from tests.support.enrolling import enrol


class Client:
    """Requests to an application, until it is closed."""

    def __init__(self, application: Starlette, **options: Any) -> None:
        self._loop = asyncio.Runner()
        transport = httpx.ASGITransport(application)
        self._http = httpx.AsyncClient(transport=transport, base_url="http://server", **options)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        if "content" in options:
            options["headers"] = {"Content-Type": "application/json", **dict(options.get("headers") or {})}
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

    def reach(self, application: Starlette) -> None:
        """Carry them to another application from now on."""
        self._client.close()
        self._client = Client(application)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = self._left(request.headers)
        answer = self._client.request(
            request.method, request.url.raw_path.decode(), headers=headers, content=request.read()
        )
        content = httpx.ByteStream(answer.content)
        return httpx.Response(answer.status_code, headers=self._left(answer.headers), stream=content)

    def _left(self, headers: httpx.Headers) -> list[tuple[str, str]]:
        return [(name, value) for name, value in headers.items() if name.lower() not in self.hidden]

    def close(self) -> None:
        self._client.close()


class Served:
    """A campaign in a ledger, and its server in this process.

    Attributes:
        ledger, campaign: what it serves.
        tokens: of those who have one, by their names, which are their labels.
        clients, application, client: what it keeps of its clients, the server, and a client without a token.
    """

    def __init__(self, ledger: Ledger, campaign: Campaign, bearers: Mapping[str, Role], **options: Any) -> None:
        """
        Args:
            ledger, campaign: what it serves.
            bearers: who gets a token, and for which role.
            options: of :class:`jobs.farm.api.clients.Clients`.
        """
        self.ledger, self.campaign, self._options = ledger, campaign, options
        self.tokens = {name: campaign.operator.new_token(role, label=name) for name, role in bearers.items()}
        self.start()

    @classmethod
    def with_all_roles(cls, folder: Path, **options: Any) -> Self:
        """The small campaign, with a token for each role, of which workers "a" and "b" have that of theirs.

        ``options``: as for the class.
        """
        ledger = new_ledger("sqlite", folder)
        made = cls(ledger, new_campaign(ledger, workers=""), {role: role for role in Role}, **options)
        for worker in "ab":
            enrol(ledger, worker, f"host-{worker}", "1", terms=terms_of(made.tokens[Role.WORKER]))
        return made

    def start(self) -> None:
        """Begin to serve, with no memory of clients."""
        self.clients = Clients(**{"hearing": Hearing(seconds=0.0), **self._options})
        self.application = server.application(self.ledger, [self.campaign.name], self.clients)
        self.client = Client(self.application)

    def ask(self, method: str, path: str, bearer: str = Role.WORKER, document: Any = None) -> httpx.Response:
        """The answer to a request; ``path``: with NAME for that of the campaign."""
        headers = {"Authorization": f"Bearer {self.tokens[bearer]}"}
        body = {} if method == "GET" else {"json": document}
        return self.client.request(method, path.replace("NAME", self.campaign.name), headers=headers, **body)

    def remote(self, transport: httpx.BaseTransport | None = None) -> RemoteCampaign:
        """The campaign as a worker sees it."""
        where, carried = f"http://localhost:1/{self.campaign.name}", transport or Bridge(self.application)
        return RemoteServer(where, self.tokens[Role.WORKER], transport=carried).campaign()

    def close(self) -> None:
        self.client.close()
        self.ledger.close()
