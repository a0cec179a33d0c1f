"""A campaign, however it is reached: what its workers and operators ask of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from db import Credential, Delivery, Lease, Receipt
from db.identity import Identity
from db.look.overview.records import Overview
from db.records import NO_STEPS, CampaignInfo, Transport
from db.states import Ending, Outcome


class Campaign(Protocol):
    """One campaign.  Every method raises Away when there is no answer now, and may be repeated."""

    @property
    def name(self) -> str: ...

    transport: Transport

    def info(self) -> CampaignInfo:
        """The campaign and its progress."""

    def expire_the_dead(self) -> None:
        """End the leases of workers that are known to be dead, which nobody knows of a remote campaign."""

    def overview(self, timeline: bool = True) -> Overview:
        """Its speed, time left, workers and warnings; ``timeline``: false: it may be left out."""

    def enrol(self, identity: Identity) -> float | None:
        """Register a worker; returns seconds per unit of work of the slowest of others like it, None: unknown."""

    def leave(self, worker_id: str, ending: Ending) -> None:
        """Record how the work of a worker ended."""

    def lease(
        self, worker_id: str, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> list[Lease]:
        """Lease tasks, see :meth:`db.Campaign.lease`; raises UnknownWorker."""

    def renew(
        self, credentials: Collection[Credential], seconds: float, steps: Mapping[int, int] = NO_STEPS
    ) -> set[int]:
        """Move deadlines to ``seconds`` from now; returns the attempts that still run.

        ``steps``: the number of steps that some attempts have done, by attempt.
        """

    def release(self, credentials: Collection[Credential], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished."""

    def fail(self, credential: Credential, reason: str) -> bool:
        """Record that the task itself failed; returns whether it was set aside."""

    def die(self, credential: Credential, reason: str) -> bool:
        """Record that the process that evaluated a task died; returns whether the task was set aside."""

    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Deliver results; returns what became of each.  Raises RequestRefused."""

    def exchange(
        self,
        deliveries: Sequence[Delivery],
        worker_id: str,
        count: int,
        seconds: float,
        held: Collection[int],
        copies: int = 0,
    ) -> tuple[list[Receipt], list[Lease]]:
        """Deliver results and lease tasks, at once where that can be; raises as both."""
