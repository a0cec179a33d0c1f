"""What a campaign takes over from an imported file beside its results: the promise, and never any trust.

The share of the campaign becomes that of the file if this is larger, and what the file says is drawn is drawn here.
Confirmations that a file states are no votes: each drawn result waits until it is confirmed here, by a worker or by
the operator.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import update

from db.files.promise import Promise, in_words
from db.records import CampaignRecord
from db.store.dialects import among
from db.store.models import Result
from db.store.transaction import CAMPAIGN, Transaction
from db.trust.draw import DRAWN
from db.work import turns

_DRAW = (
    update(Result)
    .where(Result.campaign_id == CAMPAIGN, among(Result.task_index, "tasks"), Result.lot > DRAWN)
    .values(lot=DRAWN)
)


def promised(transaction: Transaction, campaign: CampaignRecord, promise: Promise | None) -> CampaignRecord:
    """Let a campaign promise what a file promises, before the file's results are taken; returns the campaign."""
    if promise is None or promise.share <= campaign.recheck_share:
        return campaign
    turns.raise_recheck_share(transaction, promise.share)
    return replace(campaign, recheck_share=promise.share)


def draw(transaction: Transaction, promise: Promise | None) -> None:
    """Draw what a file says is drawn, after its results were taken: those that the ledger had before too."""
    if promise is not None and promise.drawn:
        transaction.execute(_DRAW, tasks=sorted(promise.drawn))


def stated(promise: Promise | None) -> str:
    """What a file says of its promise, in words for the record of events."""
    words = in_words(promise)
    return f"it states: {words}, which are no votes here" if promise is not None and promise.drawn else words
