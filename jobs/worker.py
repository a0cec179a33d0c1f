"""A worker of a task server: leases, evaluates, keeps results in its outbox until they have arrived.

The server may be away, restart, or forget this worker's leases: work goes on with the tasks at hand, and
their results are delivered when it is back; a late result counts or confirms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from db import Delivery, Lease
from db.states import EventKind, Outcome, TaskState
from jobs.campaign import RunReport
from jobs.client import Backoff, RemoteCampaign, ServerAway
from jobs.effort import LEASE_SECONDS, Effort
from jobs.identity import Identity
from jobs.outbox import Outbox
from jobs.pool import Died, Failed, Finished, WorkerPool
from jobs.wire import MOST_AT_ONCE, CampaignInfo
from langford.devices import Device

WAIT_SECONDS = 0.5
"""For results, which end the wait at once; signals and the return of the server are noticed after it."""
IDLE_SECONDS, LONGEST_IDLE_SECONDS = 5.0, 60.0
"""Between questions for work while other workers hold all of it: longer and longer, for there may be
thousands who ask."""


class RemoteRun:
    """One start of a worker on this machine's devices."""

    def __init__(
        self,
        server: RemoteCampaign,
        outbox: Outbox,
        devices: Sequence[Device],
        say: Callable[[str], None] = lambda message: None,
        stop_reason: Callable[[], str | None] = lambda: None,
        time_limit: float | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """
        Args:
            devices: one worker process for each of them.
            say: told what is worth knowing, in words.
            stop_reason: asked often; a string stops the run at once ("SIGTERM").
            time_limit: seconds; no task starts that would probably not end before.
            lease_seconds: how long a lease lasts after the last sign of life.
        """
        self._lease_seconds = lease_seconds
        self._server, self._outbox, self._devices = server, outbox, devices
        self._say, self._stop_reason, self._time_limit = say, stop_reason, time_limit
        self._identity = Identity.fresh(devices)
        self._asking, self._sending = Backoff(), Backoff()
        self._idling = IDLE_SECONDS
        self._stock: list[Lease] = []
        self._leases: dict[int, Lease] = {}
        self._unkept: list[Delivery] = []
        self._info: CampaignInfo | None = None
        self._enrolled = False
        self._served = True
        self._away = False

    def run(self) -> RunReport:
        """Work until the campaign is done or a reason to stop comes up.

        Raises ServerRefuses when the server will have nothing of this worker.
        """
        self._effort = Effort(self._time_limit)
        self._renewed = time.monotonic()
        stopped = self._await_server()
        info = self._info
        if stopped is None and info is not None and (info.standing.unfinished or info.rechecks):
            pool = WorkerPool(info.key, self._devices)
            try:
                stopped = self._work(pool)
            finally:
                pool.stop()
                self._give_back(Outcome.PREEMPTED if stopped == "SIGTERM" else Outcome.RELEASED, stopped or "end")
        self._flush(at_once=True)
        set_aside = self._info.standing.tasks.get(TaskState.SET_ASIDE, 0) if self._info else 0
        return RunReport(self._effort.tasks, self._effort.seconds, stopped, set_aside)

    def _await_server(self) -> str | None:
        """Get to know the campaign; returns why to stop before that."""
        while self._info is None:
            reason = self._stop_reason() or self._effort.out_of_time()
            if reason:
                return reason
            if self._asking.due:
                self._ask(self._look)
            else:
                time.sleep(0.05)
        return None

    def _work(self, pool: WorkerPool) -> str | None:
        draining = None
        while True:
            stopped = self._stop_reason()
            if stopped:
                self._handle(list(pool.poll(0)))
                return stopped
            draining = draining or self._effort.out_of_time()
            if not draining and pool.idle_slots and not self._stock and self._asking.due:
                self._ask(lambda: self._fetch(pool))
            while self._stock and pool.idle_slots and not draining:
                lease = self._stock.pop(0)
                pool.submit(lease.attempt, lease.index)
            if not pool.in_flight and (draining or self._nothing_left()):
                return draining
            self._handle(list(pool.poll(WAIT_SECONDS)))
            self._flush()
            if time.monotonic() - self._renewed > self._lease_seconds / 4:
                self._renewed = time.monotonic()
                self._ask(lambda: self._server.renew(self._leases, self._lease_seconds))

    def _nothing_left(self) -> bool:
        """Whether all tasks are done, and no recheck is for this worker."""
        info = self._info
        return info is not None and not info.standing.unfinished and not (info.rechecks and self._served)

    # -- talking to the server ----------------------------------------------------------------

    def _ask(self, question: Callable[[], object]) -> None:
        """Ask once; while the server is away the next question waits longer."""
        try:
            question()
        except ServerAway as error:
            self._asking.failed()
            if not self._away:
                self._say(f"{error}; work goes on, asking again")
            self._away = True
        else:
            if self._away:
                self._say("the server is back")
            self._away = False

    def _look(self) -> None:
        self._info = self._server.info()
        self._asking.succeeded()

    def _fetch(self, pool: WorkerPool) -> None:
        if not self._enrolled:
            self._server.enrol(self._identity)
            self._enrolled = True
        count = min(MOST_AT_ONCE, self._effort.batch(pool.idle_slots))
        self._stock = self._server.lease(self._identity.worker, count, self._lease_seconds)
        self._leases.update({lease.attempt: lease for lease in self._stock})
        self._asking.succeeded()
        self._served = bool(self._stock)
        if self._stock:
            self._idling = IDLE_SECONDS
        else:
            # Others hold the rest, or nothing is left; results of ours may still be on their way.
            self._flush(at_once=True)
            self._look()
            self._asking.pause(self._idling)
            self._idling = min(LONGEST_IDLE_SECONDS, 2 * self._idling)

    def _flush(self, at_once: bool = False) -> None:
        """Deliver what waits; what does not arrive stays in the outbox."""
        if not (self._sending.due or at_once):
            return
        waiting = [*self._unkept, *self._outbox.waiting()]
        for start in range(0, len(waiting), MOST_AT_ONCE):
            batch = waiting[start : start + MOST_AT_ONCE]
            try:
                events = self._server.deliver(batch)
            except ServerAway as error:
                self._sending.failed()
                if not self._away:
                    self._say(f"{error}; {len(waiting)} results wait in {self._outbox.folder}")
                self._away = True
                return
            self._sending.succeeded()
            for delivery, event in zip(batch, events, strict=True):
                self._outbox.remove(delivery)
                if event not in (None, EventKind.CONFIRMED):
                    self._say(f"task {delivery.evaluation.result.index}: its result is {event}")
            self._unkept = []
        if waiting and not self._leases:
            self._asking.succeeded()  # that may have been the last of all

    def _give_back(self, outcome: Outcome, note: str) -> None:
        if self._leases:
            self._ask(lambda: self._server.release(self._leases, outcome, note))

    # -- what the pool reports ----------------------------------------------------------------

    def _handle(self, messages: list[Finished | Failed | Died]) -> None:
        for message in messages:
            if isinstance(message, Finished):
                self._keep(message)
            elif isinstance(message, Failed):
                lease, reason = self._leases.pop(message.token), message.reason
                self._say(f"task {lease.index} failed: {reason}")
                self._ask(lambda lease=lease, reason=reason: self._server.fail(lease.attempt, reason))  # type: ignore[misc]
            else:
                self._bury(message)

    def _keep(self, message: Finished) -> None:
        delivery = Delivery(message.token, message.evaluation)
        try:
            self._outbox.put(delivery)
        except OSError as error:
            # Better in memory than nowhere: it is delivered as soon as the server answers.
            self._unkept.append(delivery)
            self._say(f"the outbox {self._outbox.folder} does not take results ({error.strerror}); make room")
        self._effort.finished(self._leases.pop(message.token).work, message.evaluation.seconds)

    def _bury(self, message: Died) -> None:
        tokens = list(message.tokens)
        for token in tokens:
            del self._leases[token]
        self._ask(lambda: self._server.release(tokens, Outcome.PREEMPTED, message.reason))
        self._say(f"{message.reason}; its tasks go back to the queue")
        self._effort.died(message.reason)
