"""The draw: which results another voter evaluates again; and what an imported file has promised.

Each result gets a lot when it arrives, and is drawn while its lot is below the campaign's share: raising the share
draws more of the results that are accepted already.  The lots follow from a secret that no worker knows, so that no
one can predict where a lie would not be noticed.

An imported file brings its promise, but no trust: the campaign's share is raised to that of the file, and results
that are drawn in the file are drawn here.  Confirmations in the file are no votes: each drawn result waits until it
is confirmed here, by a worker or by the operator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import select, update

from db.attempts import Delivery
from db.files.promise import Promise, in_words
from db.records import AttemptRecord, CampaignRecord
from db.schema.dialects import among, close_to_writers
from db.schema.models import Attempt, Campaign, Result, Voter
from db.states import VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.work import transitions

MIN_VALID = 10
"""All results of a voter are drawn until this many are confirmed; then the share falls as 1 / confirmed."""
DRAWN = 0.0
"""The lot of a result that is drawn with every share above 0."""
CONTESTED = -1.0
"""The lot of a result that must be confirmed even without a share: another value was found for its task."""


def lot(secret: str, attempt: int, valid: int | None = None) -> float:
    """The lot of a result.

    Args:
        secret: of the campaign.
        attempt: that delivered the result.
        valid: how many results of its voter were confirmed; None: the campaign has no share.
    """
    digest = hashlib.sha256(f"{secret} {attempt}".encode()).digest()
    number = (int.from_bytes(digest[:8], "big") >> 11) / 2**53  # below 1: a share of 1 draws all
    if valid is not None and (valid < MIN_VALID or number * valid < 1):
        return DRAWN
    return number


_VOTERS = select(Voter.id, Voter.kind, Voter.valid).where(among(Voter.id, "voters"))


def lots(
    transaction: Transaction,
    deliveries: Sequence[Delivery],
    attempts: Mapping[int, AttemptRecord],
    preceding: int = 0,
) -> dict[int, float]:
    """The lots of arriving results, by attempt.

    The results that precede a result in an imported file count as confirmed: the first ones are always drawn.
    ``preceding``: how many precede these ones.
    """
    if not deliveries:
        return {}
    one = attempts[deliveries[0].attempt]
    if not one.share:
        return {delivery.attempt: lot(one.secret, delivery.attempt) for delivery in deliveries}
    voter_ids = {attempts[delivery.attempt].voter_id for delivery in deliveries}
    rows = transaction.connection.execute(_VOTERS, {"voters": sorted(voter_ids)})
    voters = {row.id: row for row in rows}
    by_attempt = {}
    for number, delivery in enumerate(deliveries, preceding):
        voter = voters[attempts[delivery.attempt].voter_id]
        valid = number if voter.kind == VoterKind.IMPORT else voter.valid
        by_attempt[delivery.attempt] = lot(one.secret, delivery.attempt, valid)
    return by_attempt


def set_share(transaction: Transaction, share: float) -> None:
    """Set the share of a campaign, from 0 to 1; it applies to results that were accepted before, too."""
    # A result that arrives meanwhile waits before its statement begins, which then reads the new share.
    close_to_writers(transaction.connection, Result)
    transaction.execute(update(Campaign).where(Campaign.id == CAMPAIGN).values(recheck_share=share))
    if share:
        _list_results(transaction)


def _raise_share(transaction: Transaction, share: float) -> None:
    """Raise the share to at least this one, in a transaction that takes results afterwards."""
    transitions.one_at_a_time(transaction)
    # In the order of lifecycle.close(): an import and a deletion wait for each other without a deadlock.
    for table in (Attempt, Result):
        close_to_writers(transaction.connection, table)
    smaller = Campaign.id == CAMPAIGN, Campaign.recheck_share < share
    transaction.execute(update(Campaign).where(*smaller).values(recheck_share=share))
    _list_results(transaction)


def _list_results(transaction: Transaction) -> None:
    """Add all results of a campaign to the index of the draw."""
    unlisted = Result.campaign_id == CAMPAIGN, ~Result.listed
    transaction.execute(update(Result).where(*unlisted).values(listed=True))


_DRAW_PROMISED = (
    update(Result)
    .where(Result.campaign_id == CAMPAIGN, among(Result.task_index, "tasks"), Result.lot > DRAWN)
    .values(lot=DRAWN)
)


def promised(transaction: Transaction, campaign: CampaignRecord, promise: Promise | None) -> CampaignRecord:
    """Raise a campaign's share to that of a file, before the file's results are taken; returns the campaign."""
    if promise is None or promise.share <= campaign.recheck_share:
        return campaign
    _raise_share(transaction, promise.share)
    return replace(campaign, recheck_share=promise.share)


def draw_promised(transaction: Transaction, promise: Promise | None) -> None:
    """Draw the results that are drawn in a file, after they were taken, including those known before."""
    if promise is not None and promise.drawn:
        transaction.execute(_DRAW_PROMISED, tasks=sorted(promise.drawn))


def stated(promise: Promise | None) -> str:
    words = in_words(promise)
    return f"it states: {words}, which are no votes here" if promise is not None and promise.drawn else words
