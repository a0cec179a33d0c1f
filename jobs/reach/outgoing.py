"""What a campaign does not know yet: results, failures and deaths that wait until it answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from db import Delivery, Lease, Receipt
from db.errors import Away
from db.records import NO_SECONDS, CampaignInfo
from db.states import EventKind, Outcome
from jobs.clock import SYSTEM, Clock
from jobs.console import Console
from jobs.reach.campaign import Campaign
from jobs.reach.outbox import Outbox
from jobs.reach.patience import Backoff, Patience
from jobs.reach.requests import RequestRefused
from jobs.reach.wire import MAX_AT_ONCE
from langford.errors import LangfordError
from langford.words import several

MAX_RIDING = 100
"""How many results may go along with a request for tasks: more of them would delay its answer."""


@dataclass(frozen=True, slots=True)
class FailedTask:
    """A task that failed, or ended its process."""

    lease: Lease
    outcome: Outcome
    reason: str
    computed: float | None  # for how many seconds; None: unknown


class Outgoing:
    """Results, failures and deaths on their way from one worker to its campaign.

    Results are in the outbox while they wait: of a remote campaign from the beginning, of a ledger as soon as it
    does not take them.  Failures and deaths are in memory.
    """

    def __init__(
        self,
        campaign: Campaign,
        outbox: Outbox | None,
        patience: Patience,
        console: Console,
        clock: Clock = SYSTEM,
    ) -> None:
        """
        Args:
            campaign: gets the results.
            outbox: keeps them until they have arrived; None: they wait in memory.
            patience: repeats what is not answered.
            console: gets what happens to results that are refused.
            clock: says when it is time to send.
        """
        self._campaign, self._outbox, self._patience = campaign, outbox, patience
        self._console, self._sending, self._failing = console, Backoff(clock=clock), False
        # Results that are not on the disk, by attempt and nonce.
        self._held: dict[tuple[int, str], Delivery] = {}
        self._failures = deque[FailedTask]()
        self._info: CampaignInfo | None = None

    @property
    def attempts(self) -> set[int]:
        return {attempt for attempt, _ in self._held} | (self._outbox.attempts if self._outbox else set())

    @property
    def count(self) -> int:
        return len(self._held) + (self._outbox.count if self._outbox else 0)

    @property
    def left_behind(self) -> bool:
        """Whether any worker of this machine has left results for a remote campaign, perhaps this one."""
        return self._campaign.transport.is_remote and self._outbox is not None and self._outbox.left_behind

    def open(self, info: CampaignInfo) -> None:
        """Begin, once the campaign is known; adopts what dead workers of this machine have left for it."""
        self._info = info
        if self._outbox is not None and (self._campaign.transport.is_remote or self._outbox.has(info)):
            self._outbox.open(info)

    def adopt(self) -> None:
        """Take over what workers have left that have died meanwhile."""
        if self._outbox is not None and self._outbox.is_open:
            self._outbox.adopt()

    def put(self, deliveries: Sequence[Delivery]) -> None:
        self._held |= {(delivery.attempt, delivery.nonce): delivery for delivery in deliveries}
        if self._campaign.transport.is_remote or self._patience.is_away:
            self._keep()

    def fail(self, failure: FailedTask) -> None:
        """Take a failure, which :meth:`report` sends."""
        self._failures.append(failure)

    def report(self) -> Iterator[tuple[FailedTask, bool]]:
        """Report the failures; yields each, and whether its task was set aside for it.

        What does not arrive waits for the next call.
        """
        while self._failures and self._patience.due:
            failure = self._failures[0]
            try:
                is_set_aside = self._patience.ask(partial(self._tell, failure))
            except Away:
                return
            self._failures.popleft()
            yield failure, is_set_aside

    def send(self, at_once: bool = False) -> Iterator[tuple[Delivery, Receipt]]:
        """Send the results, when it is time to; yields what became of each that arrived.

        Args:
            at_once: whether or not it is time.
        """
        if not (self._sending.due or at_once) or self._info is None:
            return
        waiting = self._waiting()
        for start in range(0, len(waiting), MAX_AT_ONCE):
            batch = waiting[start : start + MAX_AT_ONCE]
            try:
                receipts = self._patience.ask(partial(deliver_each, self._campaign, batch))
            except Away:
                self.unsettled()
                self._keep()
                return
            except LangfordError:
                self._keep()
                raise
            yield from self.settle(batch, receipts)

    def riding(self) -> list[Delivery]:
        """The results that may go along with a request for tasks; none if many wait, or the last ones failed."""
        waiting = self._waiting() if self._campaign.transport.is_remote and not self._failing else []
        return waiting if len(waiting) <= MAX_RIDING else []

    def unsettled(self) -> None:
        """Note that results had no answer: until others have one, none go along with another request."""
        self._failing = True
        self._sending.failed()

    def settle(
        self, deliveries: Sequence[Delivery], receipts: Sequence[Receipt]
    ) -> Iterator[tuple[Delivery, Receipt]]:
        """Take the receipts of results; yields what became of each.

        Args:
            deliveries: of one request.
            receipts: in the same order.
        """
        self._failing = False
        self._sending.succeeded()
        for delivery, receipt in zip(deliveries, receipts, strict=True):
            self._settle(delivery, receipt)
            yield delivery, receipt

    def close(self) -> None:
        """End, and say what becomes of results that still wait."""
        folder = self._outbox and self._outbox.folder
        kept = f"kept in {folder} for the next worker of this campaign on this machine"
        held = len(self._held)
        for count, fate in ((held, "lost, and will be computed again"), (self.count - held, kept)):
            if count and self._info is not None:
                self._console.say(f"{several(count, 'result is', 'results are')} {fate}")
        if self._outbox is not None:
            self._outbox.close()

    def _tell(self, failure: FailedTask) -> bool:
        attempt = failure.lease.attempt
        computed = NO_SECONDS if failure.computed is None else {attempt: failure.computed}
        with suppress(RequestRefused):  # it would be refused again
            return attempt in self._campaign.end([failure.lease], failure.outcome, failure.reason, computed)
        return False

    def _waiting(self) -> list[Delivery]:
        kept = self._outbox.waiting() if self._outbox is not None and self._outbox.is_open else []
        return [*self._held.values(), *kept]

    def _keep(self) -> None:
        if self._outbox is None or not self._held:
            return
        try:
            if not self._outbox.is_open and self._info is not None:
                self._outbox.open(self._info)
        except LangfordError as error:
            self._console.say(str(error))
            return
        self._held = {key: delivery for key, delivery in self._held.items() if not self._outbox.put(delivery)}

    def _settle(self, delivery: Delivery, receipt: Receipt) -> None:
        is_held = self._held.pop((delivery.attempt, delivery.nonce), None) is not None
        reason = f"{self._campaign.transport.whom} refuses it: {receipt.detail}"
        if is_held and receipt.event is EventKind.REFUSED:
            self._console.say(f"the result of task {delivery.index} is not accepted: {reason}")
        elif self._outbox is not None and not is_held:
            if receipt.event is EventKind.REFUSED:
                self._outbox.refuse(delivery, reason)
            else:
                self._outbox.remove(delivery)
        if receipt.event is EventKind.CONFLICT:
            self._console.say(f"task {delivery.index}: its result is {receipt.event}")


def deliver_each(campaign: Campaign, deliveries: Sequence[Delivery]) -> list[Receipt]:
    """Deliver results; a refused request is sent again in halves, until each bad result is refused alone.

    Args:
        campaign: raises RequestRefused for a request that has a bad result.
        deliveries: their receipts are in the same order.
    """
    try:
        return campaign.deliver(deliveries)
    except RequestRefused as error:
        if len(deliveries) == 1:
            return [Receipt.of(EventKind.REFUSED, str(error))]
    half = len(deliveries) // 2
    return [*deliver_each(campaign, deliveries[:half]), *deliver_each(campaign, deliveries[half:])]
