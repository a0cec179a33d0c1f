"""Random histories of the lease model through the server's protocol: see tests.support.histories."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import settings

from db import Campaign, Credential, Delivery, Lease, Ledger, Receipt
from db.errors import WorkerDistrusted
from db.messages import converted, document
from db.states import Outcome, Role
from jobs.farm.api import server
from jobs.reach.wire import ReceiptFields
from tests.support.asgi import Client
from tests.support.campaigns import shown_by
from tests.support.histories import Histories


class ServedCampaign:
    """What workers do goes through a server, the rest straight to the campaign; the server may restart."""

    def __init__(self, ledger: Ledger, campaign: Campaign) -> None:
        self._ledger, self._campaign = ledger, campaign
        self._client: Client | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._campaign, name)

    def set_recheck_share(self, share: float) -> None:
        self._campaign.set_recheck_share(share)
        token = self._campaign.new_token(Role.WORKER)
        self.disconnect()
        application = server.application(self._ledger, [self._campaign.name], server.RateLimit(1e9, 1e9))
        self._client = Client(application, headers={"Authorization": f"Bearer {token}"})

    def disconnect(self) -> None:
        if self._client is not None:
            self._client.close()

    def _post(self, path: str, token: str | None = None, **fields: Any) -> Any:
        assert self._client is not None
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        answer = self._client.post(f"/campaigns/{self._campaign.name}/{path}", json=fields, headers=headers)
        if answer.status_code == 403:
            raise WorkerDistrusted(answer.text)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def lease(self, worker: str, count: int, seconds: float, held: None, token: str) -> list[Lease]:
        known = list(range(10_000))  # what it got before is not forgotten
        fields = {"campaign": self._campaign.uuid, "worker": worker, "count": count, "held": known, "copies": 0}
        answer = self._post("leases", token, **fields, seconds=max(0.0, seconds))
        leases = answer["leases"]
        if seconds < 0:
            time.sleep(0.003)  # over by now
        return [converted(each, Lease) for each in leases]

    def renew(self, shown: Iterable[Credential], seconds: float) -> set[int]:
        attempts = [shown_by(each) for each in shown]
        return set(self._post("renewals", attempts=attempts, seconds=seconds, steps=[])["running"])

    def release(self, shown: Iterable[Credential], outcome: Outcome = Outcome.RELEASED) -> None:
        attempts = [shown_by(each) for each in shown]
        self._post("releases", attempts=attempts, outcome=outcome, note="")

    def fail(self, shown: Credential, reason: str) -> bool:
        return bool(self._post("failures", **shown_by(shown), reason=reason)["set_aside"])

    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        answer = self._post("results", deliveries=[document(each) for each in deliveries], now=0)
        return [converted(each, ReceiptFields).receipt for each in answer["receipts"]]


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
