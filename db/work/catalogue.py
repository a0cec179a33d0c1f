"""The campaigns of a ledger: found by their names, read again, or deleted meanwhile."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, Row, select

from db.errors import LedgerUnusable, NoSuchCampaign
from db.records import CampaignRecord
from db.schema.models import Campaign
from db.store.addresses import without_password
from db.store.transaction import CAMPAIGN
from langford.errors import BadProblem
from langford.methods import PlanKey
from langford.problem import Problem
from langford.words import several

NEAREST = 3
"""The most names that are proposed for a wrong one."""

# Without the secret of the draw, which a role that only reads may not see.
_CAMPAIGNS = select(*(column for column in Campaign.__table__.columns if column.key != Campaign.secret.key))


def campaign(connection: Connection, name: str) -> CampaignRecord | None:
    """None: there is none."""
    row = connection.execute(_CAMPAIGNS.where(Campaign.name == name)).one_or_none()
    return None if row is None else _campaign_of(row)


def required_campaign(connection: Connection, name: str, where: str) -> CampaignRecord:
    """Raises NoSuchCampaign; ``where``: the ledger's name in the message."""
    record = campaign(connection, name)
    if record is None:
        names = [known.name for known in campaigns(connection)]
        near = names if len(names) <= NEAREST else get_close_matches(name, names, NEAREST)
        if near:
            advice = f"did you mean {', '.join(near)}?"
        elif names:
            advice = f"it has {several(len(names), 'campaign')}, which `langford status` lists"
        else:
            advice = "it has none yet: `langford create` makes one"
        raise NoSuchCampaign(f"no campaign {without_password(name)!r} in {where}: {advice}")
    return record


def present(connection: Connection, campaign: CampaignRecord) -> CampaignRecord:
    """A campaign as it is now; raises NoSuchCampaign when it was deleted."""
    row = connection.execute(_CAMPAIGNS.where(Campaign.uuid == campaign.uuid)).one_or_none()
    if row is None:
        raise deleted(campaign)
    return _campaign_of(row)


_STILL_THERE = select(Campaign.uuid).where(Campaign.id == CAMPAIGN)


def require_undeleted(connection: Connection, campaign: CampaignRecord) -> None:
    """Raises NoSuchCampaign when the campaign was deleted; SQLite reuses its number for the next one."""
    if connection.scalar(_STILL_THERE, {"campaign": campaign.campaign_id}) != campaign.uuid:
        raise deleted(campaign)


def deleted(campaign: CampaignRecord) -> NoSuchCampaign:
    return NoSuchCampaign(
        f"the campaign {campaign.name!r} was deleted: `langford status` shows those that are left"
    )


def campaigns(connection: Connection) -> list[CampaignRecord]:
    """Oldest first."""
    return [_campaign_of(row) for row in connection.execute(_CAMPAIGNS.order_by(Campaign.id))]


def _campaign_of(row: Row[Any]) -> CampaignRecord:
    """Raises LedgerUnusable for a problem that only a later version knows."""
    try:
        problem = Problem.parse(row.problem)
    except BadProblem as error:
        raise LedgerUnusable(
            f"this version cannot read the campaign {row.name} ({error}): use the version that created it"
        ) from error
    key = PlanKey(problem, row.method, row.depth, row.seed)
    return CampaignRecord(row.id, row.uuid, row.name, key, row.tasks, row.work, row.created, row.recheck_share)
