"""The tasks of a campaign behind a task server, as a source for a run.

Results stay in the worker's outbox until the server has them.  While the server is away, the worker goes on
with the tasks that it holds and delivers their results later.  The server accepts a late result even when the
lease has expired: it is the first one of its task, or it confirms the first one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

from db import Delivery, Lease
from db.states import EventKind, Outcome, TaskState
from jobs.effort import LEASE_SECONDS
from jobs.farm.client import Backoff, RemoteCampaign, ServerAway
from jobs.farm.outbox import Outbox
from jobs.farm.wire import MOST_AT_ONCE, CampaignInfo
from jobs.identity import Identity
from jobs.sources import remark
from langford.methods import PlanKey

WAIT_SECONDS = 0.5
"""How long a run waits for a result before it looks for signals and asks whether the server is back."""
IDLE_SECONDS, LONGEST_IDLE_SECONDS = 5.0, 60.0
"""First and longest time between two requests for work while other workers hold all tasks.  The time doubles,
because thousands of workers may ask."""


class ServerTasks:
    """The tasks of a campaign behind a server; a run waits while other workers hold all of them.

    What it knows of the campaign is from the last time that it asked the server.

    Attributes:
        wait_seconds: see :class:`jobs.sources.TaskSource`.
    """

    wait_seconds = WAIT_SECONDS

    def __init__(
        self,
        server: RemoteCampaign,
        outbox: Outbox,
        identity: Identity,
        say: Callable[[str], None] = lambda message: None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        """
        Args:
            server: the campaign on its server.
            outbox: keeps results until the server has them.
            identity: of the worker that holds the leases.
            say: called with remarks for the user.
            lease_seconds: how long a lease lasts after its last renewal.
        """
        self._server, self._outbox, self._identity = server, outbox, identity
        self._say, self._lease_seconds = say, lease_seconds
        self._asking, self._sending = Backoff(), Backoff()
        self._idling = IDLE_SECONDS
        self._renewed = time.monotonic()
        self._unkept: list[Delivery] = []
        self._info: CampaignInfo | None = None
        self._enrolled = False
        self._served = True
        self._away = False
        self._holding = False

    @property
    def ready(self) -> bool:
        """Whether the server has described the campaign; asks it when it is time to.  Raises ServerRefuses."""
        if self._info is None and self._asking.due:
            self._ask(self._look)
        return self._info is not None

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign."""
        return self._known.key

    @property
    def tasks_done(self) -> int:
        """Number of tasks that are done."""
        return self._known.standing.tasks.get(TaskState.DONE, 0)

    @property
    def work_done(self) -> float:
        """Work of these tasks."""
        return self._known.standing.work.get(TaskState.DONE, 0.0)

    @property
    def set_aside(self) -> int:
        """Number of tasks that failed too often; 0 when the server never answered."""
        return self._info.standing.tasks.get(TaskState.SET_ASIDE, 0) if self._info else 0

    @property
    def exhausted(self) -> bool:
        """Whether no task is left, and no recheck that this worker may do."""
        info = self._known
        return not info.standing.unfinished and not (info.rechecks and self._served)

    def useful(self, workers: int) -> int:
        """All workers, unless the campaign is done: others may give tasks back at any time."""
        return workers if self._known.standing.unfinished or self._known.rechecks else 0

    def lease(self, count: int) -> list[Lease]:
        """Lease up to ``count`` tasks; none while the server is away or has none."""
        if not self._asking.due:
            return []
        leases: list[Lease] = []
        self._ask(lambda: leases.extend(self._fetch(count)))
        return leases

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Keep results in the outbox, or in memory when its disk is full; :meth:`attend` sends them."""
        for _, delivery in finished:
            try:
                self._outbox.put(delivery)
            except OSError as error:
                # Memory does not survive this process, but the result is sent as soon as the server answers.
                self._unkept.append(delivery)
                self._say(f"the outbox {self._outbox.folder} does not take results ({error.strerror}); make room")

    def fail(self, lease: Lease, reason: str) -> None:
        """Note that the task itself failed."""
        self._say(f"task {lease.index} failed: {reason}")
        self._ask(lambda: self._server.fail(lease.attempt, reason))

    def release(self, attempts: Collection[int], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished; when the server is away their leases expire."""
        self._ask(lambda: self._server.release(attempts, outcome, note or "end"))

    def attend(self, attempts: Collection[int]) -> None:
        """Send waiting results, and renew the leases when a quarter of their time has passed."""
        self._holding = bool(attempts)
        self._flush()
        if time.monotonic() - self._renewed > self._lease_seconds / 4:
            self._renewed = time.monotonic()
            self._ask(lambda: self._server.renew(attempts, self._lease_seconds))

    def close(self) -> None:
        """Send waiting results once more."""
        self._flush(at_once=True)

    @property
    def _known(self) -> CampaignInfo:
        assert self._info is not None, "the source is not ready"
        return self._info

    def _ask(self, question: Callable[[], object]) -> None:
        """Send one request; each failure makes the wait before the next one longer."""
        try:
            question()
        except ServerAway as error:
            self._asking.failed()
            self._is_away(f"{error}; work goes on, asking again")
        else:
            if self._away:
                self._say("the server is back")
            self._away = False

    def _is_away(self, message: str) -> None:
        """Note that the server is away; the message is said once until it is back."""
        if not self._away:
            self._say(message)
        self._away = True

    def _look(self) -> None:
        self._info = self._server.info()
        self._asking.succeeded()

    def _fetch(self, count: int) -> list[Lease]:
        if not self._enrolled:
            self._server.enrol(self._identity)
            self._enrolled = True
        leases = self._server.lease(self._identity.worker_id, min(MOST_AT_ONCE, count), self._lease_seconds)
        self._asking.succeeded()
        self._served = bool(leases)
        if leases:
            self._idling = IDLE_SECONDS
        else:
            # Others hold the rest, or nothing is left but results of this worker that are not sent yet.
            self._flush(at_once=True)
            self._look()
            self._asking.pause(self._idling)
            self._idling = min(LONGEST_IDLE_SECONDS, 2 * self._idling)
        return leases

    def _flush(self, at_once: bool = False) -> None:
        """Send waiting results; those that do not arrive stay in the outbox, or in memory."""
        if not (self._sending.due or at_once):
            return
        waiting = [*self._unkept, *self._outbox.waiting()]
        for start in range(0, len(waiting), MOST_AT_ONCE):
            batch = waiting[start : start + MOST_AT_ONCE]
            try:
                events = self._server.deliver(batch)
            except ServerAway as error:
                self._sending.failed()
                self._is_away(f"{error}; {len(waiting)} results wait in {self._outbox.folder}")
                return
            self._sending.succeeded()
            for delivery, event in zip(batch, events, strict=True):
                self._outbox.remove(delivery)
                if event not in (None, EventKind.CONFIRMED):
                    self._say(remark(delivery.evaluation.result.index, event))
            # They come first in what waits; a later batch may hold more of them, and may not arrive.
            del self._unkept[: len(batch)]
        if waiting and not self._holding:
            self._asking.succeeded()  # these may have been the last results of the campaign: ask at once
