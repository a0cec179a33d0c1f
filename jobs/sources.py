"""Sources of tasks: a run leases tasks from one and delivers the results to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from db import Campaign, Delivery, Lease, Ledger, Receipt
from db.states import Outcome, TaskState
from jobs.effort import LEASE_SECONDS
from jobs.identity import Identity, is_dead
from langford.methods import PlanKey

RESULT_SECONDS = 0.2


class TaskSource(Protocol):
    """Tasks of one campaign, leased to one worker.

    A run asks for :attr:`ready` until it is true, and for everything else only after that.

    Attributes:
        wait_seconds: how long a run waits for results before it calls :meth:`attend` and looks for signals;
            a result ends the wait.
    """

    wait_seconds: float

    @property
    def tasks_done(self) -> int:
        """Number of tasks of the campaign that are done, as far as the source knows."""
        ...

    @property
    def work_done(self) -> float:
        """Work of these tasks."""
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

    def useful(self, workers: int) -> int:
        """How many workers can find work, at most ``workers``; 0 when nothing is left to do."""
        ...

    def lease(self, count: int, held: Collection[Lease]) -> list[Lease]:
        """Lease up to ``count`` tasks; none when there is none now, or when it is too early to ask.

        ``held``: all leases that the run has; others in its name go back at once.
        """
        ...

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Take results; when this returns, the source is responsible for them."""
        ...

    def fail(self, lease: Lease, reason: str) -> None:
        """Note that the task itself failed."""
        ...

    def release(self, leases: Collection[Lease], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished."""
        ...

    def attend(self, leases: Collection[Lease]) -> None:
        """Renew the leases that the run has, and send waiting results, when it is time to."""
        ...

    def close(self) -> None:
        """End the run: send the results that still wait, if any.  Called even when it never was ready."""
        ...


class LedgerTasks:
    """The tasks of a campaign in a ledger that this process opens itself.

    A run ends when other workers hold all remaining tasks.

    Attributes:
        wait_seconds: see :class:`TaskSource`.
        tasks_done: number of tasks that were done at the start, and of those that this worker added.
        work_done: work of these tasks.
        exhausted: whether the last attempt to lease tasks gave none.
    """

    wait_seconds = RESULT_SECONDS

    def __init__(
        self,
        ledger: Ledger,
        campaign: Campaign,
        identity: Identity,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        """
        Args:
            ledger: where the worker is enrolled.
            campaign: a campaign of this ledger.
            identity: of the worker that holds the leases.
            say: called with remarks for the user.
        """
        self._campaign, self._identity, self._say = campaign, identity, say
        self._renewed = time.monotonic()
        self._release_the_dead()
        progress = campaign.progress()
        self.tasks_done = progress.tasks.get(TaskState.DONE, 0)
        self.work_done = progress.work.get(TaskState.DONE, 0.0)
        self._ready_tasks = progress.tasks.get(TaskState.READY, 0) + progress.rechecks
        self._to_do = progress.to_do
        self.exhausted = False
        if self._to_do:
            me = identity
            ledger.enrol(me.worker_id, me.host, me.process, me.device_kind, me.kernels)

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign."""
        return self._campaign.key

    @property
    def ready(self) -> bool:
        """Always true: the ledger is open."""
        return True

    @property
    def set_aside(self) -> int:
        """Number of tasks that failed too often."""
        return self._campaign.standing().tasks.get(TaskState.SET_ASIDE, 0)

    def useful(self, workers: int) -> int:
        """At most one worker per ready task; one when others hold all tasks, in case they give one back."""
        return min(workers, max(1, self._ready_tasks)) if self._to_do else 0

    def lease(self, count: int, held: Collection[Lease]) -> list[Lease]:
        """Lease up to ``count`` tasks; when there is none the run may end."""
        attempts = [lease.attempt for lease in held]
        leases = self._campaign.lease(self._identity.worker_id, count, LEASE_SECONDS, attempts)
        self.exhausted = not leases
        return leases

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Commit results, all in one transaction."""
        receipts = self._campaign.deliver([delivery for _, delivery in finished])
        for (lease, _), receipt in zip(finished, receipts, strict=True):
            if receipt.event is None:
                self.tasks_done += 1
                self.work_done += lease.work
            else:
                self._say(remark(lease.index, receipt))

    def fail(self, lease: Lease, reason: str) -> None:
        """Note that the task itself failed; after some failures it is set aside."""
        consequence = "is set aside" if self._campaign.fail(lease, reason) else "will be tried again"
        self._say(f"task {lease.index} failed and {consequence}: {reason}")

    def release(self, leases: Collection[Lease], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished."""
        self._campaign.release(leases, outcome, note)

    def attend(self, leases: Collection[Lease]) -> None:
        """Renew the leases when a quarter of their time has passed."""
        if time.monotonic() - self._renewed > LEASE_SECONDS / 4:
            self._renewed = time.monotonic()
            self._campaign.renew(leases, LEASE_SECONDS)

    def close(self) -> None:
        """Nothing to do: every result is in the ledger."""

    def _release_the_dead(self) -> None:
        """Expire the leases of processes of this host that no longer exist."""
        for holder in self._campaign.lease_holders():
            if is_dead(holder.host, holder.process):
                self._campaign.release_worker(holder.worker_id, "its process is gone")


def remark(index: int, receipt: Receipt) -> str:
    """A remark for the user on a result that is not the first one of its task."""
    return f"task {index}: its result is {receipt.event}"
