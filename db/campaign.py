"""One campaign of a ledger: every change of state is one method here, and one transaction.

A worker holds *leases*; the id of an attempt is the fencing token, and a worker that changes an attempt shows its
nonce.  A task is either done, with a committed result, or can be leased again, however workers fail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import cached_property
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from db.attempts import Credential, Delivery, Lease, Receipt, fresh_nonce
from db.errors import (
    LedgerError,
    LedgerReadOnly,
    TransactionUndone,
    UnknownWorker,
    WorkerDistrusted,
    WrongToken,
)
from db.files.exports import Export
from db.files.promise import Promise
from db.files.reading import agreed_plan
from db.files.writing import TrustedFile
from db.identity import Identity, is_dead
from db.look import explanations, progress
from db.look.overview.gathering import OverviewReader
from db.look.overview.records import Overview
from db.records import (
    IN_LEDGER,
    NO_SECONDS,
    NO_STEPS,
    CampaignInfo,
    CampaignRecord,
    LeaseHolder,
    Progress,
    Replication,
    Standing,
    TaskRecord,
    TokenRecord,
)
from db.states import GONE, Ending, Outcome, Role
from db.store.database import Database, retried
from db.store.transaction import Transaction
from db.trust import (
    acceptance,
    complaints,
    draw,
    enrolment,
    exports,
    holding,
    reasons,
    rechecks,
    waiting,
    witnesses,
)
from db.trust.holding import Holdings
from db.trust.reasons import Asking
from db.trust.terms import EVERYTHING, Terms
from db.work import (
    catalogue,
    deadlines,
    holders,
    leases,
    lifecycle,
    owned,
    presence,
    tokens,
    transitions,
)
from db.work.deadlines import Deadlines
from db.work.transitions import Claimant
from langford.methods import Count, Plan, PlanKey, merge, method_hash
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

if TYPE_CHECKING:
    from db.look.history import History

NO_FOLDERS: Mapping[str, Path] = MappingProxyType({})


class Campaign:
    """A campaign, bound to its database and to the terms of its workers; implements the protocol
    :class:`jobs.reach.campaign.Campaign`.  Methods raise the errors of :mod:`db.errors`.

    A worker changes only those attempts of this campaign whose nonces it shows.  Leases that are overdue, and those
    of dead or distrusted workers, end in all campaigns of the ledger.
    """

    transport = IN_LEDGER

    def __init__(self, database: Database, record: CampaignRecord) -> None:
        """:meth:`db.Ledger.campaign` gives one.

        Args:
            database: an open one.
            record: of the campaign in it.
        """
        self.database, self.record, self.terms = database, record, EVERYTHING
        self._deadlines, self._presence = Deadlines(database.now), presence.Presence(database.now)
        self._holdings = Holdings()

    def on(self, terms: Terms) -> Self:
        """The same campaign as workers reach it who may have no more than these terms allow."""
        same = copy(self)
        same.terms = terms
        return same

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Campaign) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, int]:
        return self.database.where, self.campaign_id

    # -- identity -------------------------------------------------------------------------

    @property
    def campaign_id(self) -> int:
        return self.record.campaign_id

    @property
    def uuid(self) -> str:
        """Its random UUID, unique among the campaigns of all ledgers."""
        return self.record.uuid

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def key(self) -> PlanKey:
        return self.record.key

    @property
    def problem(self) -> Problem:
        return self.record.key.problem

    @property
    def tasks(self) -> int:
        return self.record.tasks

    @property
    def work(self) -> float:
        return self.record.work

    @property
    def created(self) -> float:
        return self.record.created

    @property
    def recheck_share(self) -> float:
        return self.record.recheck_share

    def raise_share(self, share: float) -> None:
        """Let at least this share of the tasks be drawn, also of those that are done."""
        with self.writing() as transaction:
            self.record = draw.raise_share(transaction, self.record, share)

    @cached_property
    def plan(self) -> Plan:
        """How its problem was split into tasks; a simulation may assign another plan.

        Raises the errors of :func:`db.files.reading.agreed_plan` if another version has split it in another way.
        """
        return agreed_plan(self.name, self.key, self.tasks)

    # -- transactions ---------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """One transaction that may write; raises NoSuchCampaign when the campaign was deleted."""
        with self.database.writing() as connection:
            catalogue.require_undeleted(connection, self.record)
            yield Transaction(connection, self.campaign_id)

    @contextmanager
    def _changing_attempts(self) -> Iterator[Transaction]:
        """As :meth:`writing`; but the nonce of an attempt proves that its campaign was not deleted."""
        with self.database.writing() as connection:
            yield Transaction(connection, self.campaign_id)

    @contextmanager
    def reading(self, snapshot: bool = False) -> Iterator[Transaction]:
        """See :meth:`db.Database.reading`; raises NoSuchCampaign when the campaign was deleted."""
        with self.database.reading(snapshot=snapshot) as connection:
            catalogue.require_undeleted(connection, self.record)
            yield Transaction(connection, self.campaign_id)

    # -- workers --------------------------------------------------------------------------

    def enrol(self, identity: Identity) -> float | None:
        """See :meth:`db.Ledger.enrol`; returns what :meth:`pace` returns for its kind of device."""
        enrolment.enrol(self.database, self.terms, *identity.enrolment, **identity.machine.equipment)
        return self.pace(identity.device_kind)

    def leave(self, worker_id: str, ending: Ending) -> None:
        """Record how the work of a worker ended; raises UnknownWorker or WrongToken.

        Args:
            worker_id: its UUID.
            ending: how.
        """
        enrolment.leave(self.database, self.terms, worker_id, ending)

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
            granted, refusal = self._grant(transaction, worker_id, count, seconds, held, copies)
        if refusal is not None:
            raise refusal
        return granted

    def _grant(
        self,
        transaction: Transaction,
        worker_id: str,
        count: int,
        seconds: float,
        held: Collection[int] | None,
        copies: int,
        brought: int = 0,
        refused: int = 0,
    ) -> tuple[list[Lease], LedgerError | None]:
        """The leases, and the error to raise after the transaction if there are none for this token.

        The transaction is committed all the same: overdue leases have ended.

        Args:
            brought, refused: how many results were taken, and refused, in this transaction.
        """
        known = enrolment.known(transaction, self.record, worker_id, self.terms.digest)
        self._deadlines.cut(transaction.connection)
        if known.overdue:
            ended = transitions.expire(transaction, self.terms.unheard)
            presence.lose(transaction.connection, set(ended))
        if held is not None and known.running:
            leases.release_lost(transaction, [int(each) for each in known.running.split()], held)
        refusal, allowed = None, count
        if self.terms.digest:
            refusal, allowed = self._allowed(transaction, known, count, brought)
        longest = self._deadlines.warranted(transaction, self.terms.digest)
        seconds = min(seconds, self.terms.longest(self._deadlines, transaction))
        claimant = Claimant(worker_id, known.host, self.terms.digest, fresh_nonce(), seconds, longest)
        granted = rechecks.claim(transaction, claimant, known, allowed)
        granted += leases.claim(transaction, claimant, allowed - len(granted))
        if not granted:
            complaints.judge_again(transaction)
        granted += leases.copy(transaction, claimant, min(allowed, copies) - len(granted))
        self._presence.note(transaction.connection, [worker_id])
        if self.terms.digest:
            self._holdings.took(self.terms.digest, len(granted))
        self.terms.note(transaction, len(granted) + refused, brought)
        return granted, refusal

    def _allowed(
        self, transaction: Transaction, known: Any, count: int, brought: int
    ) -> tuple[LedgerError | None, int]:
        """How many leases the token may get, and why not even one."""
        token = self.terms.digest
        room = self._holdings.room(transaction, token, known.now, count)
        many = known.fruitless >= holding.MAX_FRUITLESS and not brought
        is_fruitless = many and holding.is_fruitless(transaction, token)
        ready = room >= 1 or leases.any_ready(transaction)
        refusal = reasons.refusal(Asking(token, token, is_fruitless=is_fruitless, room=room, ready=ready))
        return refusal, 0 if refusal else int(min(count, room))

    @retried
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
        with self._changing_attempts() as transaction:
            attempts = owned.attempts(transaction, self.record, credentials)
            self._presence.note(transaction.connection, {row.worker_id for row in attempts.values()})
            longest = self.terms.longest(self._deadlines, transaction)
            extended = [
                attempt
                for attempt, row in attempts.items()
                if row.age <= longest or steps.get(attempt, -1) > (-1 if row.steps is None else row.steps)
            ]
            return leases.renew(transaction, list(attempts), extended, min(seconds, longest), steps, computed)

    @retried
    def release(
        self,
        credentials: Collection[Credential],
        outcome: Outcome = Outcome.RELEASED,
        note: str | None = None,
        computed: Mapping[int, float] = NO_SECONDS,
    ) -> None:
        """Return unfinished tasks to the queue; neither release nor preemption counts as a failure.

        Args:
            credentials: of their attempts.
            outcome: released, or preempted.
            note: why, for people; None: nothing to say.
            computed: see :meth:`renew`.
        """
        with self._changing_attempts() as transaction:
            tasks = owned.tasks(transaction, self.record, credentials)
            leases.note(transaction, {attempt: computed[attempt] for attempt in computed if attempt in tasks})
            transitions.end(transaction, transitions.CHOSEN, outcome, note, attempts=list(tasks))

    def die(self, credential: Credential, reason: str, computed: float | None = None) -> bool:
        """Record that the process that evaluated a task died; returns whether the task was set aside.

        Args:
            credential: of the attempt.
            reason: for people.
            computed: for how many seconds the task was computed; None: unknown.
        """
        return self._complain(credential, Outcome.DIED, reason, computed)

    def fail(self, credential: Credential, reason: str, computed: float | None = None) -> bool:
        """Record that the task itself failed; returns whether it was set aside, after too many failures.

        Args:
            credential: of the attempt.
            reason: for people.
            computed: see :meth:`die`.
        """
        return self._complain(credential, Outcome.FAILED, reason, computed)

    @retried
    def _complain(self, credential: Credential, outcome: Outcome, reason: str, computed: float | None) -> bool:
        with self._changing_attempts() as transaction:
            tasks = owned.tasks(transaction, self.record, [credential])
            return any(
                complaints.complain(transaction, attempt, index, outcome, reason, computed)
                for attempt, index in tasks.items()
            )

    def pace(self, device_kind: str) -> float | None:
        """Seconds per unit of work at the slowest of the last results of a kind of device, see
        :func:`db.work.deadlines.pace`.
        """
        with self.reading() as transaction:
            return deadlines.pace(transaction, device_kind, self.terms.digest)

    def patience(self) -> float:
        """For how many seconds running leases explain that no result arrives.

        It is infinite while a worker that opens the ledger holds a lease that is not overdue.  Such a lease of a
        worker with a token counts for as long as the tasks warrant.  Without any it is 0.
        """
        with self.reading() as transaction:
            shown = holders.tokens_in_time(transaction)
            return max((deadlines.warranted(transaction, token) if token else inf for token in shown), default=0.0)

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
                        transaction, self.record, self.plan, deliveries, self.terms, one_at_a_time
                    )
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
                receipts, brought = acceptance.accept(transaction, self.record, self.plan, deliveries, self.terms)
                asked, refused = (worker_id, count, seconds, held, copies), acceptance.refused(receipts)
                granted, refusal = self._grant(transaction, *asked, brought, refused)
        except acceptance.Overtaken:
            return self.deliver(deliveries), self.lease(worker_id, count, seconds, held, copies)
        except (UnknownWorker, WorkerDistrusted, WrongToken):
            self.deliver(deliveries)
            raise
        if refusal is not None:
            raise refusal
        return receipts, granted

    # -- results --------------------------------------------------------------------------

    def export(self) -> Export:
        """All accepted results, including those in doubt."""
        with self.reading(snapshot=True) as transaction:
            return exports.everything(transaction, self.record)

    def trusted_export(self) -> TrustedFile:
        """The accepted results that are not in doubt, as the content of a file.

        Files have no mark for results in doubt, so that a merge of a file would not notice them.
        """
        with self.reading(snapshot=True) as transaction:
            return exports.trusted(transaction, self.record)

    @retried
    def judge(
        self,
        evaluations: Sequence[Evaluation],
        worker_id: str,
        host: str,
        process: str,
        device_kind: str = "cpu",
        kernels: str | None = None,
    ) -> list[int]:
        """Decide results that wait or are in doubt by what the operator recomputed, as a new worker, in one
        transaction.

        Args:
            evaluations: at most one of each task.
            worker_id, host, process, device_kind, kernels: see :meth:`db.Ledger.enrol`.

        Returns the tasks that were decided; the others needed no decision.
        """
        operator = worker_id, host, process, device_kind, kernels
        with self.writing() as transaction:
            return acceptance.judge(transaction, self.record, self.plan, evaluations, *operator)

    @retried
    def question(
        self, tasks: Collection[int] | None = None, worker: str | None = None, kernels: str | None = None
    ) -> list[int]:
        """Put results in question: they no longer count as votes, and wait to be evaluated again.

        Args:
            tasks: only their results; None: of all tasks.
            worker: only those of this worker, by its UUID or its first eight characters, or of all workers of this
                host; None: of all workers.
            kernels: only those that code with this hash computed; None: any.

        Returns the tasks of these results.
        """
        with self.writing() as transaction:
            return witnesses.question(transaction, tasks, worker, kernels)

    def results(self, unconfirmed: bool = False) -> list[PartialResult]:
        """By task; raises ConflictingResults, UntrustedResults or Unreplicated.

        Args:
            unconfirmed: return them even if the promised share is not replicated yet.
        """
        with self.reading(snapshot=True) as transaction:
            waiting.require_trust(transaction, self.record, unconfirmed)
            return list(progress.results(transaction))

    def merged(self, unconfirmed: bool = False) -> Count:
        """The count of a complete campaign.

        Raises Incomplete, ConflictingResults, UntrustedResults, Unreplicated or CheckFailed.

        Args:
            unconfirmed: merge although some of the promised share are not replicated.
        """
        with self.reading(snapshot=True) as transaction:
            waiting.require_trust(transaction, self.record, unconfirmed)
            count = merge(self.plan, progress.results(transaction))
            return replace(count, checks=(*count.checks, *waiting.replication(transaction).checks))

    # -- operators ------------------------------------------------------------------------

    @retried
    def cancel(self) -> tuple[int, int]:
        """End all leases and set aside all tasks that are not done; returns (leases, tasks).

        :meth:`reopen` undoes it.  Late results of workers that still run are accepted.
        """
        with self.writing() as transaction:
            return lifecycle.cancel(transaction)

    @retried
    def rename(self, name: str) -> None:
        """Raises BadName."""
        with self.writing() as transaction:
            lifecycle.rename(transaction, name, self.database.where)
        self.record = replace(self.record, name=name)

    def refresh(self) -> None:
        """Read again what others may have changed: its name and its share; raises NoSuchCampaign."""
        with self.database.reading() as connection:
            self.record = catalogue.present(connection, self.record)

    def delete(self, kept: TrustedFile) -> None:
        """Delete it with its tasks, attempts, results, events and tokens.

        Args:
            kept: what :meth:`trusted_export` returned.

        Raises LeasesRunning, or TransactionUndone when results or
        confirmations have arrived since, or the promised share has changed.
        """
        with self.writing() as transaction:
            lifecycle.close(transaction, self.name)
            if exports.trusted(transaction, self.record) != kept:
                raise TransactionUndone(
                    f"the results of {self.name} changed while it was exported; nothing is deleted, try again"
                )
            lifecycle.remove(transaction)

    @retried
    def release_worker(self, worker_id: str, note: str) -> int:
        """Expire all leases of a worker that is known to be dead; returns their number.

        Args:
            worker_id: its UUID.
            note: why, for people.
        """
        with self.writing() as transaction:
            expired = transitions.end(transaction, transitions.OF_WORKER, Outcome.EXPIRED, note, worker=worker_id)
            presence.lose(transaction.connection, [worker_id])
        return len(expired)

    @retried
    def take_back(self, note: str, worker_id: str | None = None) -> int:
        """End all leases of the campaign, or those of one worker, even if it still runs; returns their number.

        A worker that still runs continues, and its late results are accepted.

        Args:
            note: why, for people.
            worker_id: of the only worker; None: of all.
        """
        condition = transitions.OF_CAMPAIGN if worker_id is None else transitions.OF_WORKER_HERE
        with self.writing() as transaction:
            return len(transitions.end(transaction, condition, Outcome.RELEASED, note, worker=worker_id))

    def expire_the_dead(self) -> None:
        """Expire the leases of workers that opened the ledger on this host, and whose processes are gone."""
        for holder in self.lease_holders():
            if not holder.token and is_dead(holder.host, holder.process):
                self.release_worker(holder.worker_id, GONE)

    @retried
    def reopen(self) -> int:
        """Make the tasks that were set aside ready again; returns their number."""
        with self.writing() as transaction:
            return lifecycle.reopen(transaction)

    # -- views ----------------------------------------------------------------------------

    @cached_property
    def _overviews(self) -> OverviewReader:
        return OverviewReader(lambda: self.plan)

    def info(self, standing: Standing | None = None) -> CampaignInfo:
        """The campaign and its progress.

        Args:
            standing: the progress; None: as it is now.
        """
        kernels = method_hash(self.key.method)
        return CampaignInfo.of(self.database.uuid, self.record, standing or self.standing(), kernels)

    def replication(self) -> Replication:
        """How far the promised share of the results is replicated."""
        with self.reading() as transaction:
            return waiting.replication(transaction)

    def promise(self) -> Promise | None:
        """What an export would promise; None: it would record no promise, see :func:`db.trust.waiting.promise`."""
        with self.reading(snapshot=True) as transaction:
            return waiting.promise(transaction, self.record)

    def rechecked_tasks(self) -> list[int]:
        """The tasks whose results other workers, or the operator, must still confirm or decide, by index."""
        with self.reading() as transaction:
            return waiting.undecided(transaction)

    def progress(self) -> Progress:
        """Tasks, attempts and results in numbers; reads every result."""
        with self.reading() as transaction:
            return progress.progress(transaction, self.record)

    def seconds(self) -> float:
        """Computing time of the accepted results."""
        with self.reading() as transaction:
            return progress.seconds(transaction)

    def standing(self) -> Standing:
        """The cheap part of :meth:`progress`."""
        with self.reading() as transaction:
            return progress.standing(transaction, self.record)

    def task_records(self, state: str | None = None) -> list[TaskRecord]:
        """By index.

        Args:
            state: only those in it; None: all.
        """
        with self.reading_tasks(state) as records:
            return list(records())

    @contextmanager
    def reading_tasks(self, state: str | None = None) -> Iterator[Callable[[], Iterator[TaskRecord]]]:
        """A function that reads the tasks as they were at one moment, each time it is called, one by one."""
        with self.reading(snapshot=True) as transaction:
            yield lambda: progress.tasks(transaction, state)

    def history(self) -> History:
        """Everything that a report is made of."""
        from db.look.history import history

        with self.reading(snapshot=True) as transaction:
            return history(transaction, self.record, self.database.where, self.plan.work)

    def overview(self, folders: Mapping[str, Path] = NO_FOLDERS) -> Overview:
        """Progress, speed, time left, workers and warnings.

        Args:
            folders: watched in addition to that of the ledger, by their name in warnings.
        """
        disks = {**self.database.folders, **folders}
        with self.reading(snapshot=True) as transaction:
            return self._overviews.read(transaction, self.record, disks)

    def why(self, task: int | None = None) -> list[str]:
        """Why a task waits; or, of None, why each worker that is present holds none.  Raises BadInput."""
        with self.reading(snapshot=True) as transaction:
            if task is not None:
                return [explanations.of_task(transaction, self.record, task)]
            return explanations.of_workers(transaction, self.record)

    def holders_in_words(self) -> str:
        """Who holds leases of the campaign, and how many; "" if nobody does."""
        with self.reading() as transaction:
            return holders.holders_in_words(transaction)

    def lease_holders(self, name: str | None = None) -> list[LeaseHolder]:
        """The workers that hold leases.

        Args:
            name: of those that are meant: a host, or a worker's UUID or the eight or more characters that it starts
                with; None: all.
        """
        with self.reading() as transaction:
            return holders.lease_holders(transaction, name)

    # -- tokens ---------------------------------------------------------------------------

    def new_token(self, role: Role, seconds: float | None = None, label: str = "") -> str:
        """Returns the token, of which the ledger keeps only the SHA-256.

        Args:
            role: what its bearer may do.
            seconds: how long it is valid; None: until it is revoked.
            label: its purpose, in the operator's words.
        """
        with self.writing() as transaction:
            return tokens.new_token(transaction, role, seconds, label)

    @retried
    def extend(self, which: str, seconds: float) -> bool:
        """Let a token be valid for longer, even if it has expired.

        Args:
            which: the token itself.
            seconds: from now to its end, unless that is later already, or never.

        Returns whether it is a token of this campaign, and was not revoked.
        """
        with self.writing() as transaction:
            return tokens.extend(transaction, which, seconds)

    def tokens(self) -> list[TokenRecord]:
        """Its tokens, oldest first, including expired ones; without what their workers did, for a role that may not
        read that.
        """
        with suppress(LedgerReadOnly), self.reading() as transaction:
            return tokens.listed(transaction, used=True)
        with self.reading() as transaction:
            return tokens.listed(transaction, used=False)

    def revoke(self, which: int | str | None = None) -> int:
        """Delete a token and end its leases; returns the number of tokens that were deleted.

        The results of its workers stay, but are no votes any more.

        Args:
            which: the number of a token, or the token itself; None: all tokens of the campaign.
        """
        with self.writing() as transaction:
            transitions.one_at_a_time(transaction)
            revoked = tokens.revoke(transaction, which)
            witnesses.discount(transaction, revoked)
            return len(revoked)
