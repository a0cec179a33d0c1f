"""Random histories of the lease model through the protocol of workers, however they reach the campaign.

See :mod:`tests.support.histories`.
"""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import pytest
from hypothesis import settings

from db import Campaign, Lease, Ledger
from db.errors import WorkerDistrusted
from db.states import Role
from jobs.farm.api import server
from jobs.farm.api.clients import Clients
from jobs.reach import campaign as reach
from jobs.reach.remote import RemoteServer
from jobs.reach.requests import ServerRefuses
from tests.support.asgi import Bridge
from tests.support.campaigns import with_token
from tests.support.histories import Histories, Machine


class ReachedCampaign:
    """What workers do goes through the protocol, the rest straight to the campaign."""

    def __init__(self, ledger: Ledger, campaign: Campaign) -> None:
        self._ledger, self._campaign = ledger, campaign
        self._reached: dict[str, reach.Campaign] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._campaign, name)

    @cached_property
    def _token(self) -> str:
        return self._campaign.operator.new_token(Role.WORKER)

    @property
    def worker(self) -> reach.Campaign:
        return self._by(self._token)

    def disconnect(self) -> None:
        self._reached = {}

    def leased_by(self, token: str, worker: str, count: int, seconds: float) -> list[Lease]:
        known = range(10_000)  # what it got before is not forgotten
        try:
            leases = self._by(token).lease(worker, count, max(0.0, seconds), known)
        except ServerRefuses as error:
            raise WorkerDistrusted(str(error)) from error
        if seconds < 0:
            time.sleep(0.003)  # over by now
        return leases

    def _by(self, token: str) -> reach.Campaign:
        if token not in self._reached:
            self._reached[token] = self.reach(token)
        return self._reached[token]

    def reach(self, token: str) -> reach.Campaign:
        return with_token(self._campaign, token)


class ServedCampaign(ReachedCampaign):
    """Reached through a server, which may restart."""

    _bridge: Bridge | None = None

    def reach(self, token: str) -> reach.Campaign:
        if self._bridge is None:
            clients = Clients()
            self._bridge = Bridge(server.application(self._ledger, [self._campaign.name], clients))
        return RemoteServer(f"http://localhost:1/{self._campaign.name}", token, transport=self._bridge).campaign()

    def disconnect(self) -> None:
        super().disconnect()
        if self._bridge is not None:
            self._bridge.close()
        self._bridge = None


class LedgerHistories(Histories):
    """The same histories, as a local run reaches the campaign."""

    def connected(self, campaign: Campaign) -> Any:
        return ReachedCampaign(self.ledger, campaign)

    def disconnect(self) -> None:
        self.campaign.disconnect()

    def granted(self, machine: Machine, count: int, seconds: float) -> list[Lease]:
        leases: list[Lease] = self.campaign.leased_by(machine.token, self.workers[machine], count, seconds)
        return leases


class RemoteHistories(LedgerHistories):
    """The same histories, every word of them over the wire."""

    def connected(self, campaign: Campaign) -> Any:
        return ServedCampaign(self.ledger, campaign)


TestLedgerHistories = LedgerHistories.TestCase
TestLedgerHistories.settings = settings(max_examples=2, stateful_step_count=20, deadline=None)
TestRemoteHistories = pytest.mark.exhaustive(RemoteHistories.TestCase)
TestRemoteHistories.settings = settings(max_examples=4, stateful_step_count=20, deadline=None)
