"""The count of a finished campaign, merged only once."""

from __future__ import annotations

from collections.abc import Callable

from db.look import progress
from db.records import CampaignRecord
from db.store.transaction import Transaction
from db.trust import waiting
from langford.errors import LangfordError
from langford.methods import Plan, merge
from langford.reference import published

MAX_TASKS = 150_000
"""Number of results that are merged within a second; more are merged only by `langford result`."""


class MergedCount:
    """The count of a campaign, kept until another result arrives."""

    def __init__(self) -> None:
        self._known: tuple[float, int | None] | None = None

    def get(
        self, transaction: Transaction, campaign: CampaignRecord, plan: Callable[[], Plan], last: float
    ) -> tuple[int | None, bool | None]:
        """(count, whether it is the published one) of a campaign that is done.

        Both are None if the merge is impossible or takes long; the second, if no count is published.
        ``last``: when its last attempt ended.
        """
        if self._known is None or self._known[0] != last:
            self._known = last, _merged(transaction, campaign, plan)
        count = self._known[1]
        known = published(campaign.key.problem)
        return count, None if count is None or known is None else count == known


def _merged(transaction: Transaction, campaign: CampaignRecord, plan: Callable[[], Plan]) -> int | None:
    if campaign.tasks > MAX_TASKS:
        return None
    try:
        waiting.require_trust(transaction, campaign)
        return merge(plan(), progress.results(transaction)).published
    except LangfordError:
        return None
