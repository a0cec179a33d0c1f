"""Sources of tasks: a run leases tasks from one and delivers the results to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from db import Delivery, Lease, Receipt
from db.errors import LedgerError
from db.states import Ending, Outcome, TaskState
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from jobs.reach.calls import GivenUp, PatientCalls
from jobs.reach.identity import Identity, is_dead
from jobs.run.effort import LEASE_SECONDS
from jobs.run.last_overview import LastOverview
from jobs.run.tally import Tally
from langford.methods import PlanKey

if TYPE_CHECKING:
    from db import Campaign, Ledger
    from db.look.overview import Overview

RESULT_SECONDS = 0.2
OVERVIEW_SECONDS = 10.0
"""Longest time between two looks at the whole campaign."""


class TaskSource(Protocol):
    """Tasks of one campaign, leased to one worker.

    A run asks for :attr:`ready` until it is true, and for everything else only after that.

    Attributes:
        wait_seconds: how long a run waits for results before it calls :meth:`attend` and looks for signals;
            a result ends the wait.
        pace: seconds per unit of work at the slowest speed that was seen on this kind of device, when the worker
            enrolled; None: none was seen, or it has not enrolled.
        tally: how far the campaign is, as far as the source knows.
    """

    wait_seconds: float
    pace: float | None
    tally: Tally

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the campaign is done, as far as the source knows; None: it does not."""
        ...

    @property
    def set_aside(self) -> int:
        """Number of tasks that failed too often, as far as the source knows; 0 when it never was ready."""
        ...

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign."""
        ...

    @property
    def ready(self) -> bool:
        """Whether the campaign is known."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether a run that holds no task should end, because it will get no more."""
        ...

    @property
    def finished(self) -> bool:
        """Whether no task is ready and no worker holds one, as far as the source knows."""
        ...

    def useful(self, workers: int) -> int:
        """How many workers can find work, at most ``workers``; 0 when nothing is left to do."""
        ...

    def lease(self, count: int, held: Collection[Lease], idle: int = 0) -> list[Lease]:
        """Lease up to ``count`` tasks; none when there is none now, or when it is too early to ask.

        Args:
            count: how many at most.
            held: all leases that the run has; others in its name go back at once.
            idle: how many of its workers have nothing to do: when no task is ready they get copies of tasks that
                others hold.
        """
        ...

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Take results; when this returns, the source is responsible for them."""
        ...

    def fail(self, lease: Lease, reason: str) -> None:
        """Note that the task itself failed."""
        ...

    def die(self, lease: Lease, reason: str) -> bool:
        """Note that the process died that evaluated a task; returns whether the task was set aside for that."""
        ...

    def release(self, leases: Collection[Lease], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished."""
        ...

    def attend(self, leases: Collection[Lease], steps: Mapping[int, int]) -> None:
        """Renew the leases that the run has, and send waiting results, when it is time to.

        ``steps``: how far the tasks are that are evaluated now, by attempt.
        """
        ...

    def close(self, ending: Ending) -> None:
        """End the run: send the results that still wait, if any, and report how it ended.

        Called even when it never was ready.
        """
        ...


