"""Random histories of the lease model through the server's protocol: see tests.support.histories."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import settings

from db import Campaign, Lease, Ledger
from db.errors import WorkerDistrusted
from db.states import Outcome, Role
from jobs.farm.api import server
from jobs.reach.remote import RemoteCampaign, ServerRefuses
from tests.support.asgi import Bridge
from tests.support.histories import Histories


class ServedCampaign:
    """What workers do goes through a server, the rest straight to the campaign; the server may restart."""

    def __init__(self, ledger: Ledger, campaign: Campaign) -> None:
        self._ledger, self._campaign = ledger, campaign
        self._clients: dict[str, RemoteCampaign] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._campaign, name)

    def set_recheck_share(self, share: float) -> None:
        self._campaign.set_recheck_share(share)
        self.disconnect()
        application = server.application(self._ledger, [self._campaign.name], server.RateLimit(1e9, 1e9))
        self._bridge, self._token = Bridge(application), self._campaign.new_token(Role.WORKER)
        worker = self._client(self._token)
        self.renew, self.fail, self.deliver = worker.renew, worker.fail, worker.deliver

    def disconnect(self) -> None:
        if self._clients:
            self._bridge.close()
        self._clients = {}

    def lease(self, worker: str, count: int, seconds: float, held: None, token: str) -> list[Lease]:
        known = range(10_000)  # what it got before is not forgotten
        try:
            leases = self._client(token).lease(worker, count, max(0.0, seconds), known)
        except ServerRefuses as error:
            raise WorkerDistrusted(str(error)) from error
        if seconds < 0:
            time.sleep(0.003)  # over by now
        return leases

    def release(self, shown: Any, outcome: Outcome = Outcome.RELEASED) -> None:
        self._client(self._token).release(shown, outcome, "")

    def _client(self, token: str) -> RemoteCampaign:
        url = f"http://localhost:1/{self._campaign.name}"
        if token not in self._clients:
            self._clients[token] = RemoteCampaign(url, token, transport=self._bridge)
        return self._clients[token]


class RemoteHistories(Histories):
    """The same histories, every word of them over the wire."""

    def connected(self, campaign: Campaign) -> Any:
        return ServedCampaign(self.ledger, campaign)

    def disconnect(self) -> None:
        self.campaign.disconnect()


class MoreRemoteHistories(RemoteHistories):
    """Others, and more of them."""


TestRemoteHistories = RemoteHistories.TestCase
TestRemoteHistories.settings = settings(max_examples=4, stateful_step_count=20, deadline=None)
TestMoreRemoteHistories = pytest.mark.exhaustive(MoreRemoteHistories.TestCase)
TestMoreRemoteHistories.settings = settings(max_examples=6, stateful_step_count=20, deadline=None)
