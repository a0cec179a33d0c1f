"""Move results between ledgers through files, and merge files without a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from db import Campaign, Export, Ledger, joined, read_export
from db.errors import CampaignMismatch
from db.states import EventKind
from jobs.identity import Identity
from langford.methods import Count, Plan, merge, plan_of


def plan_for(export: Export) -> Plan:
    """The plan of an export; raises CampaignMismatch when this version splits the problem in another way."""
    plan = plan_of(export.key)
    if len(plan.work) != export.tasks:
        raise CampaignMismatch(
            f"{export.name} was split into {export.tasks} tasks, this version splits it into "
            f"{len(plan.work)}: use the version that exported it"
        )
    return plan


def take(ledger: Ledger, file: Path) -> tuple[Campaign, list[EventKind | None]]:
    """Import a file into a ledger; the campaign is created unless it exists.

    Returns the campaign, and the event of each result that is new to the ledger, see db.Campaign.take.
    Raises BadExport, CampaignMismatch or CheckFailed.
    """
    export = read_export(file)
    plan = plan_for(export)
    campaign = ledger.create_campaign(export.name, export.key, plan.work.tolist())
    identity = Identity.fresh()
    ledger.enrol(identity.worker_id, identity.host, identity.process)
    return campaign, campaign.take(identity.worker_id, export.results)


def count_of(files: Sequence[Path]) -> tuple[Export, Count]:
    """The results of several files of one campaign, and the count that follows from them.

    Raises BadExport, CampaignMismatch, Incomplete, ConflictingResults or CheckFailed.
    """
    export = joined([read_export(file) for file in files])
    return export, merge(plan_for(export), [evaluation.result for evaluation in export.results])
