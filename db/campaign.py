"""One campaign of a ledger: every change of state is one method here, and one transaction.

A worker holds *leases*; the id of an attempt is the fencing token, and a worker that changes an attempt shows its
nonce.  A task is either done, with a committed result, or can be leased again, however workers fail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from db.attempts import Delivery, Receipt
from db.errors import TransactionUndone
from db.files.exports import Export
from db.files.promise import Promise
from db.files.reading import agreed_plan
from db.files.writing import Evaluated, TrustedFile, written
from db.leased_tasks import LeasedTasks
from db.look import progress
from db.look.overview.gathering import OverviewReader
from db.look.overview.records import Overview
from db.records import Progress, Replication, Standing, TaskRecord, TokenRecord
from db.states import Role, VoterKind
from db.store.database import retried
from db.store.transaction import Transaction
from db.trust import acceptance, enrolment, waiting, witnesses
from db.work import computations, lifecycle, tokens, transitions
from langford.methods import Plan, PlanKey
from langford.problem import Problem
from langford.result import Evaluation, PartialResult

if TYPE_CHECKING:
    from db.look.history import History

NO_FOLDERS: Mapping[str, Path] = MappingProxyType({})


class Campaign(LeasedTasks):
    """A campaign, bound to its database.  Methods raise the errors of :mod:`db.errors`.

    No method changes attempts of another campaign.  Only :meth:`release_worker` and :meth:`take_back` change
    attempts whose nonce is not shown.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Campaign) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[str, int]:
        return self.database.where, self.campaign_id

    # -- identity -------------------------------------------------------------------------

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

    def set_recheck_share(self, share: float) -> None:
        """It applies to results that were accepted before, too."""
        with self.writing() as transaction:
            transitions.set_recheck_share(transaction, share)
        self.record = replace(self.record, recheck_share=share)

    @cached_property
    def plan(self) -> Plan:
        """A simulation may assign another plan.

        Raises as :func:`db.files.reading.agreed_plan`, where another version has split the problem in another way.
        """
        return agreed_plan(self.name, self.key, self.tasks)

    # -- its end --------------------------------------------------------------------------

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

    def delete(self, kept: TrustedFile) -> None:
        """Delete it with its tasks, attempts, results, events, tokens and notices.

        ``kept``: what :meth:`trusted_export` returned.  Raises LeasesRunning, or TransactionUndone when results or
        confirmations have arrived since, or the promised share has changed.
        """
        with self.writing() as transaction:
            lifecycle.close(transaction, self.name)
            if self._trusted_export(transaction) != kept:
                raise TransactionUndone(
                    f"the results of {self.name} changed while it was exported; nothing is deleted, try again"
                )
            lifecycle.remove(transaction)

    # -- results --------------------------------------------------------------------------

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
                with self.writing() as transaction:
                    receipts, new = acceptance.accept(
                        transaction, self.record, self.plan, deliveries, self.terms, one_at_a_time
                    )
                    self.terms.credit(transaction, receipts, new)
                return receipts
            except acceptance.Overtaken:
                one_at_a_time = True

    def export(self) -> Export:
        """All accepted results, including those in doubt."""
        with self.reading(snapshot=True) as transaction:
            pairs = list(computations.of_results(transaction))
            promise = waiting.promise(transaction)
        how = {evaluation.result.index: computation for evaluation, computation in pairs if computation is not None}
        return Export(self.name, self.key, self.tasks, tuple(evaluation for evaluation, _ in pairs), how, promise)

    def trusted_export(self) -> TrustedFile:
        """The accepted results that are not in doubt, as the content of a file.

        Files have no mark for results in doubt, so that a merge of a file would not notice them.
        """
        with self.reading(snapshot=True) as transaction:
            return self._trusted_export(transaction)

    def _trusted_export(self, transaction: Transaction) -> TrustedFile:
        doubtful = {*waiting.in_conflict(transaction), *waiting.untrusted(transaction)}
        promise = waiting.promise(transaction)
        promise = None if promise is None else promise.without(doubtful)

        def trusted() -> Iterator[Evaluated]:
            return (pair for pair in computations.of_results(transaction) if pair[0].result.index not in doubtful)

        content, results = written(self.name, self.key, self.tasks, promise, trusted)
        return TrustedFile(content, results, promise, tuple(sorted(doubtful)))

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

        ``evaluations``: at most one of each task.  Returns the tasks that were decided; the others needed no
        decision.
        """
        with self.writing() as transaction:
            transitions.one_at_a_time(transaction)
            undecided = {*waiting.tasks(transaction)}
            undecided |= {*waiting.in_conflict(transaction)}
            chosen = [evaluation for evaluation in evaluations if evaluation.result.index in undecided]
            if chosen:
                enrolment.enrol(
                    transaction.connection, worker_id, host, process, device_kind, kernels, kind=VoterKind.OPERATOR
                )
            notes = ["recomputed by the operator"] * len(chosen)
            acceptance.take(transaction, self.record, self.plan, worker_id, chosen, notes)
        return [evaluation.result.index for evaluation in chosen]

    @retried
    def question(
        self, tasks: Collection[int] | None = None, worker: str | None = None, kernels: str | None = None
    ) -> list[int]:
        """Put results in question: they no longer count as votes, and wait to be evaluated again.

        ``worker``: only those of this worker, by its UUID or its first eight characters, or of all workers of
        this host. Returns the tasks of these results.
        """
        with self.writing() as transaction:
            return witnesses.question(transaction, tasks, worker, kernels)

    def results(self, unconfirmed: bool = False) -> list[PartialResult]:
        """By task; raises ConflictingResults, UntrustedResults or Unreplicated.

        ``unconfirmed``: return them even if the promised share is not replicated yet.
        """
        with self.reading(snapshot=True) as transaction:
            waiting.require_trust(transaction, self.record, unconfirmed)
            return progress.results(transaction)

    # -- views ----------------------------------------------------------------------------

    @cached_property
    def _overviews(self) -> OverviewReader:
        return OverviewReader(lambda: self.plan)

    def replication(self) -> Replication:
        with self.reading() as transaction:
            return waiting.replication(transaction)

    def promise(self) -> Promise | None:
        """None: see :func:`db.trust.waiting.promise`."""
        with self.reading(snapshot=True) as transaction:
            return waiting.promise(transaction)

    def rechecked_tasks(self) -> list[int]:
        with self.reading() as transaction:
            return sorted({*waiting.tasks(transaction), *waiting.in_conflict(transaction)})

    def progress(self) -> Progress:
        with self.reading() as transaction:
            return progress.progress(transaction, self.record)

    def standing(self) -> Standing:
        """The cheap part of :meth:`progress`."""
        with self.reading() as transaction:
            return progress.standing(transaction, self.record)

    def task_records(self, state: str | None = None) -> list[TaskRecord]:
        """By index; ``state``: only those in it."""
        with self.reading_tasks(state) as records:
            return list(records())

    @contextmanager
    def reading_tasks(self, state: str | None = None) -> Iterator[Callable[[], Iterator[TaskRecord]]]:
        """What reads the same tasks as often as it is called, at one moment, without all of them in memory."""
        with self.reading(snapshot=True) as transaction:
            yield lambda: progress.tasks(transaction, state)

    def history(self) -> History:
        from db.look.history import history

        with self.reading(snapshot=True) as transaction:
            return history(transaction, self.record, self.database.where)

    def overview(self, folders: Mapping[str, Path] = NO_FOLDERS, timeline: bool = True) -> Overview:
        """Progress, speed, time left, workers and warnings.

        ``folders``: watched in addition to that of the ledger, by their name in warnings.  The timeline takes a
        fifth of the time; without it, it is empty.
        """
        disks = {**self.database.folders, **folders}
        with self.reading(snapshot=True) as transaction:
            return self._overviews.read(transaction, self.record, disks, timeline)

    # -- tokens ---------------------------------------------------------------------------

    def new_token(self, role: Role, seconds: float | None = None, label: str = "") -> str:
        """Returns the token, of which the ledger keeps only the SHA-256; ``seconds``: None: until it is revoked."""
        with self.writing() as transaction:
            return tokens.new_token(transaction, role, seconds, label)

    def tokens(self) -> list[TokenRecord]:
        with self.reading() as transaction:
            return tokens.listed(transaction)

    def revoke(self, token: int | str | None = None) -> int:
        """Delete a token and end its leases; returns the number of tokens that were deleted.

        ``token``: its number, or the token itself; None: all tokens of the campaign.
        """
        with self.writing() as transaction:
            return tokens.revoke(transaction, token)
