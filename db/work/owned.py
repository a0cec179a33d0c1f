"""Attempts that workers show to be theirs: by their nonces, and only in their campaign."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, select

from db.attempts import Credential, Delivery
from db.records import AttemptRecord, CampaignRecord
from db.schema.dialects import Now, among
from db.schema.models import Attempt, Campaign, Result, Worker, same_task
from db.store.transaction import Transaction
from db.work import catalogue

_SHOWN = select(
    Attempt.id,
    Attempt.campaign_id,
    Attempt.task_index,
    Attempt.nonce,
    Attempt.worker_id,
    Attempt.steps,
    (Now() - Attempt.granted).label("age"),
).where(among(Attempt.id, "attempts"))


def tasks(
    transaction: Transaction, campaign: CampaignRecord, credentials: Collection[Credential]
) -> dict[int, int]:
    """The task of each attempt whose nonce is shown; see :func:`shown`."""
    [attempts] = shown(transaction, campaign, [credentials])
    return {attempt: row.task_index for attempt, row in attempts.items()}


def shown(
    transaction: Transaction, campaign: CampaignRecord, several: Sequence[Collection[Credential]]
) -> list[dict[int, Row[*tuple[Any, ...]]]]:
    """The rows (id, task, worker, steps, age) of the attempts whose nonces each of several workers shows.

    Other attempts, and those of other campaigns, are omitted.  Raises NoSuchCampaign when the campaign was deleted;
    a nonce proves that it was not.
    """
    ids = {credential.attempt for credentials in several for credential in credentials}
    rows = transaction.rows(_SHOWN, attempts=sorted(ids))
    here = {row.id: row for row in rows if row.campaign_id == transaction.campaign_id}
    genuine = [
        {
            credential.attempt: here[credential.attempt]
            for credential in credentials
            if credential.attempt in here and credential.is_genuine(here[credential.attempt].nonce)
        }
        for credentials in several
    ]
    if not any(genuine):
        catalogue.require_undeleted(transaction.connection, campaign)
    return genuine


# By the primary key alone: a database without statistics of its tables might read the whole campaign.
_OF_DELIVERIES = (
    select(
        Attempt.id,
        Attempt.campaign_id,
        Attempt.task_index,
        Attempt.nonce,
        Attempt.granted,
        (Now() - Attempt.granted).label("age"),
        Worker.voter_id,
        Campaign.secret,
        Result.value,
        Result.attempt_id.label("by"),
    )
    .join(Worker, Worker.id == Attempt.worker_id)
    .join(Campaign, Campaign.id == Attempt.campaign_id)
    .outerjoin(Result, same_task(Result, Attempt))
    .where(among(Attempt.id, "attempts"))
)


def of_deliveries(transaction: Transaction, deliveries: Sequence[Delivery]) -> list[AttemptRecord | None]:
    """The attempt of each delivery.

    None: it shows no nonce of an attempt at its task in this campaign, so it is a forgery or a mix-up, and must not
    touch the attempt of another worker.
    """
    attempt_ids = [delivery.attempt for delivery in deliveries]
    rows = {row.id: row for row in transaction.rows(_OF_DELIVERIES, attempts=attempt_ids)}
    return [
        AttemptRecord(
            row.task_index,
            row.granted,
            row.age,
            row.voter_id,
            row.secret,
            None if row.by is None else (row.value, row.by),
        )
        if row is not None
        and (row.campaign_id, row.task_index) == (transaction.campaign_id, delivery.index)
        and delivery.is_genuine(row.nonce)
        else None
        for delivery, row in ((delivery, rows.get(delivery.attempt)) for delivery in deliveries)
    ]
