"""Transactions that take turns: those that count votes, and a change of the share with results that arrive."""

from __future__ import annotations

from sqlalchemy import Connection, select, update

from db.store.dialects import close_to_writers
from db.store.models import Attempt, Campaign, Ledger, Result

_SETTLEMENTS = select(Ledger.uuid).with_for_update()


def one_at_a_time(connection: Connection) -> None:
    """Wait for other transactions that count votes: this one counts theirs, or they count those of this one.

    To be called before anything is changed: a transaction that waits here holds nothing that others wait for.
    """
    connection.execute(_SETTLEMENTS).all()


def set_recheck_share(connection: Connection, campaign_id: int, share: float) -> None:
    """Choose the share of the results that another voter evaluates again, from 0 to 1."""
    # A result that arrives meanwhile waits before its statement begins, which then finds the new share.
    close_to_writers(connection, Result)
    connection.execute(update(Campaign).where(Campaign.id == campaign_id).values(recheck_share=share))
    if share:
        _list(connection, campaign_id)


def raise_recheck_share(connection: Connection, campaign_id: int, share: float) -> None:
    """Let the share be at least this one, in a transaction that takes results afterwards."""
    one_at_a_time(connection)
    # In the order of ends.close(): of an import and a removal, one waits for the other.
    for table in (Attempt, Result):
        close_to_writers(connection, table)
    smaller = Campaign.id == campaign_id, Campaign.recheck_share < share
    connection.execute(update(Campaign).where(*smaller).values(recheck_share=share))
    _list(connection, campaign_id)


def _list(connection: Connection, campaign_id: int) -> None:
    """Let the index of the draw have all results of a campaign."""
    unlisted = Result.campaign_id == campaign_id, ~Result.listed
    connection.execute(update(Result).where(*unlisted).values(listed=True))
