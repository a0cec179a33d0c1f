"""The tasks of a campaign as workers lease them: each method is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from math import inf

from db.attempts import Credential, Lease, fresh_nonce
from db.records import NO_STEPS, CampaignRecord, LeaseHolder
from db.states import Outcome
from db.store.database import Database, retried
from db.store.transaction import Transaction
from db.trust import complaints, rechecks
from db.work import accounts, leases, presence, queries, tokens, transitions
from db.work.transitions import Claimant

CLOCK_SECONDS = 60.0
"""Time between two checks whether the database's clock was ahead and was set back, or how long tasks take."""


class LeasedTasks:
    """The part of a :class:`db.campaign.Campaign` that grants, renews and ends leases."""

    def __init__(self, database: Database, record: CampaignRecord) -> None:
        self.database, self.record = database, record
        self._next_look_at_clock = 0.0
        self._presence = presence.Presence(database.now)
        # By the digest of a token: until when it is valid, and the seconds.
        self._longest: dict[str, tuple[float, float]] = {}

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
        token: str = "",
        copies: int = 0,
    ) -> list[Lease]:
        """Grant up to ``count`` tasks for ``seconds``; all leases of one call have the same nonce.

        Rechecks of other voters' results come first, then ready tasks by decreasing work, then copies of tasks that
        other workers hold, see :func:`db.work.leases.copy`.  Before that, the tasks of overdue leases return to
        the queue.  Raises UnknownWorker, WrongToken or WorkerDistrusted, and TooManyLeases when the account of the
        token (:mod:`db.work.accounts`) allows none.

        Args:
            seconds: time until the deadline; with a token at most what the tasks warrant.
            held: the attempts that the worker knows of; other running attempts of it were granted by an answer that
                was lost, and are released at once.  None: they stay.
            token: the token that the worker shows to a task server; "" when it opens the ledger itself.
            copies: maximum number of copies, for devices of the worker that would otherwise be idle.
        """
        shown = tokens.digest(token)
        with self.writing() as transaction:
            if self.database.now() >= self._next_look_at_clock:
                leases.cut(transaction.connection)
                self._next_look_at_clock = self.database.now() + CLOCK_SECONDS
            expired = transitions.end(transaction, transitions.EXPIRED, Outcome.EXPIRED, None)
            presence.lose(transaction.connection, set(expired))
            if held is not None:
                lost = queries.running(transaction, worker_id) - set(held)
                if lost:
                    note = "its worker does not know of it"
                    transitions.end(transaction, transitions.CHOSEN, Outcome.RELEASED, note, attempts=list(lost))
            account = accounts.of_token(transaction, self.record, shown, worker_id)
            allowed = count if account is None else account.allowed(count)
            longest = self._warranted(transaction, shown)
            seconds = min(seconds, longest) if token else seconds
            claimant = Claimant(worker_id, shown, fresh_nonce(), seconds, longest)
            granted = rechecks.claim(transaction, claimant, allowed)
            granted += leases.claim(transaction, claimant, allowed - len(granted))
            if not granted:
                complaints.judge_again(transaction)
            granted += leases.copy(transaction, claimant, min(allowed, copies) - len(granted))
            self._presence.note(transaction.connection, [worker_id])
            accounts.granted(transaction, shown, account, len(granted))
        if account is not None and not allowed:
            raise account.refusal
        return granted

    def _warranted(self, transaction: Transaction, token: str) -> float:
        """See :func:`db.work.leases.warranted`: as it was at most CLOCK_SECONDS ago."""
        until, longest = self._longest.get(token, (-inf, 0.0))
        if self.database.now() >= until:
            longest = leases.warranted(transaction, token)
            self._longest[token] = self.database.now() + CLOCK_SECONDS, longest
        return longest

    @retried
    def renew(
        self,
        credentials: Collection[Credential],
        seconds: float,
        steps: Mapping[int, int] = NO_STEPS,
        token: str = "",
    ) -> set[int]:
        """Move the deadlines to ``seconds`` from now; returns the attempts that still run.

        An attempt that has ended, for example because it expired, is omitted.  Its worker may finish the task all
        the same: a late result is accepted.

        Args:
            token: see :meth:`lease`; then the deadline of an attempt that is older than the tasks warrant is moved
                only if it has made more steps than at the last renewal.
        """
        shown = tokens.digest(token)
        with self.writing() as transaction:
            attempts = queries.shown(transaction, credentials)
            self._presence.note(transaction.connection, {row.worker_id for row in attempts.values()})
            longest = self._warranted(transaction, shown) if token else inf
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

    def pace(self, device_kind: str, token: str = "") -> float | None:
        """Seconds per unit of work at the slowest of the last results of a kind of device, see
        :func:`db.work.leases.pace`; ``token``: see :meth:`lease`."""
        with self.reading() as transaction:
            return leases.pace(transaction, device_kind, tokens.digest(token))

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
