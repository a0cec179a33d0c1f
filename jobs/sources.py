"""Where a run takes its tasks from, and where it delivers their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from db import Campaign, Delivery, Lease, Ledger
from db.states import EventKind, Outcome, TaskState
from jobs.effort import LEASE_SECONDS
from jobs.identity import Identity, is_dead
from langford.methods import PlanKey

RESULT_SECONDS = 0.2


class TaskSource(Protocol):
    """Tasks of one campaign, leased to one worker.

    Attributes:
        wait_seconds: how long a run may wait for results before it attends to the source and to signals;
            a result ends the wait.
    """

    wait_seconds: float

    @property
    def tasks_done(self) -> int:
        """Tasks of the campaign that are done, as far as is known."""
        ...

    @property
    def work_done(self) -> float:
        """Work of these tasks."""
        ...

    @property
    def set_aside(self) -> int:
        """Tasks of the campaign that failed too often, as far as is known."""
        ...

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign, once the source is ready."""
        ...

    @property
    def ready(self) -> bool:
        """Whether the campaign is known; asked until it is, before anything else."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether a run that holds no task should end: none will come for it."""
        ...

    def useful(self, workers: int) -> int:
        """How many of so many workers may find work; 0 when nothing is left to do."""
        ...

    def lease(self, count: int) -> list[Lease]:
        """Up to ``count`` tasks; none when there is none now, or when it is too early to ask."""
        ...

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Take results: from now on they are the source's to keep."""
        ...

    def fail(self, lease: Lease, reason: str) -> None:
        """The task itself failed."""
        ...

    def release(self, attempts: Collection[int], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished."""
        ...

    def attend(self, attempts: Collection[int]) -> None:
        """Do what is due: renew the leases of the attempts that run, deliver what waits."""
        ...

    def close(self) -> None:
        """The end of the run."""
        ...


class LedgerTasks:
    """The tasks of a campaign whose ledger this process uses itself; a run ends when others hold the rest."""

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
            identity: the worker that holds the leases.
            say: told what is worth knowing, in words.
        """
        self._campaign, self._identity, self._say = campaign, identity, say
        self._renewed = time.monotonic()
        self._release_the_dead()
        progress = campaign.progress()
        self.tasks_done = progress.tasks.get(TaskState.DONE, 0)
        self.work_done = progress.work.get(TaskState.DONE, 0.0)
        self._ready_tasks = progress.tasks.get(TaskState.READY, 0) + progress.rechecks
        self._unfinished = progress.unfinished + progress.rechecks
        self.exhausted = False
        if self._unfinished:
            ledger.enrol(identity.worker, identity.host, identity.process, identity.device_kind)

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign."""
        return self._campaign.key

    @property
    def ready(self) -> bool:
        """At once."""
        return True

    @property
    def set_aside(self) -> int:
        """Tasks that failed too often."""
        return self._campaign.standing().tasks.get(TaskState.SET_ASIDE, 0)

    def useful(self, workers: int) -> int:
        """No more workers than tasks; one where others hold all, in case they give one back."""
        return min(workers, max(1, self._ready_tasks)) if self._unfinished else 0

    def lease(self, count: int) -> list[Lease]:
        """Up to ``count`` tasks; when there is none the run may end."""
        leases = self._campaign.lease(self._identity.worker, count, LEASE_SECONDS)
        self.exhausted = not leases
        return leases

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Commit results, all in one transaction."""
        events = self._campaign.deliver([delivery for _, delivery in finished])
        for (lease, _), event in zip(finished, events, strict=True):
            if event is None:
                self.tasks_done += 1
                self.work_done += lease.work
            else:
                self._say(remark(lease.index, event))

    def fail(self, lease: Lease, reason: str) -> None:
        """The task itself failed; after some failures it is set aside."""
        fate = "is set aside" if self._campaign.fail(lease.attempt, reason) else "will be tried again"
        self._say(f"task {lease.index} failed and {fate}: {reason}")

    def release(self, attempts: Collection[int], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished."""
        self._campaign.release(attempts, outcome, note)

    def attend(self, attempts: Collection[int]) -> None:
        """Renew the leases when a quarter of their time is over."""
        if time.monotonic() - self._renewed > LEASE_SECONDS / 4:
            self._renewed = time.monotonic()
            self._campaign.renew(attempts, LEASE_SECONDS)

    def close(self) -> None:
        """Nothing is left to be done."""

    def _release_the_dead(self) -> None:
        """Leases of processes of this host that no longer exist."""
        for holder in self._campaign.lease_holders():
            if is_dead(holder.host, holder.process):
                self._campaign.release_worker(holder.worker, "its process is gone")


def remark(index: int, event: EventKind) -> str:
    """What became of a result that is not the task's first, in words."""
    return f"task {index}: its result is {event}"
