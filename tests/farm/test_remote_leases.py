"""Random histories of the lease model through a server.

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
from tests.support.histories import Histories, Machine


class ServedCampaign:
    """What workers do goes through a server, which may restart; the rest straight to the campaign."""

    def __init__(self, ledger: Ledger, campaign: Campaign) -> None:
        self._ledger, self._campaign = ledger, campaign
        self._reached: dict[str, reach.Campaign] = {}
        self._bridge: Bridge | None = None

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
        if self._bridge is not None:
            self._bridge.close()
        self._bridge = None

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
            if self._bridge is None:
                self._bridge = Bridge(server.application(self._ledger, [self._campaign.name], Clients()))
            where = f"http://localhost:1/{self._campaign.name}"
            self._reached[token] = RemoteServer(where, token, transport=self._bridge).campaign()
        return self._reached[token]


class RemoteHistories(Histories):
    """The same histories, every word of them over the wire."""

    def connected(self, campaign: Campaign) -> Any:
        return ServedCampaign(self.ledger, campaign)

    def disconnect(self) -> None:
        self.campaign.disconnect()

    def granted(self, machine: Machine, count: int, seconds: float) -> list[Lease]:
        leases: list[Lease] = self.campaign.leased_by(machine.token, self.workers[machine], count, seconds)
        return leases


TestRemoteHistories = pytest.mark.exhaustive(RemoteHistories.TestCase)
TestRemoteHistories.settings = settings(max_examples=4, stateful_step_count=20, deadline=None)
