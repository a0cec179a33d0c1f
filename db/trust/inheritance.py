"""What a campaign takes from an imported file besides its results: the promise, but no trust.

The campaign's share is raised to that of the file, and results that are drawn in the file are drawn here.
Confirmations in the file are no votes: each drawn result waits until it is confirmed here, by a worker or by the
operator.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import update

from db.files.promise import Promise, in_words
from db.records import CampaignRecord
from db.schema.dialects import among
from db.schema.models import Result
from db.store.transaction import CAMPAIGN, Transaction
from db.trust.draw import DRAWN
from db.work import turns

_DRAW = (
    update(Result)
    .where(Result.campaign_id == CAMPAIGN, among(Result.task_index, "tasks"), Result.lot > DRAWN)
    .values(lot=DRAWN)
)


def promised(transaction: Transaction, campaign: CampaignRecord, promise: Promise | None) -> CampaignRecord:
    """Raise a campaign's share to that of a file, before the file's results are taken; returns the campaign."""
    if promise is None or promise.share <= campaign.recheck_share:
        return campaign
    turns.raise_recheck_share(transaction, promise.share)
    return replace(campaign, recheck_share=promise.share)


def draw(transaction: Transaction, promise: Promise | None) -> None:
    """Draw the results that are drawn in a file, after they were taken, including those known before."""
    if promise is not None and promise.drawn:
        transaction.execute(_DRAW, tasks=sorted(promise.drawn))


def stated(promise: Promise | None) -> str:
    words = in_words(promise)
    return f"it states: {words}, which are no votes here" if promise is not None and promise.drawn else words
