"""The draw: which tasks another voter evaluates again; and what an imported file has promised.

A task is drawn if its lot is below the campaign's share, whoever evaluates it.  The lots follow from a secret that
no worker knows, so that no one can predict where a lie would not be noticed.  Its digest is published at any time,
and the secret with the count: then anyone can draw again.

An imported file brings its promise, but no trust: the campaign's share is raised to that of the file, and results
that are drawn in the file are drawn here.  Confirmations in the file are no votes: each drawn result waits until it
is confirmed here, by a worker or by the operator.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sqlalchemy import select, update

from db.files.promise import Promise, in_words, lot
from db.records import CampaignRecord
from db.schema.dialects import among, close_to_writers
from db.schema.models import Attempt, Campaign, Result
from db.store.transaction import CAMPAIGN, Transaction
from db.work import transitions

_RAISE = update(Campaign).where(Campaign.id == CAMPAIGN).returning(Campaign.secret)
_ACCEPTED = select(Result.task_index).where(Result.campaign_id == CAMPAIGN, ~Result.drawn)
_DRAW = (
    update(Result)
    .where(Result.campaign_id == CAMPAIGN, among(Result.task_index, "tasks"), ~Result.drawn)
    .values(drawn=True)
)


def raise_share(transaction: Transaction, campaign: CampaignRecord, share: float) -> CampaignRecord:
    """Raise a campaign's share to at least this one, from 0 to 1, also for results that were accepted before.

    Returns the campaign.
    """
    # In the order of lifecycle.close(): an import and a deletion wait for each other without a deadlock.  A result
    # that arrives meanwhile waits before its statement begins, which then reads the new share.
    transitions.one_at_a_time(transaction)
    for table in (Attempt, Result):
        close_to_writers(transaction.connection, table)
    smaller = Campaign.recheck_share < share
    secret = transaction.scalar(_RAISE.where(smaller).values(recheck_share=share))
    if secret is None:
        return campaign
    draw(transaction, {index for index in transaction.scalars(_ACCEPTED) if lot(secret, index) < share})
    return replace(campaign, recheck_share=share)


def draw(transaction: Transaction, tasks: Collection[int]) -> None:
    """Draw the accepted results of these tasks, whatever their lots."""
    if tasks:
        transaction.execute(_DRAW, tasks=sorted(tasks))


def stated(promise: Promise | None) -> str:
    words = in_words(promise)
    return f"it states: {words}, which are no votes here" if promise is not None and promise.drawn else words
