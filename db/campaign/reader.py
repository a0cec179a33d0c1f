"""What is asked of a campaign without changing it: progress, status, results, history."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from db.campaign.stored import StoredCampaign
from db.files.exports import Export
from db.files.promise import Promise
from db.files.writing import TrustedFile
from db.look import explanations, progress
from db.look.overview.gathering import OverviewReader
from db.look.overview.records import Overview
from db.records import (
    CampaignInfo,
    LeaseHolder,
    Replication,
    Standing,
    TaskRecord,
)
from db.trust import (
    exports,
    waiting,
)
from db.work import (
    deadlines,
    holders,
)
from langford.methods import Count, merge, method_hash
from langford.result import PartialResult

if TYPE_CHECKING:
    from db.look.history import History


class ReaderCampaign:
    """A campaign as it is read: the answer of each method is of one moment."""

    def __init__(self, campaign: StoredCampaign) -> None:
        """:attr:`db.Campaign.reader` is one.

        Args:
            campaign: which.
        """
        self.campaign = campaign

    def export(self) -> Export:
        """All accepted results, including those in doubt."""
        with self.campaign.reading(snapshot=True) as transaction:
            return exports.everything(transaction, self.campaign.record)

    def trusted_export(self) -> TrustedFile:
        """The accepted results that are not in doubt, as the content of a file.

        Files have no mark for results in doubt, so that a merge of a file would not notice them.
        """
        with self.campaign.reading(snapshot=True) as transaction:
            return exports.trusted(transaction, self.campaign.record)

    def results(self, unconfirmed: bool = False) -> list[PartialResult]:
        """By task; raises ConflictingResults, UntrustedResults or Unreplicated.

        Args:
            unconfirmed: return them even if the promised share is not replicated yet.
        """
        with self.campaign.reading(snapshot=True) as transaction:
            waiting.require_trust(transaction, self.campaign.record, unconfirmed)
            return list(progress.results(transaction))

    def merged(self, unconfirmed: bool = False) -> Count:
        """The count of a complete campaign.

        Raises Incomplete, ConflictingResults, UntrustedResults, Unreplicated or CheckFailed.

        Args:
            unconfirmed: merge although some of the promised share are not replicated.
        """
        with self.campaign.reading(snapshot=True) as transaction:
            waiting.require_trust(transaction, self.campaign.record, unconfirmed)
            count = merge(self.campaign.plan, progress.results(transaction))
            return replace(count, checks=(*count.checks, *waiting.replication(transaction).checks))

    @cached_property
    def _overviews(self) -> OverviewReader:
        return OverviewReader(lambda: self.campaign.plan)

    def info(self, standing: Standing | None = None) -> CampaignInfo:
        """The campaign and its progress.

        Args:
            standing: the progress; None: as it is now.
        """
        kernels = method_hash(self.campaign.key.method)
        return CampaignInfo.of(
            self.campaign.database.uuid, self.campaign.record, standing or self.standing(), kernels
        )

    def replication(self) -> Replication:
        """How far the promised share of the results is replicated."""
        with self.campaign.reading() as transaction:
            return waiting.replication(transaction)

    def promise(self) -> Promise | None:
        """What an export would promise; None: it would record no promise, see :func:`db.trust.waiting.promise`."""
        with self.campaign.reading(snapshot=True) as transaction:
            return waiting.promise(transaction, self.campaign.record)

    def rechecked_tasks(self) -> list[int]:
        """The tasks whose results other workers, or the operator, must still confirm or decide, by index."""
        with self.campaign.reading() as transaction:
            return waiting.undecided(transaction)

    def seconds(self) -> float:
        """Computing time of the accepted results."""
        with self.campaign.reading() as transaction:
            return progress.seconds(transaction)

    def standing(self) -> Standing:
        """How far it is."""
        with self.campaign.reading() as transaction:
            return progress.standing(transaction, self.campaign.record)

    @contextmanager
    def reading_tasks(self, state: str | None = None) -> Iterator[Iterator[TaskRecord]]:
        """The tasks as they were at one moment, by index, read one by one.

        Args:
            state: only those in it; None: all.
        """
        with self.campaign.reading(snapshot=True) as transaction:
            yield progress.tasks(transaction, state)

    def history(self) -> History:
        """Everything that a report is made of."""
        from db.look.history import history

        with self.campaign.reading(snapshot=True) as transaction:
            return history(transaction, self.campaign.record, self.campaign.database.where, self.campaign.plan.work)

    def overview(self) -> Overview:
        """Progress, speed, time left, workers and warnings."""
        with self.campaign.reading(snapshot=True) as transaction:
            return self._overviews.read(transaction, self.campaign.record, self.campaign.database)

    def why(self, task: int | None = None) -> list[str]:
        """Why a task waits; or, of None, why each worker that is present holds none.  Raises BadInput."""
        with self.campaign.reading(snapshot=True) as transaction:
            if task is not None:
                return [explanations.of_task(transaction, self.campaign.record, task)]
            return explanations.of_workers(transaction, self.campaign.record)

    def holders_in_words(self) -> str:
        """Who holds leases of the campaign, and how many; "" if nobody does."""
        with self.campaign.reading() as transaction:
            return holders.holders_in_words(transaction)

    def lease_holders(self, name: str | None = None) -> list[LeaseHolder]:
        """The workers that hold leases.

        Args:
            name: of those that are meant: a host, or a worker's UUID or the eight or more characters that it starts
                with; None: all.
        """
        with self.campaign.reading() as transaction:
            return holders.lease_holders(transaction, name)

    def patience(self) -> float:
        """For how many seconds running leases explain that no result arrives.

        It is infinite while a worker that opens the ledger holds a lease that is not overdue.  Such a lease of a
        worker with a token counts for as long as the tasks warrant.  Without any it is 0.
        """
        with self.campaign.reading() as transaction:
            shown = holders.tokens_in_time(transaction)
            return max((deadlines.warranted(transaction, token) if token else inf for token in shown), default=0.0)
