"""The tasks of a campaign, leased to one worker: a run takes them from here, and delivers their results here.

While the campaign is away, the worker evaluates the tasks that it holds and delivers their results later.  The
ledger accepts a late result even when the lease has expired: it is the first result of its task, or it confirms the
first one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import structs

from db import Delivery, Lease, Receipt
from db.errors import Away, UnknownWorker
from db.files.reading import agreed_plan
from db.identity import Identity
from db.records import NO_SECONDS, CampaignInfo
from db.states import Ending, Outcome, TaskState
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from jobs.reach.campaign import Campaign
from jobs.reach.outbox import Outbox
from jobs.reach.outgoing import FailedTask, Outgoing
from jobs.reach.patience import Backoff, Patience, Postponed
from jobs.reach.requests import RequestRefused, ServerRefuses
from jobs.reach.wire import MAX_AT_ONCE
from jobs.run.tally import LastOverview, Tally
from langford.errors import LangfordError
from langford.methods import PlanKey, method_hash
from langford.methods.speed import Speed
from langford.words import several

LEASE_SECONDS = 120
"""How long a lease lasts by default unless it is renewed."""
RENEWAL_SECONDS = 60.0
"""Maximum time between two renewals, however long leases are: a worker that is seen less often counts as late."""
T = TypeVar("T")


class TaskSource:
    """The tasks of a campaign.  A run asks for :attr:`ready` until it is true, and for all else only after that.

    What it knows of the campaign is the answer to its last question.

    Attributes:
        wait_seconds: how long a run waits for results before it calls :meth:`attend` and looks for signals;
            a result ends the wait.
        recorded: the slowest speed of the campaign's last results on this kind of device, when the worker enrolled;
            None: it had none, or the worker has not enrolled.
    """

    def __init__(
        self,
        campaign: Campaign,
        identity: Identity,
        outbox: Outbox | None = None,
        console: Console = SILENT,
        lease_seconds: float = LEASE_SECONDS,
        clock: Clock = SYSTEM,
    ) -> None:
        """
        Args:
            campaign: gives the tasks and takes the results; it may be away for any time.
            identity: the worker.
            outbox: where results wait while the campaign is away; None: in memory.
            console: gets the remarks.
            lease_seconds: how long a lease lasts that is not renewed.
            clock: measures.
        """
        self._campaign, self._identity, self._console = campaign, identity, console
        self._lease_seconds, self._clock, self._transport = lease_seconds, clock, campaign.transport
        self._patience = Patience(console, self._transport.whom, clock)
        self._outgoing = Outgoing(campaign, outbox, self._patience, console, clock)
        self._idling = Backoff(*self._transport.idle_seconds, clock=clock)
        self.wait_seconds, self.tally = self._transport.look_seconds, Tally()
        self._last_overview = LastOverview(
            lambda: campaign.overview(), self.tally, self._transport.overview_seconds, clock
        )
        self._work: dict[int, float] = {}
        self._renewed = clock.monotonic()
        self._info: CampaignInfo | None = None
        self._enrolled, self._served, self._holding = False, True, False
        self._refusal: ServerRefuses | None = None  # of all further requests, while tasks were held
        self.recorded: Speed | None = None

    @property
    def ready(self) -> bool:
        """Whether the campaign is known; asks when it is time to.

        Raises errors for which asking again is pointless, also as :func:`db.files.reading.agreed_plan`.
        """
        if self._info is None and self._patience.due:
            self._ask(self._begin)
        return self._info is not None

    @property
    def known(self) -> CampaignInfo:
        assert self._info is not None, "the source is not ready"
        return self._info

    @property
    def key(self) -> PlanKey:
        return self.known.key

    @property
    def seconds_left(self) -> float | None:
        """None: unknown, as while it is away."""
        return None if self._patience.is_away else self._last_overview.seconds_left

    @property
    def set_aside(self) -> int:
        """Number of tasks that failed too often; 0 when it never was ready."""
        return self._info.standing.tasks.get(TaskState.SET_ASIDE, 0) if self._info else 0

    @property
    def rechecks(self) -> int:
        """Number of results that wait for another voter; 0 when it never was ready."""
        return self._info.standing.rechecks if self._info else 0

    @property
    def waiting(self) -> int:
        """Number of results that the campaign does not have yet."""
        return self._outgoing.count

    @property
    def exhausted(self) -> bool:
        """Whether a run that holds no task should end, because it will get no more.

        A ledger has no more to give now, and all results have arrived.  For a remote campaign the run waits while
        others hold tasks, and while they evaluate results again: if these disagree, its vote may be needed.
        Raises the refusal of a server that the run has survived so far, to complete what it held.
        """
        if self._refusal is not None:
            raise self._refusal
        if not self._transport.is_remote:
            return not (self._served or self._outgoing.count)
        standing = self.known.standing
        return not (standing.unfinished or standing.rechecking or (standing.rechecks and self._served))

    @property
    def finished(self) -> bool:
        return not self.known.standing.unfinished

    def useful(self, workers: int) -> int:
        """How many workers can find work; 0 when nothing is left to do.

        All of them for a remote campaign: others may give tasks back at any time.  For a ledger one per ready task,
        and one when others hold all tasks.

        Args:
            workers: how many there are.
        """
        standing = self.known.standing
        ready = standing.tasks.get(TaskState.READY, 0) + standing.rechecks
        return min(workers, workers if self._transport.is_remote else max(1, ready)) if standing.to_do else 0

    def lease(self, count: int, held: Collection[Lease], idle: int = 0) -> list[Lease]:
        """Lease tasks; none when there is none now, or when it is too early to ask.

        Args:
            count: how many at most.
            held: all leases that the run has; others in its name go back at once.
            idle: how many of its workers have nothing to do: when no task is ready they get copies of tasks that
                others hold.
        """
        if not (self._patience.due and self._idling.due):
            return []
        return self._unless_refused(held, lambda: self._ask(lambda: self._fetch(count, held, idle))) or []

    def deliver(self, finished: Sequence[tuple[Lease, Delivery]]) -> None:
        """Take results; when this returns, the source is responsible for them.

        Args:
            finished: each with the lease of its task.
        """
        self._work |= {lease.attempt: lease.work for lease, _ in finished}
        self._outgoing.put([delivery for _, delivery in finished])
        if not self._transport.is_remote:
            self._send()

    def complain(self, lease: Lease, outcome: Outcome, reason: str, computed: float | None = None) -> bool:
        """Note that a task failed, or that its process died; returns whether a task was set aside for that.

        Args:
            lease: of the task.
            outcome: failed, or died.
            reason: for people.
            computed: for how many seconds it was evaluated; None: unknown.
        """
        self._outgoing.fail(FailedTask(lease, outcome, reason, computed))
        return self._report()

    def release(
        self,
        leases: Collection[Lease],
        outcome: Outcome,
        note: str | None,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> None:
        """Give tasks back unfinished; while the campaign is away, their leases expire instead.

        Args:
            leases: of the tasks.
            outcome, note, computed: see :meth:`jobs.reach.campaign.Campaign.end`.
        """
        given_back = list(leases)
        self._ask(lambda: self._campaign.end(given_back, outcome, note, computed))

    def attend(
        self, leases: Collection[Lease], steps: Mapping[int, int], computed: Mapping[int, float] = NO_SECONDS
    ) -> None:
        """Send what waits, renew the leases, and look at the campaign.

        Leases are renewed when a quarter of their time has passed, and at least every RENEWAL_SECONDS: a renewal
        states the steps, and for how long each task was computed.

        Args:
            leases: all that the run has.
            steps: how far the tasks are that are evaluated now, by attempt.
            computed: for how many seconds each was evaluated, by attempt, as far as that is known.
        """
        self._holding = bool(leases)
        self._unless_refused(leases, lambda: self._attend(leases, steps, computed))

    def _attend(self, leases: Collection[Lease], steps: Mapping[int, int], computed: Mapping[int, float]) -> None:
        self._send()
        self._report()
        if self._clock.monotonic() - self._renewed > min(self._lease_seconds / 4, RENEWAL_SECONDS):
            self._renewed = self._clock.monotonic()
            renewed = list(leases)
            self._ask(lambda: self._campaign.renew(renewed, self._lease_seconds, steps, computed))
        if not (self._patience.is_away or self._refusal):
            self._last_overview.refresh(self.known.work)

    def close(self, ending: Ending) -> None:
        """End the run: send what waits once more, and report how it ended.  Called even when it never was ready.

        Args:
            ending: how, as far as the run knows.
        """
        try:
            if self._info is None and self._outgoing.left_behind:
                self._ask(self._begin)
            self._send(at_once=True)
            if self._enrolled:
                with suppress(LangfordError):
                    if not self._transport.is_remote:
                        self._take(self._campaign.info())
                    self._campaign.leave(self._identity.worker_id, ending)
        finally:
            self._outgoing.close()

    def _unless_refused(self, held: Collection[Lease], request: Callable[[], T]) -> T | None:
        """The answer; None when the server refuses this worker from now on while the run holds tasks.

        They may have taken minutes: the run completes them, and the next worker delivers their results.
        """
        try:
            return request()
        except ServerRefuses as error:
            if not held:
                raise
            self._refusal = error
            tasks = several(len(held), "task")
            self._console.say(f"{error}; completing the {tasks} held here, whose results are kept")
            return None

    def _ask(self, question: Callable[[], T]) -> T | None:
        """None when there is no answer."""
        if self._refusal is not None:
            return None
        try:
            return self._patience.ask(question)
        except Away:
            return None

    def _begin(self) -> None:
        self._campaign.expire_the_dead()
        info = self._campaign.info()
        agreed_plan(info.name, info.key, info.tasks)
        kernels = method_hash(info.key.method)
        self._identity = structs.replace(self._identity, kernels=kernels)
        if info.kernels != kernels:
            self._console.say(f"the code that computes here ({kernels}) is not the server's ({info.kernels})")
        self._outgoing.open(info)
        self._take(info)

    def _take(self, info: CampaignInfo) -> None:
        self._info = info
        self.tally.update(info.standing.tasks_done, info.standing.work_done)

    def _fetch(self, count: int, held: Collection[Lease], idle: int) -> list[Lease]:
        attempts = {lease.attempt for lease in held} | self._outgoing.attempts
        asked = min(MAX_AT_ONCE, count), self._lease_seconds, attempts, idle
        try:
            leases = self._exchange(self._identity.worker_id, *asked) if self._enrolled else self._enrol(*asked)
        except UnknownWorker as error:
            self._console.say(f"{error}, as after a restored backup: this worker enrols again")
            self._enrolled = False
            self._idling.failed()
            return []
        except Postponed as error:
            self._patience.note_postponed(error)  # all other questions are answered
            self._idling.pause(2 * error.seconds)
            return []
        self._served = bool(leases)
        if leases:
            self._idling.succeeded()
        else:
            # Other workers hold the rest, or only results of this host are left that have not been sent yet.
            self._outgoing.adopt()
            self._send(at_once=True)
            self._take(self._campaign.info())
            self._idling.failed()
        return leases

    def _enrol(self, *request: Any) -> list[Lease]:
        """The first leases; the results that wait are delivered before, so that nobody gets their tasks."""
        self._send(at_once=True)
        slowest, leases = self._campaign.enrol(self._identity, *request)
        self.recorded = None if slowest is None else Speed(slowest)
        self._enrolled = True
        return leases

    def _exchange(self, *request: Any) -> list[Lease]:
        """Leases, by the same request that delivers the results that wait."""
        riding = self._outgoing.riding()
        if riding:
            try:
                receipts, leases = self._campaign.exchange(riding, *request)
            except RequestRefused:
                self._send(at_once=True)  # finds out which result is refused
            except LangfordError:
                self._outgoing.unsettled()  # the next request for tasks goes alone
                raise
            else:
                self._note(self._outgoing.settle(riding, receipts))
                return leases
        return self._campaign.lease(*request)

    def _report(self) -> bool:
        """Report failures and deaths, also of a time when the campaign was away; returns whether one set aside."""
        any_set_aside = False
        if self._refusal is not None:
            return any_set_aside
        for failure, is_set_aside in self._outgoing.report():
            index = failure.lease.index
            if failure.outcome is Outcome.FAILED:
                consequence = "is set aside" if is_set_aside else "will be tried again"
                self._console.say(f"task {index} failed and {consequence}: {failure.reason}")
            elif is_set_aside:
                self._console.say(f"task {index} has ended too many worker processes and is set aside")
            any_set_aside = any_set_aside or is_set_aside
        return any_set_aside

    def _send(self, at_once: bool = False) -> None:
        if self._refusal is not None:
            return
        self._note(self._outgoing.send(at_once))

    def _note(self, arrived: Iterable[tuple[Delivery, Receipt]]) -> None:
        for delivery, receipt in arrived:
            work = self._work.pop(delivery.attempt, None)
            if receipt.event is None:
                mean = self.known.work / self.known.tasks
                self.tally.add(mean if work is None else work, here=work is not None)
            if not self._holding:
                self._idling.succeeded()  # it may have been the campaign's last result: ask at once
