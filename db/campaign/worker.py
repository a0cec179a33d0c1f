"""What the workers of a campaign ask of its ledger: each change of state is one method, and one transaction.

A worker holds *leases*; the id of an attempt is the fencing token, and a worker that changes an attempt shows its
nonce.  A task is either done, with a committed result, or can be leased again, however workers fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Self

from db.attempts import Credential, Delivery, Lease, Receipt
from db.campaign.operator import OperatorCampaign
from db.campaign.stored import StoredCampaign
from db.errors import UnknownWorker, WorkerDistrusted, WrongToken
from db.identity import Identity
from db.look.overview.records import Overview
from db.records import IN_LEDGER, NO_SECONDS, NO_STEPS, CampaignInfo
from db.states import COMPLAINTS, Ending, Outcome
from db.store.database import retried
from db.store.transaction import Transaction
from db.trust import acceptance, complaints, enrolment
from db.trust.granting import Grants, Wanted
from db.trust.terms import EVERYTHING, Terms
from db.work import leases, owned, transitions


@dataclass(frozen=True)
class Extension:
    """Leases that shall last longer, with what their worker says of its tasks; see :meth:`WorkerCampaign.renew`."""

    terms: Terms
    credentials: Collection[Credential]
    seconds: float
    steps: Mapping[int, int]
    computed: Mapping[int, float]


class WorkerCampaign:
    """A campaign as its workers reach it, on their terms; implements :class:`jobs.reach.campaign.Campaign`.

    A worker changes only those attempts of this campaign whose nonces it shows.  Leases that are overdue, and those
    of dead or distrusted workers, end in all campaigns of the ledger.
    """

    transport = IN_LEDGER

    def __init__(self, campaign: StoredCampaign, operator: OperatorCampaign) -> None:
        """:attr:`db.Campaign.worker` is one.

        Args:
            campaign: which.
            operator: of the same campaign.
        """
        self.campaign, self.operator, self.terms = campaign, operator, EVERYTHING
        self._grants = Grants(campaign.record, campaign.database.now)

    def on(self, terms: Terms) -> Self:
        """The same for workers who may have no more than these terms allow."""
        same = copy(self)
        same.terms = terms
        return same

    @property
    def name(self) -> str:
        return self.campaign.name

    def info(self) -> CampaignInfo:
        return self.operator.reader.info()

    def overview(self) -> Overview:
        return self.operator.reader.overview()

    def why(self, task: int | None = None) -> list[str]:
        return self.operator.reader.why(task)

    def expire_the_dead(self) -> None:
        self.operator.expire_the_dead()

    @contextmanager
    def _changing_attempts(self) -> Iterator[Transaction]:
        """As :meth:`writing`; but the nonce of an attempt proves that its campaign was not deleted."""
        with self.campaign.database.writing() as connection:
            yield Transaction(connection, self.campaign.campaign_id)

    @retried
    def enrol(
        self, identity: Identity, count: int, seconds: float, held: Collection[int], copies: int = 0
    ) -> tuple[float | None, list[Lease]]:
        """Register a worker, unless it is, and lease its first tasks, in one transaction.

        Returns the seconds per unit of work of its kind of device, as within the last minute
        (:func:`db.work.deadlines.pace`), and the leases.  Raises TooManyWorkers, and as :meth:`lease`.

        Args:
            identity: the worker.
            count, seconds, held, copies: see :meth:`lease`.
        """
        wanted = Wanted(identity.worker_id, count, seconds, held, copies)
        idle = self.terms.admit(self._grants.living, self.campaign.database, identity.worker_id)
        with self._changing_attempts() as transaction:
            enrolment.enrol(transaction.connection, identity, self.terms.digest, idle)
            pace = self._grants.deadlines.pace(transaction, identity.device_kind, self.terms.digest)
            granted, refusal = self._grants.grant(transaction, self.terms, wanted)
        if refusal is not None:
            raise refusal
        return pace, granted

    def leave(self, worker_id: str, ending: Ending) -> None:
        """Record how the work of a worker ended; raises UnknownWorker or WrongToken.

        Args:
            worker_id: its UUID.
            ending: how.
        """
        enrolment.leave(self.campaign.database, self.terms, worker_id, ending)

    @retried
    def lease(
        self,
        worker_id: str,
        count: int,
        seconds: float,
        held: Collection[int] | None = None,
        copies: int = 0,
    ) -> list[Lease]:
        """Grant up to ``count`` tasks for ``seconds``; all leases of one call have the same nonce.

        Rechecks of other voters' results come first, then ready tasks by decreasing work, then copies of tasks that
        other workers hold, see :func:`db.work.leases.copy`.  Before that, the tasks of overdue leases return to
        the queue.  Raises UnknownWorker, WrongToken or WorkerDistrusted, and TooManyLeases if the terms allow none.

        Args:
            seconds: time until the deadline, as far as the terms allow.
            held: the attempts that the worker knows of; other running attempts of it were granted by an answer that
                was lost, and are released at once.  None: they stay.
            copies: maximum number of copies, for devices of the worker that would otherwise be idle.
        """
        with self._changing_attempts() as transaction:
            granted, refusal = self._grants.grant(
                transaction, self.terms, Wanted(worker_id, count, seconds, held, copies)
            )
        if refusal is not None:
            raise refusal
        return granted

    def renew(
        self,
        credentials: Collection[Credential],
        seconds: float,
        steps: Mapping[int, int] = NO_STEPS,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> set[int]:
        """Move deadlines; returns the attempts that still run.

        An attempt that has ended, for example because it expired, is omitted.  Its worker may finish the task all
        the same: a late result is accepted.  The deadline of an attempt that is older than the terms allow is moved
        only if it has made more steps than at the last renewal.

        Args:
            credentials: of the attempts; those of another campaign are omitted.
            seconds: from now to the new deadline, as far as the terms allow.
            steps: how many steps some of the attempts have done, by attempt.
            computed: for how many seconds some of them were computed, by attempt; 0: it has not begun.
        """
        return self.renew_each([Extension(self.terms, credentials, seconds, steps, computed)])[0]

    @retried
    def renew_each(self, renewals: Sequence[Extension]) -> list[set[int]]:
        """Several of :meth:`renew`, each on its own terms, in one transaction."""
        with self._changing_attempts() as transaction:
            shown = owned.shown(transaction, self.campaign.record, [each.credentials for each in renewals])
            workers = {row.worker_id for attempts in shown for row in attempts.values()}
            self._grants.presence.note(transaction.connection, workers)
            extended, steps, computed = dict[float, list[int]](), dict[int, int](), dict[int, float]()
            for renewal, attempts in zip(renewals, shown, strict=True):
                longest = renewal.terms.longest(self._grants.deadlines, transaction)
                later = extended.setdefault(min(renewal.seconds, longest), [])
                for attempt, row in attempts.items():
                    made = renewal.steps.get(attempt, -1)
                    if row.age <= longest or made > (-1 if row.steps is None else row.steps):
                        later.append(attempt)
                steps |= {attempt: renewal.steps[attempt] for attempt in attempts if attempt in renewal.steps}
                computed |= {
                    attempt: renewal.computed[attempt] for attempt in attempts if attempt in renewal.computed
                }
            running = leases.renew(transaction, set().union(*shown), extended, steps, computed)
            return [running.intersection(attempts) for attempts in shown]

    @retried
    def end(
        self,
        credentials: Collection[Credential],
        outcome: Outcome = Outcome.RELEASED,
        note: str | None = None,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> set[int]:
        """End attempts without a result; returns those whose tasks were set aside, after too many failures.

        Args:
            credentials: of the attempts.
            outcome: released or preempted: the tasks return to the queue, and this counts as no failure.  Failed:
                the task itself did.  Died: the process that evaluated it did.
            note: why, for people; None: nothing to say.
            computed: see :meth:`renew`.
        """
        with self._changing_attempts() as transaction:
            tasks = owned.tasks(transaction, self.campaign.record, credentials)
            self._grants.holdings.ended()
            leases.note(transaction, {attempt: computed[attempt] for attempt in computed if attempt in tasks})
            if outcome not in COMPLAINTS:
                transitions.end(transaction, transitions.CHOSEN, outcome, note, attempts=list(tasks))
                return set()
            return {
                attempt
                for attempt, index in tasks.items()
                if complaints.complain(transaction, attempt, index, outcome, note)
            }

    @retried
    def deliver(self, deliveries: Sequence[Delivery]) -> list[Receipt]:
        """Take results, all in one transaction; at most one result per task is accepted.

        - The first result of a task is accepted, even after its lease has expired.
        - A further result confirms the accepted one or conflicts with it (:mod:`db.trust.witnesses`).
        - A result that fails the checks of the plan is refused, and counts as a failure of its task.
        - A result without the nonce of an attempt at its task is refused, and changes nothing.
        """
        one_at_a_time = False
        while True:
            try:
                with self._changing_attempts() as transaction:
                    receipts, brought = acceptance.accept(
                        transaction, self.campaign.record, self.campaign.plan, deliveries, self.terms, one_at_a_time
                    )
                    self._grants.holdings.ended()
                    self.terms.note(transaction, acceptance.refused(receipts), brought)
                    return receipts
            except acceptance.Overtaken:
                one_at_a_time = True

    @retried
    def exchange(
        self,
        deliveries: Sequence[Delivery],
        worker_id: str,
        count: int,
        seconds: float,
        held: Collection[int],
        copies: int = 0,
    ) -> tuple[list[Receipt], list[Lease]]:
        """Deliver results, then lease tasks, in one transaction; what :meth:`lease` raises concerns no result.

        Args:
            deliveries: see :meth:`deliver`.
            worker_id, count, seconds, held, copies: see :meth:`lease`.
        """
        try:
            with self._changing_attempts() as transaction:
                receipts, brought = acceptance.accept(
                    transaction, self.campaign.record, self.campaign.plan, deliveries, self.terms
                )
                self._grants.holdings.ended()
                wanted, refused = Wanted(worker_id, count, seconds, held, copies), acceptance.refused(receipts)
                granted, refusal = self._grants.grant(transaction, self.terms, wanted, brought, refused)
        except acceptance.Overtaken:
            return self.deliver(deliveries), self.lease(worker_id, count, seconds, held, copies)
        except (UnknownWorker, WorkerDistrusted, WrongToken):
            self.deliver(deliveries)
            raise
        if refusal is not None:
            raise refusal
        return receipts, granted