class LedgerTasks:
    """The tasks of a campaign in a ledger that this process opens itself.

    A run ends when other workers hold all remaining tasks.

    Attributes:
        wait_seconds: see :class:`TaskSource`.
        tally: see :class:`TaskSource`.
        exhausted: whether the last attempt to lease tasks gave none.
        pace: see :class:`TaskSource`.
    """

    wait_seconds = RESULT_SECONDS

    def __init__(
        self,
        ledger: Ledger,
        campaign: Campaign,
        identity: Identity,
        console: Console = SILENT,
        clock: Clock = SYSTEM,
    ) -> None:
        """
        Args:
            ledger: where the worker is enrolled.
            campaign: a campaign of this ledger.
            identity: of the worker that holds the leases.
            console: gets remarks; when it asks to stop, the wait for a ledger that does not answer ends.
            clock: says when to renew leases, and when to ask again.

        From here on every method waits while the ledger is away, and raises GivenUp when it is to stop meanwhile.
        """
        self._ledger, self._campaign, self._identity, self._console = ledger, campaign, identity, console
        self._calls = PatientCalls(console, clock)
        self._clock, self._renewed = clock, clock.monotonic()
        self._calls.make(self._release_the_dead)
        progress = self._calls.make(campaign.progress)
        self.tally = Tally()
        self.tally.update(progress.tasks_done, progress.work_done)
        self._last_overview = LastOverview(self._overview, self.tally, OVERVIEW_SECONDS, clock)
        self._ready_tasks = progress.tasks.get(TaskState.READY, 0) + progress.rechecks
        self._to_do = progress.to_do
        self.exhausted = False
        self.pace: float | None = None
        if self._to_do:
            self._calls.make(lambda: ledger.enrol(*identity.enrolment, equipment=identity.equipment))
            self.pace = self._calls.make(lambda: campaign.pace(identity.device_kind))

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign."""
        return self._campaign.key

    @property
    def ready(self) -> bool:
        """Always true: the ledger is open."""
        return True

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the campaign is done; None: unknown."""
        return self._last_overview.seconds_left

    @property
    def set_aside(self) -> int:
        """Number of tasks that failed too often; 0 when the ledger is away and the run is to stop."""
        try:
            return self._calls.make(self._campaign.standing).tasks.get(TaskState.SET_ASIDE, 0)
        except GivenUp:
            return 0

    @property
    def finished(self) -> bool:
        """Whether no task is ready and no worker holds one."""
        return self.exhausted and not self._calls.make(self._campaign.standing).unfinished

    def useful(self, workers: int) -> int:
        """At most one worker per ready task; one when others hold all tasks, in case they give one back."""
        return min(workers, max(1, self._ready_tasks)) if self._to_do else 0

    def lease(self, count: int, held: Collection[Lease], idle: int = 0) -> list[Lease]:
        """Lease up to ``count`` tasks; when there is none the run may end."""
        attempts, worker_id = [lease.attempt for lease in held], self._identity.worker_id
        leases = self._calls.make(
            lambda: self._campaign.lease(worker_id, count, LEASE_SECONDS, attempts, copies=idle)
        )
        self.exhausted = not leases
        return leases

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Commit results, all in one transaction."""
        deliveries = [delivery for _, delivery in finished]
        receipts = self._calls.make(lambda: self._campaign.deliver(deliveries))
        for (lease, _), receipt in zip(finished, receipts, strict=True):
            if receipt.event is None:
                self.tally.add(lease.work)
            else:
                self._console.say(remark(lease.index, receipt))

    def fail(self, lease: Lease, reason: str) -> None:
        """Note that the task itself failed; after some failures it is set aside."""
        is_set_aside = self._calls.make(lambda: self._campaign.fail(lease, reason))
        consequence = "is set aside" if is_set_aside else "will be tried again"
        self._console.say(f"task {lease.index} failed and {consequence}: {reason}")

    def die(self, lease: Lease, reason: str) -> bool:
        """Note that the process died that evaluated a task; after some deaths it is set aside."""
        is_set_aside = self._calls.make(lambda: self._campaign.die(lease, reason))
        if is_set_aside:
            self._console.say(deadly(lease.index))
        return is_set_aside

    def release(self, leases: Collection[Lease], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished."""
        given_back = list(leases)
        self._calls.make(lambda: self._campaign.release(given_back, outcome, note))

    def attend(self, leases: Collection[Lease], steps: Mapping[int, int]) -> None:
        """Renew the leases when a quarter of their time has passed, and look how far the campaign is."""
        if self._clock.monotonic() - self._renewed > LEASE_SECONDS / 4:
            self._renewed = self._clock.monotonic()
            renewed = list(leases)
            self._calls.make(lambda: self._campaign.renew(renewed, LEASE_SECONDS, steps))
        self._last_overview.refresh(self._campaign.work)

    def close(self, ending: Ending) -> None:
        """Note how the work ended, unless the ledger is away; every result is in it."""
        if self._to_do:
            me = self._identity.worker_id
            with suppress(LedgerError, GivenUp):
                self._calls.once(lambda: self._ledger.leave(me, ending))

    def _overview(self) -> Overview:
        return self._calls.once(lambda: self._campaign.overview(timeline=False))

    def _release_the_dead(self) -> None:
        """Expire the leases of processes of this host that no longer exist."""
        for holder in self._campaign.lease_holders():
            if is_dead(holder.host, holder.process):
                self._campaign.release_worker(holder.worker_id, "its process is gone")


def deadly(index: int) -> str:
    """A remark for the user on a task that was set aside because processes died on it."""
    return f"task {index} has ended too many worker processes and is set aside"


def remark(index: int, receipt: Receipt) -> str:
    """A remark for the user on a result that is not the first one of its task."""
    return f"task {index}: its result is {receipt.event}"
