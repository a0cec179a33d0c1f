"""What the operator of a campaign changes: its name, its tasks and leases, its results in doubt, and its tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from db.campaign.reader import ReaderCampaign
from db.campaign.stored import StoredCampaign
from db.errors import LedgerReadOnly, TransactionUndone
from db.files.writing import TrustedFile
from db.identity import is_dead
from db.records import TokenRecord
from db.states import GONE, Outcome, Role
from db.store.database import retried
from db.trust import acceptance, draw, exports, witnesses
from db.work import lifecycle, presence, tokens, transitions
from langford.result import Evaluation


class OperatorCampaign:
    """A campaign as its operator changes it: each method is one transaction."""

    def __init__(self, campaign: StoredCampaign, reader: ReaderCampaign) -> None:
        """:attr:`db.Campaign.operator` is one.

        Args:
            campaign: which.
            reader: of the same campaign.
        """
        self.campaign, self.reader = campaign, reader

    def raise_share(self, share: float) -> None:
        """Let at least this share of the tasks be drawn, also of those that are done."""
        with self.campaign.writing() as transaction:
            self.campaign.record = draw.raise_share(transaction, self.campaign.record, share)

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
            worker_id: its UUID.
            host, process: its machine, and its name there (:func:`db.identity.process_name`).
            device_kind, kernels: as of an identity (:class:`db.identity.Identity`).

        Returns the tasks that were decided; the others needed no decision.
        """
        operator = worker_id, host, process, device_kind, kernels
        with self.campaign.writing() as transaction:
            return acceptance.judge(transaction, self.campaign.record, self.campaign.plan, evaluations, *operator)

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
        with self.campaign.writing() as transaction:
            return witnesses.question(transaction, tasks, worker, kernels)

    @retried
    def cancel(self) -> tuple[int, int]:
        """End all leases and set aside all tasks that are not done; returns (leases, tasks).

        :meth:`reopen` undoes it.  Late results of workers that still run are accepted.
        """
        with self.campaign.writing() as transaction:
            return lifecycle.cancel(transaction)

    @retried
    def rename(self, name: str) -> None:
        """Raises BadName."""
        with self.campaign.writing() as transaction:
            lifecycle.rename(transaction, name, self.campaign.database.where)
        self.campaign.record = replace(self.campaign.record, name=name)

    def delete(self, kept: TrustedFile) -> None:
        """Delete it with its tasks, attempts, results, events and tokens.

        Args:
            kept: what :meth:`trusted_export` returned.

        Raises LeasesRunning, or TransactionUndone when results or
        confirmations have arrived since, or the promised share has changed.
        """
        with self.campaign.writing() as transaction:
            lifecycle.close(transaction, self.campaign.name)
            if exports.trusted(transaction, self.campaign.record) != kept:
                raise TransactionUndone(
                    f"the results of {self.campaign.name} changed while it was exported; nothing is deleted, try "
                    "again"
                )
            lifecycle.remove(transaction)

    @retried
    def release_worker(self, worker_id: str, note: str) -> int:
        """Expire all leases of a worker that is known to be dead; returns their number.

        Args:
            worker_id: its UUID.
            note: why, for people.
        """
        with self.campaign.writing() as transaction:
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
        with self.campaign.writing() as transaction:
            return len(transitions.end(transaction, condition, Outcome.RELEASED, note, worker=worker_id))

    def expire_the_dead(self) -> None:
        """Expire the leases of workers that opened the ledger on this host, and whose processes are gone."""
        for holder in self.reader.lease_holders():
            if not holder.token and is_dead(holder.host, holder.process):
                self.release_worker(holder.worker_id, GONE)

    @retried
    def reopen(self) -> int:
        """Make the tasks that were set aside ready again; returns their number."""
        with self.campaign.writing() as transaction:
            return lifecycle.reopen(transaction)

    def new_token(self, role: Role, seconds: float | None = None, label: str = "") -> str:
        """Returns the token, of which the ledger keeps only the SHA-256.

        Args:
            role: what its bearer may do.
            seconds: how long it is valid; None: until it is revoked.
            label: its purpose, in the operator's words.
        """
        with self.campaign.writing() as transaction:
            return tokens.new_token(transaction, role, seconds, label)

    @retried
    def extend(self, which: str, seconds: float) -> bool:
        """Let a token be valid for longer, even if it has expired.

        Args:
            which: the token itself.
            seconds: from now to its end, unless that is later already, or never.

        Returns whether it is a token of this campaign, and was not revoked.
        """
        with self.campaign.writing() as transaction:
            return tokens.extend(transaction, which, seconds)

    def tokens(self) -> list[TokenRecord]:
        """Its tokens, oldest first, including expired ones; without what their workers did, for a role that may not
        read that.
        """
        with suppress(LedgerReadOnly), self.campaign.reading() as transaction:
            return tokens.listed(transaction, used=True)
        with self.campaign.reading() as transaction:
            return tokens.listed(transaction, used=False)

    def revoke(self, which: int | str | None = None) -> int:
        """Delete a token and end its leases; returns the number of tokens that were deleted.

        The results of its workers stay, but are no votes any more.

        Args:
            which: the number of a token, or the token itself; None: all tokens of the campaign.
        """
        with self.campaign.writing() as transaction:
            transitions.one_at_a_time(transaction)
            revoked = tokens.revoke(transaction, which)
            witnesses.discount(transaction, revoked)
            return len(revoked)
