"""A campaign, however it is reached: what its workers and operators ask of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from db import Credential, Delivery, Lease, Receipt
from db.identity import Identity
from db.look.overview.records import Overview
from db.records import NO_SECONDS, NO_STEPS, CampaignInfo, Transport
from db.states import Ending, Outcome


class Campaign(Protocol):
    """One campaign.  Every method raises Away when there is no answer now, and may be repeated."""

    @property
    def name(self) -> str: ...

    transport: Transport

    def info(self) -> CampaignInfo:
        """The campaign and its progress."""

    def expire_the_dead(self) -> None:
        """End the leases of workers that are known to be dead; of a remote campaign none is known."""

    def overview(self) -> Overview:
        """Its speed, time left, workers and warnings."""

    def why(self, task: int | None = None) -> list[str]:
        """What a task waits for; of None: why each worker that is present has none.  Raises BadInput."""

    def enrol(
        self, identity: Identity, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> tuple[float | None, list[Lease]]:
        """Register a worker, and lease its first tasks; to register it again changes nothing.

        Returns the seconds per unit of work of the slowest of others like it (None: unknown), and the leases.

        Args:
            identity: the worker, with a UUID that no other has.
            count, seconds, held, copies: see :meth:`lease`.
        """

    def leave(self, worker_id: str, ending: Ending) -> None:
        """Record how the work of a worker ended.

        Args:
            worker_id: its UUID.
            ending: never that it was lost, which only the ledger can find.
        """

    def lease(
        self, worker_id: str, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> list[Lease]:
        """Lease tasks, see :meth:`db.WorkerCampaign.lease`; raises UnknownWorker: the worker has to enrol (again).

        Args:
            worker_id: the UUID of an enrolled worker.
            count: how many at most.
            seconds: until they expire unless they are renewed; the campaign may shorten it.
            held: the attempts that the worker knows of; what else it seems to hold goes back at once.
            copies: how many tasks at most that others hold, for devices that would be idle.
        """

    def renew(
        self,
        credentials: Collection[Credential],
        seconds: float,
        steps: Mapping[int, int] = NO_STEPS,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> set[int]:
        """Move deadlines; returns the attempts that still run.

        Args:
            credentials: of the attempts.
            seconds: from now to the new deadline.
            steps: how many steps some of the attempts have done, by attempt: a sign of life.
            computed: for how many seconds some of them were computed, by attempt; 0: it has not begun.
        """

    def end(
        self,
        credentials: Collection[Credential],
        outcome: Outcome,
        note: str | None,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> set[int]:
        """End attempts without a result; returns those whose tasks were set aside, after too many failures.

        Args:
            credentials: of the attempts.
            outcome: released or preempted, which counts as no failure; failed: the task did; died: its process did.
            note: why, for people; None: nothing to say.
            computed: see :meth:`renew`.
        """

    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Deliver results; returns what became of each, in their order.  Raises RequestRefused.

        Args:
            deliveries: of any number of tasks; to repeat one changes nothing.
        """

    def exchange(
        self,
        deliveries: Sequence[Delivery],
        worker_id: str,
        count: int,
        seconds: float,
        held: Collection[int],
        copies: int = 0,
    ) -> tuple[list[Receipt], list[Lease]]:
        """Deliver results and lease tasks, at once where that can be; raises as both.

        Args:
            deliveries: see :meth:`deliver`.
            worker_id, count, seconds, held, copies: see :meth:`lease`.
        """
