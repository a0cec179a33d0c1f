"""Whether the results of a campaign may be merged: none is in doubt, and the promised share is replicated."""

from __future__ import annotations

from db.errors import ConflictingResults, Unreplicated, UntrustedResults
from db.records import CampaignRecord
from db.states import Doubt
from db.store.transaction import Transaction
from db.trust import waiting
from langford.words import several


def require_trust(transaction: Transaction, campaign: CampaignRecord, unconfirmed: bool = False) -> None:
    """Raises ConflictingResults, UntrustedResults or Unreplicated, whose message names what the merge waits for."""
    name = campaign.name
    decide = f"decide here: `langford verify {name} --waiting`"
    conflicts = waiting.in_conflict(transaction)
    if conflicts:
        values = waiting.values_in_conflict(transaction, conflicts[0])
        ties = waiting.in_conflict(transaction, [Doubt.TIE])
        raise ConflictingResults(
            f"{several(len(conflicts), f'task of {name} has', f'tasks of {name} have')} conflicting results "
            f"(first: task {conflicts[0]}, {values}): "
            + (f"{len(ties)} are a tie, which more workers will not end; " if ties else "")
            + f"run another worker on another host, whose vote counts: {_another_worker(campaign)}, or {decide}"
        )
    untrusted = waiting.untrusted(transaction)
    if untrusted:
        raise UntrustedResults(
            f"{several(len(untrusted), f'result of {name} is', f'results of {name} are')} in question, or from "
            f"workers that others found wrong (first: task {untrusted[0]}): run another worker, which evaluates "
            f"them again: {_another_worker(campaign)}, or {decide}"
        )
    replication = waiting.replication(transaction)
    missing = replication.drawn - replication.replicated
    if missing and not unconfirmed:
        raise Unreplicated(
            f"{name} has {replication.words}: {missing:,} wait for a worker on another host, with another token if "
            f"it uses a server (`langford token {name}`): {_another_worker(campaign)}, or {decide}, or print the "
            f"count as it is: `langford result {name} --unconfirmed`"
        )


def _another_worker(campaign: CampaignRecord) -> str:
    return f"`langford run {' '.join(campaign.key.arguments)} --name {campaign.name}` on this ledger"
