"""Transactions that must not overlap: those that count votes, and changes of the share with arriving results."""

from __future__ import annotations

from sqlalchemy import select, update

from db.schema.dialects import close_to_writers
from db.schema.models import Attempt, Campaign, Ledger, Result
from db.store.transaction import CAMPAIGN, Transaction

_SETTLEMENTS = select(Ledger.uuid).with_for_update()


def one_at_a_time(transaction: Transaction) -> None:
    """Wait for other transactions that count votes; from then on they wait for this one.

    To be called before anything is changed: a transaction that waits here must not hold locks.
    """
    transaction.connection.execute(_SETTLEMENTS).all()


def set_recheck_share(transaction: Transaction, share: float) -> None:
    """``share``: from 0 to 1."""
    # A result that arrives meanwhile waits before its statement begins, which then reads the new share.
    close_to_writers(transaction.connection, Result)
    transaction.execute(update(Campaign).where(Campaign.id == CAMPAIGN).values(recheck_share=share))
    if share:
        _list(transaction)


def raise_recheck_share(transaction: Transaction, share: float) -> None:
    """Raise the share to at least this one, in a transaction that takes results afterwards."""
    one_at_a_time(transaction)
    # In the order of lifecycle.close(): an import and a deletion wait for each other without a deadlock.
    for table in (Attempt, Result):
        close_to_writers(transaction.connection, table)
    smaller = Campaign.id == CAMPAIGN, Campaign.recheck_share < share
    transaction.execute(update(Campaign).where(*smaller).values(recheck_share=share))
    _list(transaction)


def _list(transaction: Transaction) -> None:
    """Add all results of a campaign to the index of the draw."""
    unlisted = Result.campaign_id == CAMPAIGN, ~Result.listed
    transaction.execute(update(Result).where(*unlisted).values(listed=True))
