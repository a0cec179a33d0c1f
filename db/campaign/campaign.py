"""One campaign of a ledger, and the three objects by which it is worked on, operated and read."""

from __future__ import annotations

from functools import cached_property

from db.campaign.operator import OperatorCampaign
from db.campaign.reader import ReaderCampaign
from db.campaign.stored import StoredCampaign
from db.campaign.worker import WorkerCampaign


class Campaign(StoredCampaign):
    """A campaign of a ledger, see :meth:`db.Ledger.campaign`; whoever needs one of its objects gets that one."""

    @cached_property
    def worker(self) -> WorkerCampaign:
        """What its workers need."""
        return WorkerCampaign(self, self.operator)

    @cached_property
    def operator(self) -> OperatorCampaign:
        """What its operator does."""
        return OperatorCampaign(self, self.reader)

    @cached_property
    def reader(self) -> ReaderCampaign:
        """What is asked about it."""
        return ReaderCampaign(self)
