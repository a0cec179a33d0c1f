"""The tasks of a campaign behind a task server, as a source for a run.

Results stay in the worker's outbox until the server has them.  While the server is away, the worker evaluates the
tasks that it holds and delivers their results later.  The server accepts a late result even when the lease has
expired: it is the first result of its task, or it confirms the first one.  A result that the server refuses is
moved to the quarantine, and the work goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress

from db import Delivery, Lease
from db.files.reading import agreed_plan
from db.states import Ending, EventKind, Outcome, TaskState
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from jobs.reach.backoff import Backoff
from jobs.reach.deaths import Deaths
from jobs.reach.identity import Identity
from jobs.reach.outbox import Outbox
from jobs.reach.parts import CampaignInfo
from jobs.reach.remote import (
    CampaignReplaced,
    NotEnrolled,
    RemoteCampaign,
    ServerAway,
    ServerRefuses,
)
from jobs.reach.wire import MOST_AT_ONCE
from jobs.run.effort import LEASE_SECONDS
from jobs.run.last_overview import LastOverview
from jobs.run.sources import deadly, remark
from jobs.run.tally import Tally
from langford.methods import PlanKey
from langford.words import several

OVERVIEW_SECONDS = 60.0
"""Longest time between two requests of a worker for the overview: hundreds of workers may ask."""
WAIT_SECONDS = 0.5
"""How long a run waits for a result before it checks for signals and whether the server is back."""
IDLE_SECONDS, LONGEST_IDLE_SECONDS = 5.0, 60.0
"""Shortest and longest time between two requests for work while other workers hold all tasks; it doubles each time,
because thousands of workers may ask."""


class ServerTasks:
    """The tasks of a campaign behind a server; a run waits while other workers hold all of them.

    Its description of the campaign is the one of the last request to the server.

    Attributes:
        wait_seconds: see :class:`jobs.run.sources.TaskSource`.
        pace: seconds per unit of work, see :class:`jobs.run.sources.TaskSource`; None before the worker is
            enrolled.
        tally: see :class:`jobs.run.sources.TaskSource`.
    """

    wait_seconds = WAIT_SECONDS

    def __init__(
        self,
        server: RemoteCampaign,
        outbox: Outbox,
        identity: Identity,
        console: Console = SILENT,
        lease_seconds: float = LEASE_SECONDS,
        clock: Clock = SYSTEM,
    ) -> None:
        """
        Args:
            server: the campaign on its server.
            outbox: keeps results until the server has them.
            identity: of the worker that holds the leases.
            console: gets remarks.
            lease_seconds: how long a lease lasts after its last renewal.
            clock: measures when to renew leases, and when to ask again.
        """
        self._server, self._outbox, self._identity = server, outbox, identity
        self._console, self._lease_seconds, self._clock = console, lease_seconds, clock
        self._asking, self._sending = Backoff(clock=clock), Backoff(clock=clock)
        self.tally = Tally()
        self._last_overview = LastOverview(server.overview, self.tally, OVERVIEW_SECONDS, clock)
        self._work: dict[int, float] = {}
        self._idling = IDLE_SECONDS
        self._renewed = self._clock.monotonic()
        self._info: CampaignInfo | None = None
        self._enrolled = False
        self._served = True
        self._away = False
        self._deaths = Deaths(server)
        self._holding = False
        self._replaced = False
        self.pace: float | None = None

    @property
    def ready(self) -> bool:
        """Whether the server has described the campaign; asks it when it is time to.

        Raises ServerRefuses, BadInput, or as :func:`db.files.reading.agreed_plan`.
        """
        if self._info is None and self._asking.due:
            self._ask(self._begin)
        return self._info is not None

    @property
    def key(self) -> PlanKey:
        """The plan of the campaign."""
        return self._known.key

    @property
    def total(self) -> tuple[int, float]:
        """Number of tasks of the campaign, and their work."""
        return self._known.tasks, self._known.work

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the campaign is done; None: unknown."""
        return self._last_overview.seconds_left

    @property
    def set_aside(self) -> int:
        """Number of tasks that failed too often; 0 before the server has answered."""
        return self._info.standing.tasks.get(TaskState.SET_ASIDE, 0) if self._info else 0

    @property
    def rechecks(self) -> int:
        """Number of results that wait for another voter; 0 before the server has answered."""
        return self._info.standing.rechecks if self._info else 0

    @property
    def exhausted(self) -> bool:
        """Whether no task is left, and no recheck that this worker may do.

        It is False while other workers evaluate results again: if these disagree, the vote of this worker may be
        needed.
        """
        standing = self._known.standing
        return not (standing.unfinished or standing.rechecking or (standing.rechecks and self._served))

    @property
    def finished(self) -> bool:
        """Whether no task is ready or leased."""
        return not self._known.standing.unfinished

    def useful(self, workers: int) -> int:
        """All workers, unless the campaign is done: other workers may give tasks back at any time."""
        return workers if self._known.standing.to_do else 0

    def lease(self, count: int, held: Collection[Lease], idle: int = 0) -> list[Lease]:
        """Lease up to ``count`` tasks; none while the server is away or has none."""
        if not self._asking.due:
            return []
        leases: list[Lease] = []
        self._ask(lambda: leases.extend(self._fetch(count, held, idle)))
        return leases

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Keep results in the outbox; :meth:`attend` sends them."""
        for lease, delivery in finished:
            self._work[lease.attempt] = lease.work
            self._outbox.put(delivery)

    def fail(self, lease: Lease, reason: str) -> None:
        """Report that the task itself failed."""
        self._console.say(f"task {lease.index} failed: {reason}")
        self._ask(lambda: self._server.fail(lease, reason))

    def die(self, lease: Lease, reason: str) -> bool:
        """Report that the process that evaluated a task died."""
        self._deaths.note(lease, reason)
        return self._report_deaths()

    def release(self, leases: Collection[Lease], outcome: Outcome, note: str | None) -> None:
        """Give tasks back unfinished; while the server is away, their leases expire instead."""
        self._ask(lambda: self._server.release(leases, outcome, note or "end"))

    def attend(self, leases: Collection[Lease], steps: Mapping[int, int]) -> None:
        """Send waiting results, and renew the leases when a quarter of their time has passed."""
        self._holding = bool(leases)
        self._flush()
        if self._deaths and self._asking.due:
            self._report_deaths()
        if self._clock.monotonic() - self._renewed > self._lease_seconds / 4:
            self._renewed = self._clock.monotonic()
            self._ask(lambda: self._server.renew(leases, self._lease_seconds, steps))
        if not self._away:
            self._last_overview.refresh(self._known.work)

    def close(self, ending: Ending) -> None:
        """Send waiting results once more, report how the work ended, and close the outbox and the connection."""
        if self._info is None and self._outbox.left_behind:
            self._ask(self._begin)
        if self._info is not None:
            self._flush(at_once=True)
        if self._enrolled:
            with suppress(ServerAway, ServerRefuses, CampaignReplaced):
                self._server.leave(self._identity.worker_id, Ending.REPLACED if self._replaced else ending)
        self._outbox.close()
        self._server.close()

    @property
    def _known(self) -> CampaignInfo:
        assert self._info is not None, "the source is not ready"
        return self._info

    def _report_deaths(self) -> bool:
        """Report which processes died, also while the server was away; returns whether a task was set aside."""
        set_aside: list[int] = []
        self._ask(lambda: set_aside.extend(self._deaths.report()))
        for index in set_aside:
            self._console.say(deadly(index))
        return bool(set_aside)

    def _ask(self, question: Callable[[], object]) -> None:
        """Send one request; each failure lengthens the wait before the next one."""
        try:
            question()
        except CampaignReplaced:
            self._replaced = True
            raise
        except ServerAway as error:
            self._asking.failed()
            self._is_away(f"{error}; the work goes on, and this worker asks again")
        else:
            if self._away:
                self._console.say("the server is back")
            self._away = False

    def _is_away(self, message: str) -> None:
        """Note that the server is away; the message is shown once until the server is back."""
        if not self._away:
            self._console.say(message)
        self._away = True

    def _begin(self) -> None:
        """Get the description of the campaign, and open the outbox for it."""
        info = self._server.info()
        agreed_plan(info.name, info.key, info.tasks)
        if info.kernels != self._identity.kernels:
            self._console.say(
                f"the code that computes here ({self._identity.kernels}) is not the server's ({info.kernels})"
            )
        self._outbox.open(info)
        self._take(info)
        self._asking.succeeded()

    def _look(self) -> None:
        self._take(self._server.info())
        self._asking.succeeded()

    def _take(self, info: CampaignInfo) -> None:
        self._info = info
        self.tally.update(info.standing.tasks_done, info.standing.work_done)

    def _fetch(self, count: int, held: Collection[Lease], idle: int) -> list[Lease]:
        if not self._enrolled:
            self.pace = self._server.enrol(self._identity)
            self._enrolled = True
        attempts = {lease.attempt for lease in held} | self._outbox.attempts
        try:
            leases = self._server.lease(
                self._identity.worker_id, min(MOST_AT_ONCE, count), self._lease_seconds, attempts, idle
            )
        except NotEnrolled:
            self._console.say("the server no longer knows this worker, as after a restored backup: it enrols again")
            self._enrolled = False
            self._asking.failed()
            return []
        self._asking.succeeded()
        self._served = bool(leases)
        if leases:
            self._idling = IDLE_SECONDS
        else:
            # Other workers hold the rest, or only results of this host are left that have not been sent yet.
            self._outbox.adopt()
            self._flush(at_once=True)
            self._look()
            self._asking.pause(self._idling)
            self._idling = min(LONGEST_IDLE_SECONDS, 2 * self._idling)
        return leases

    def _flush(self, at_once: bool = False) -> None:
        """Send waiting results; those that cannot be delivered stay in the outbox."""
        if not (self._sending.due or at_once):
            return
        waiting = self._outbox.waiting()
        for start in range(0, len(waiting), MOST_AT_ONCE):
            batch = waiting[start : start + MOST_AT_ONCE]
            try:
                receipts = self._server.deliver_each(batch)
            except ServerAway as error:
                self._sending.failed()
                self._is_away(
                    f"{error}; {several(len(waiting), 'result waits', 'results wait')} in {self._outbox.folder}"
                )
                return
            self._sending.succeeded()
            for delivery, receipt in zip(batch, receipts, strict=True):
                work = self._work.pop(delivery.attempt, None)
                if receipt.event is EventKind.REFUSED:
                    self._outbox.refuse(delivery, f"the server refuses it: {receipt.detail}")
                    continue
                self._outbox.remove(delivery)
                if receipt.event is None:
                    mean = self._known.work / self._known.tasks
                    self.tally.add(mean if work is None else work, here=work is not None)
                if receipt.event is EventKind.CONFLICT:
                    self._console.say(remark(delivery.index, receipt))
        if waiting and not self._holding:
            self._asking.succeeded()  # these may have been the campaign's last results: ask at once
