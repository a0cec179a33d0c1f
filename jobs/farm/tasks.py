"""The tasks of a campaign behind a task server, as a source for a run.

Results are kept in the worker's outbox until they have arrived.  The server may be away, restart, or forget
this worker's leases: work goes on with the tasks at hand, and their results are delivered when it is back; a
late result counts or confirms.
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
"""For results, which end the wait at once; signals and the return of the server are noticed after it."""
IDLE_SECONDS, LONGEST_IDLE_SECONDS = 5.0, 60.0
"""Between questions for work while other workers hold all of it: longer and longer, for there may be
thousands who ask."""


class ServerTasks:
    """The tasks of a server's campaign; a run waits while others hold the rest."""

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
            identity: the worker that holds the leases.
            say: told what is worth knowing, in words.
            lease_seconds: how long a lease lasts after the last sign of life.
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
        """Whether the server has told about the campaign; asks it when it is time to.  Raises ServerRefuses."""
        if self._info is None and self._asking.due:
            self._ask(self._look)
        return self._info is not None

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign."""
        return self._known.key

    @property
    def tasks_done(self) -> int:
        """When the server was last asked."""
        return self._known.standing.tasks.get(TaskState.DONE, 0)

    @property
    def work_done(self) -> float:
        """When the server was last asked."""
        return self._known.standing.work.get(TaskState.DONE, 0.0)

    @property
    def set_aside(self) -> int:
        """When the server was last asked; 0 before that."""
        return self._info.standing.tasks.get(TaskState.SET_ASIDE, 0) if self._info else 0

    @property
    def exhausted(self) -> bool:
        """Whether all tasks are done, and no recheck is for this worker."""
        info = self._known
        return not info.standing.unfinished and not (info.rechecks and self._served)

    def useful(self, workers: int) -> int:
        """All of them, unless the campaign is done: others may give tasks back at any time."""
        return workers if self._known.standing.unfinished or self._known.rechecks else 0

    def lease(self, count: int) -> list[Lease]:
        """Up to ``count`` tasks; none while the server is away or has none."""
        if not self._asking.due:
            return []
        leases: list[Lease] = []
        self._ask(lambda: leases.extend(self._fetch(count)))
        return leases

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Keep results in the outbox; :meth:`attend` sends them."""
        for _, delivery in finished:
            try:
                self._outbox.put(delivery)
            except OSError as error:
                # Better in memory than nowhere: it is delivered as soon as the server answers.
                self._unkept.append(delivery)
                self._say(f"the outbox {self._outbox.folder} does not take results ({error.strerror}); make room")

    def fail(self, lease: Lease, reason: str) -> None:
        """The task itself failed."""
        self._say(f"task {lease.index} failed: {reason}")
        self._ask(lambda: self._server.fail(lease.attempt, reason))

    def release(self, attempts: Collection[int], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished; when the server is away their leases expire."""
        self._ask(lambda: self._server.release(attempts, outcome, note or "end"))

    def attend(self, attempts: Collection[int]) -> None:
        """Deliver what waits, and renew the leases when a quarter of their time is over."""
        self._holding = bool(attempts)
        self._flush()
        if time.monotonic() - self._renewed > self._lease_seconds / 4:
            self._renewed = time.monotonic()
            self._ask(lambda: self._server.renew(attempts, self._lease_seconds))

    def close(self) -> None:
        """Deliver what waits, once more."""
        self._flush(at_once=True)

    @property
    def _known(self) -> CampaignInfo:
        assert self._info is not None, "the source is not ready"
        return self._info

    def _ask(self, question: Callable[[], object]) -> None:
        """Ask once; while the server is away the next question waits longer."""
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
        """Say it once, until the server is back."""
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
        leases = self._server.lease(self._identity.worker, min(MOST_AT_ONCE, count), self._lease_seconds)
        self._asking.succeeded()
        self._served = bool(leases)
        if leases:
            self._idling = IDLE_SECONDS
        else:
            # Others hold the rest, or nothing is left; results of ours may still be on their way.
            self._flush(at_once=True)
            self._look()
            self._asking.pause(self._idling)
            self._idling = min(LONGEST_IDLE_SECONDS, 2 * self._idling)
        return leases

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
                self._is_away(f"{error}; {len(waiting)} results wait in {self._outbox.folder}")
                return
            self._sending.succeeded()
            for delivery, event in zip(batch, events, strict=True):
                self._outbox.remove(delivery)
                if event not in (None, EventKind.CONFIRMED):
                    self._say(remark(delivery.evaluation.result.index, event))
            self._unkept = []
        if waiting and not self._holding:
            self._asking.succeeded()  # that may have been the last of all
