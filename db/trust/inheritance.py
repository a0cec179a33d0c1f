"""What a campaign takes over from an imported file beside its results: the promise, and never any trust.

The share of the campaign becomes that of the file if this is larger, and what the file says is drawn is drawn here.
Confirmations that a file states are no votes: each drawn result waits until it is confirmed here, by a worker or by
the operator.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Connection, update

from db.files.promise import Promise, in_words
from db.records import CampaignRecord
from db.store.dialects import among
from db.store.models import Result
from db.trust.draw import DRAWN
from db.work import turns
from db.work.transitions import CAMPAIGN

_DRAW = (
    update(Result)
    .where(Result.campaign_id == CAMPAIGN, among(Result.task_index, "tasks"), Result.lot > DRAWN)
    .values(lot=DRAWN)
)


def promised(connection: Connection, campaign: CampaignRecord, promise: Promise | None) -> CampaignRecord:
    """Let a campaign promise what a file promises, before the file's results are taken; returns the campaign."""
    if promise is None or promise.share <= campaign.recheck_share:
        return campaign
    turns.raise_recheck_share(connection, campaign.campaign_id, promise.share)
    return replace(campaign, recheck_share=promise.share)


def draw(connection: Connection, campaign: CampaignRecord, promise: Promise | None) -> None:
    """Draw what a file says is drawn, after its results were taken: those that the ledger had before too."""
    if promise is not None and promise.drawn:
        connection.execute(_DRAW, {"campaign": campaign.campaign_id, "tasks": sorted(promise.drawn)})


def stated(promise: Promise | None) -> str:
    """What a file says of its promise, in words for the record of events."""
    words = in_words(promise)
    return f"it states: {words}, which are no votes here" if promise is not None and promise.drawn else words
