"""A campaign in a ledger that this process has opened."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from db import Credential, Delivery, Lease, Receipt, Standing
from db.look.overview.records import Overview, WorkerState
from db.records import NO_STEPS
from db.states import Ending, Outcome
from jobs.clock import SYSTEM, Clock
from jobs.console import Console
from jobs.reach.campaign import Way
from jobs.reach.identity import Identity, is_dead
from jobs.reach.patience import Calls
from jobs.reach.wire import CampaignInfo
from langford.methods import method_hash

if TYPE_CHECKING:
    from db import Campaign, Ledger

LEDGER = Way("the ledger", False, look_seconds=0.2, overview_seconds=10.0, idle_seconds=(0.0, 0.0))
GONE = "its process is gone"
T = TypeVar("T")


class InLedger:
    """Implements :class:`jobs.reach.campaign.Campaign`.  Methods also raise the errors of :mod:`db.errors`."""

    way = LEDGER

    def __init__(
        self,
        ledger: Ledger,
        campaign: Campaign,
        console: Console | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        """``console``: when it asks to stop, the wait for an answer ends."""
        self.campaign, self.name, self._ledger = campaign, campaign.name, ledger
        self._calls = None if console is None else Calls(console, clock=clock)

    def info(self) -> CampaignInfo:
        return self._ask(lambda: self.described(self.campaign.standing()))

    def described(self, standing: Standing) -> CampaignInfo:
        kernels = method_hash(self.campaign.key.method)
        return CampaignInfo.of(self._ledger.uuid, self.campaign.record, standing, kernels)

    def expire_the_dead(self) -> None:
        def expire() -> None:
            for holder in self.campaign.lease_holders():
                if is_dead(holder.host, holder.process):
                    self.campaign.release_worker(holder.worker_id, GONE)

        self._ask(expire)

    def overview(self, timeline: bool = False) -> Overview:
        """Workers of this host whose processes are gone have ended in it."""
        overview = self._ask(lambda: self.campaign.overview(timeline=timeline))
        workers = tuple(
            replace(worker, state=WorkerState.ENDED, ending=GONE)
            if worker.state in (WorkerState.WORKING, WorkerState.IDLE) and is_dead(worker.host, worker.process)
            else worker
            for worker in overview.workers
        )
        return replace(overview, workers=workers)

    def enrol(self, identity: Identity) -> float | None:
        def enrol() -> float | None:
            self._ledger.enrol(*identity.enrolment, self.campaign.terms, **identity.equipment)
            return self.campaign.pace(identity.device_kind)

        return self._ask(enrol)

    def leave(self, worker_id: str, ending: Ending) -> None:
        self._ask(lambda: self._ledger.leave(worker_id, ending, self.campaign.terms))

    def lease(
        self, worker_id: str, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> list[Lease]:
        return self._ask(lambda: self.campaign.lease(worker_id, count, seconds, held, copies))

    def renew(
        self, credentials: Collection[Credential], seconds: float, steps: Mapping[int, int] = NO_STEPS
    ) -> set[int]:
        renewed = list(credentials)
        return self._ask(lambda: self.campaign.renew(renewed, seconds, steps))

    def release(self, credentials: Collection[Credential], outcome: Outcome, note: str | None) -> None:
        given_back = list(credentials)
        self._ask(lambda: self.campaign.release(given_back, outcome, note))

    def fail(self, credential: Credential, reason: str) -> bool:
        return self._ask(lambda: self.campaign.fail(credential, reason))

    def die(self, credential: Credential, reason: str) -> bool:
        return self._ask(lambda: self.campaign.die(credential, reason))

    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        return self._ask(lambda: self.campaign.deliver(deliveries))

    def close(self) -> None:
        """Nothing: the ledger stays open."""

    def _ask(self, question: Callable[[], T]) -> T:
        return question() if self._calls is None else self._calls.make(question)


def campaigns_in(ledger: Ledger, name: str | None) -> Callable[[], list[InLedger]]:
    """What returns all campaigns of a ledger, or one: the same objects each time, also with new ones among them.

    Raises NoSuchCampaign.
    """
    kept: dict[str, InLedger] = {}  # each knows what it said of the time left
    one = None if name is None else ledger.campaign(name)

    def campaigns() -> list[InLedger]:
        found = ledger.campaigns() if one is None else [one]
        return [kept.setdefault(each.uuid, InLedger(ledger, each)) for each in found]

    return campaigns
