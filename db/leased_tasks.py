"""The tasks of a campaign as workers lease them: each method is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from math import inf
from typing import Self

from db.attempts import Credential, Lease, fresh_nonce
from db.records import NO_STEPS, CampaignRecord, LeaseHolder
from db.states import Outcome
from db.store.database import Database, retried
from db.store.transaction import Transaction
from db.trust import complaints, rechecks
from db.trust.terms import EVERYTHING, Terms
from db.work import leases, presence, queries, transitions
from db.work.leases import Deadlines
from db.work.transitions import Claimant


class LeasedTasks:
    """The part of a :class:`db.campaign.Campaign` that grants, renews and ends leases."""

    def __init__(self, database: Database, record: CampaignRecord) -> None:
        self.database, self.record, self.terms = database, record, EVERYTHING
        self._deadlines, self._presence = Deadlines(database.now), presence.Presence(database.now)

    def on(self, terms: Terms) -> Self:
        """The same campaign as workers reach it who may have no more than these terms allow."""
        same = copy(self)
        same.terms = terms
        return same

    @property
    def campaign_id(self) -> int:
        return self.record.campaign_id

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """One transaction that may write; raises NoSuchCampaign when the campaign was deleted."""
        with self.database.writing() as connection:
            queries.require_undeleted(connection, self.record)
            yield Transaction(connection, self.campaign_id)

    @contextmanager
    def reading(self, snapshot: bool = False) -> Iterator[Transaction]:
        """See :meth:`db.Database.reading`; raises NoSuchCampaign when the campaign was deleted."""
        with self.database.reading(snapshot=snapshot) as connection:
            queries.require_undeleted(connection, self.record)
            yield Transaction(connection, self.campaign_id)

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
        with self.database.writing() as connection:
            transaction = Transaction(connection, self.campaign_id)
            known = rechecks.known(transaction, self.record, worker_id, self.terms.digest)
            self._deadlines.cut(connection)
            presence.lose(connection, set(transitions.end(transaction, transitions.EXPIRED, Outcome.EXPIRED, None)))
            if held is not None:
                leases.release_lost(transaction, worker_id, held)
            account = self.terms.account(transaction, self.record, worker_id, known)
            allowed = count if account is None else account.allowed(count)
            longest = self._deadlines.warranted(transaction, self.terms.digest)
            seconds = min(seconds, self.terms.longest(self._deadlines, transaction))
            claimant = Claimant(worker_id, self.terms.digest, fresh_nonce(), seconds, longest)
            granted = rechecks.claim(transaction, claimant, known, allowed)
            granted += leases.claim(transaction, claimant, allowed - len(granted))
            if not granted:
                complaints.judge_again(transaction)
            granted += leases.copy(transaction, claimant, min(allowed, copies) - len(granted))
            self._presence.note(connection, [worker_id])
            self.terms.charge(transaction, account, len(granted))
        if account is not None and not allowed:
            raise account.refusal
        return granted

    @retried
    def renew(
        self, credentials: Collection[Credential], seconds: float, steps: Mapping[int, int] = NO_STEPS
    ) -> set[int]:
        """Move the deadlines to ``seconds`` from now; returns the attempts that still run.

        An attempt that has ended, for example because it expired, is omitted.  Its worker may finish the task all
        the same: a late result is accepted.  The deadline of an attempt that is older than the terms allow is moved
        only if it has made more steps than at the last renewal.
        """
        with self.writing() as transaction:
            attempts = queries.shown(transaction, credentials)
            self._presence.note(transaction.connection, {row.worker_id for row in attempts.values()})
            longest = self.terms.longest(self._deadlines, transaction)
            extended = [
                attempt
                for attempt, row in attempts.items()
                if row.age <= longest or steps.get(attempt, -1) > (-1 if row.steps is None else row.steps)
            ]
            return leases.renew(transaction, list(attempts), extended, min(seconds, longest), steps)

    @retried
    def release(
        self, credentials: Collection[Credential], outcome: Outcome = Outcome.RELEASED, note: str | None = None
    ) -> None:
        """Return unfinished tasks to the queue; neither release nor preemption counts as a failure."""
        with self.writing() as transaction:
            tasks = queries.tasks_of(transaction, credentials)
            transitions.end(transaction, transitions.CHOSEN, outcome, note, attempts=list(tasks))

    @retried
    def release_worker(self, worker_id: str, note: str) -> int:
        """Expire all leases of a worker that is known to be dead; returns their number."""
        with self.writing() as transaction:
            expired = transitions.end(transaction, transitions.OF_WORKER, Outcome.EXPIRED, note, worker=worker_id)
            presence.lose(transaction.connection, [worker_id])
        return len(expired)

    @retried
    def take_back(self, note: str, worker_id: str | None = None) -> int:
        """End all leases of the campaign, or those of one worker, even if it still runs; returns their number.

        A worker that still runs continues, and its late results are accepted.
        """
        condition = transitions.OF_CAMPAIGN if worker_id is None else transitions.OF_WORKER_HERE
        with self.writing() as transaction:
            return len(transitions.end(transaction, condition, Outcome.RELEASED, note, worker=worker_id))

    def die(self, credential: Credential, reason: str) -> bool:
        """Record that the process that evaluated a task died; returns whether the task was set aside."""
        return self._complain(credential, Outcome.DIED, reason)

    def fail(self, credential: Credential, reason: str) -> bool:
        """Record that the task itself failed; returns whether it was set aside, after too many failures."""
        return self._complain(credential, Outcome.FAILED, reason)

    @retried
    def _complain(self, credential: Credential, outcome: Outcome, reason: str) -> bool:
        with self.writing() as transaction:
            tasks = queries.tasks_of(transaction, [credential])
            return any(
                complaints.complain(transaction, attempt, index, outcome, reason)
                for attempt, index in tasks.items()
            )

    @retried
    def reopen(self) -> int:
        """Make the tasks that were set aside ready again; returns their number."""
        with self.writing() as transaction:
            return transitions.reopen(transaction)

    def pace(self, device_kind: str) -> float | None:
        """Seconds per unit of work at the slowest of the last results of a kind of device, see
        :func:`db.work.leases.pace`.
        """
        with self.reading() as transaction:
            return leases.pace(transaction, device_kind, self.terms.digest)

    def patience(self) -> float:
        """For how many seconds the leases that are not overdue explain that no result arrives.

        Those of workers that open the ledger do so for ever, those with tokens as long as the tasks warrant.
        """
        with self.reading() as transaction:
            shown = queries.tokens_in_time(transaction)
            return max((leases.warranted(transaction, token) if token else inf for token in shown), default=0.0)

    def holders_in_words(self) -> str:
        """Who holds leases of the campaign, and how many; "" if nobody does."""
        with self.reading() as transaction:
            return queries.holders_in_words(transaction)

    def lease_holders(self) -> list[LeaseHolder]:
        with self.reading() as transaction:
            return queries.lease_holders(transaction)
