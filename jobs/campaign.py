"""Work off a campaign with the cores of this machine.

The process that runs a campaign leases tasks, feeds its worker pool and commits every
result before it counts.  It can be killed at any moment: what was committed is safe, its
leases are released by the next run on this host, or expire.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from db import Campaign, Delivery, Lease, Ledger
from db.errors import LedgerError
from db.states import Outcome, TaskState
from jobs.effort import LEASE_SECONDS, Effort
from jobs.identity import Identity, is_dead
from jobs.pool import Died, Failed, Finished, Pool, WorkerPool
from langford.devices import Device
from langford.methods import Count, PlanKey, merge

HEARTBEAT_SECONDS = LEASE_SECONDS / 4


@dataclass(frozen=True)
class Step:
    """What a run tells while it works: totals over the campaign, and this run's share."""

    tasks_done: int
    work_done: float
    work_here: float
    seconds_here: float
    message: str | None = None


@dataclass(frozen=True)
class RunReport:
    """How a run ended: ``stopped`` is why it did before the end, ``set_aside`` the tasks
    that failed too often."""

    tasks_here: int
    seconds: float
    stopped: str | None
    set_aside: int


def result(campaign: Campaign) -> Count:
    """Merge a campaign's results; raises Incomplete, ConflictingResults or CheckFailed."""
    return merge(campaign.plan, campaign.results())


class CampaignRun:
    """One run of a campaign by this process."""

    def __init__(
        self,
        ledger: Ledger,
        campaign: Campaign,
        devices: Sequence[Device],
        tell: Callable[[Step], None] = lambda step: None,
        stop_reason: Callable[[], str | None] = lambda: None,
        time_limit: float | None = None,
        pool_of: Callable[[PlanKey, Sequence[Device]], Pool] = WorkerPool,
    ) -> None:
        """
        Args:
            devices: one worker process for each of them.
            tell: called after every commit.
            stop_reason: asked often; a string stops the run at once ("SIGTERM").
            time_limit: seconds; no task starts that would probably not end before.
            pool_of: makes the pool of workers, one per device.
        """
        self._ledger, self._campaign, self._devices = ledger, campaign, devices
        self._tell, self._stop_reason, self._time_limit = tell, stop_reason, time_limit
        self._pool_of = pool_of
        self._identity = Identity.fresh(devices)
        self._stock: list[Lease] = []
        self._leases: dict[int, Lease] = {}

    def run(self) -> RunReport:
        """Work until the campaign is done, or a reason to stop comes up."""
        self._effort = Effort(self._time_limit)
        self._renewed = time.monotonic()
        self._release_the_dead()
        progress = self._campaign.progress()
        self._tasks_done = progress.tasks.get(TaskState.DONE, 0)
        self._work_done = progress.work.get(TaskState.DONE, 0.0)
        self._tell(self._step())
        stopped = None
        if not progress.unfinished + progress.rechecks:
            return self._report(None)
        me = self._identity
        self._ledger.enrol(me.worker, me.host, me.process, me.device_kind)
        useful = max(1, progress.tasks.get(TaskState.READY, 0) + progress.rechecks)
        pool = self._pool_of(self._campaign.key, self._devices[:useful])
        try:
            stopped = self._work(pool)
        except BaseException:
            pool.stop()
            # A ledger that failed will hardly take this either; the leases expire then.
            with suppress(LedgerError):
                self._give_back(Outcome.RELEASED, "the run ended with an error")
            raise
        pool.stop()
        self._give_back(Outcome.PREEMPTED if stopped == "SIGTERM" else Outcome.RELEASED, stopped)
        return self._report(stopped)

    def _work(self, pool: Pool) -> str | None:
        """The loop; returns why it stopped early, None when nothing is left to do here."""
        draining = None
        while True:
            stopped = self._stop_reason()
            if stopped:
                self._handle(list(pool.poll(0)))
                return stopped
            draining = draining or self._effort.out_of_time()
            if not draining:
                self._feed(pool)
            if not pool.in_flight:
                return draining
            # A short wait keeps signals responsive; results end it at once.
            self._handle(list(pool.poll(0.2)))
            if time.monotonic() - self._renewed > HEARTBEAT_SECONDS:
                self._renewed = time.monotonic()
                self._campaign.renew(self._leases, LEASE_SECONDS)

    def _feed(self, pool: Pool) -> None:
        if not self._stock and pool.idle_slots:
            self._stock = self._campaign.lease(
                self._identity.worker, self._effort.batch(pool.idle_slots), LEASE_SECONDS
            )
            self._leases.update({lease.attempt: lease for lease in self._stock})
        while self._stock and pool.idle_slots:
            lease = self._stock.pop(0)
            pool.submit(lease.attempt, lease.index)

    def _handle(self, messages: list[Finished | Failed | Died]) -> None:
        finished = [message for message in messages if isinstance(message, Finished)]
        if finished:
            self._accept(finished)
        for message in messages:
            if isinstance(message, Failed):
                lease = self._leases.pop(message.token)
                aside = self._campaign.fail(lease.attempt, message.reason)
                fate = "is set aside" if aside else "will be tried again"
                self._say(f"task {lease.index} failed and {fate}: {message.reason}")
            elif isinstance(message, Died):
                self._bury(message)

    def _accept(self, finished: list[Finished]) -> None:
        leases = [self._leases.pop(message.token) for message in finished]
        deliveries = [Delivery(message.token, message.evaluation) for message in finished]
        events = self._campaign.deliver(deliveries)
        for lease, delivery, event in zip(leases, deliveries, events, strict=True):
            self._effort.finished(lease.work, delivery.evaluation.seconds)
            if event is None:
                self._tasks_done += 1
                self._work_done += lease.work
            else:
                self._say(f"task {lease.index}: its result is {event}")
        self._tell(self._step())

    def _bury(self, message: Died) -> None:
        """A worker died: its tasks go back to the queue, unharmed by that."""
        self._campaign.release(message.tokens, Outcome.PREEMPTED, message.reason)
        for token in message.tokens:
            del self._leases[token]
        self._say(f"{message.reason}; its tasks go back to the queue")
        self._effort.died(message.reason)

    def _say(self, message: str) -> None:
        self._tell(self._step(message))

    def _release_the_dead(self) -> None:
        """Leases of processes of this host that no longer exist."""
        for holder in self._campaign.lease_holders():
            if is_dead(holder.host, holder.process):
                self._campaign.release_worker(holder.worker, "its process is gone")

    def _give_back(self, outcome: Outcome, note: str | None) -> None:
        if self._leases:
            self._campaign.release(self._leases, outcome, note)

    def _step(self, message: str | None = None) -> Step:
        return Step(self._tasks_done, self._work_done, self._effort.work, self._effort.seconds, message)

    def _report(self, stopped: str | None) -> RunReport:
        set_aside = self._campaign.progress().tasks.get(TaskState.SET_ASIDE, 0)
        return RunReport(self._effort.tasks, self._effort.seconds, stopped, set_aside)
