"""Random histories of the lease model through the server's protocol: see test_ledger."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import settings

from db import CampaignRecord, Delivery, Lease, Ledger
from db.errors import WorkerDistrusted
from db.states import EventKind, Outcome, Role
from jobs import server, wire
from langford.methods import Plan
from tests.asgi import Client
from tests.unit.test_ledger import Histories


class RemoteLedger:
    """What workers do goes through the server, the rest straight to the ledger; the server may restart."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._client: Client | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def replicate(self, campaign: CampaignRecord, share: float) -> CampaignRecord:
        changed = self._ledger.replicate(campaign, share)
        token = self._ledger.new_token(campaign, Role.WORKER)
        self._disconnect()
        application = server.application(self._ledger, [campaign.name], server.RateLimit(1e9, 1e9))
        self._client = Client(application, headers={"Authorization": f"Bearer {token}"})
        return changed

    def close(self) -> None:
        self._disconnect()
        self._ledger.close()

    def _disconnect(self) -> None:
        if self._client is not None:
            self._client.close()

    def _post(self, path: str, **fields: Any) -> Any:
        assert self._client is not None
        answer = self._client.post(f"/campaigns/seven/{path}", json=fields)
        if answer.status_code == 403:
            raise WorkerDistrusted(answer.text)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def lease(self, campaign: CampaignRecord, worker: str, count: int, seconds: float) -> list[Lease]:
        found = self._post("leases", worker=worker, count=count, seconds=max(0.0, seconds))["leases"]
        if seconds < 0:
            time.sleep(0.003)  # over by now
        return [wire.lease_of(each) for each in found]

    def renew(self, attempts: Iterable[int], seconds: float) -> set[int]:
        return set(self._post("renewals", attempts=list(attempts), seconds=seconds)["running"])

    def release(self, attempts: Iterable[int], outcome: Outcome = Outcome.RELEASED) -> None:
        self._post("releases", attempts=list(attempts), outcome=outcome, note="")

    def fail(self, campaign: CampaignRecord, attempt: int, reason: str) -> bool:
        return bool(self._post("failures", attempt=attempt, reason=reason)["set_aside"])

    def accept(
        self, campaign: CampaignRecord, plan: Plan, deliveries: Sequence[Delivery]
    ) -> list[EventKind | None]:
        events = self._post("results", deliveries=[wire.delivery_document(each) for each in deliveries])["events"]
        return [None if event is None else EventKind(event) for event in events]


class RemoteHistories(Histories):
    """The same histories, every word of them over the wire."""

    def opened(self, ledger: Ledger) -> Any:
        return RemoteLedger(ledger)


TestRemoteHistories = RemoteHistories.TestCase
TestRemoteHistories.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
