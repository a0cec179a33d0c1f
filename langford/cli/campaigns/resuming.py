"""Which campaign ``langford run`` resumes."""

from __future__ import annotations

from collections.abc import Sequence

from db import Campaign, Ledger
from db.states import TaskState
from langford.cli.campaigns.running import create_campaign
from langford.cli.options.groups import CampaignOptions
from langford.cli.output import display
from langford.methods import Method, PlanKey, find_method
from langford.words import several


def resumed(ledger: Ledger, name: str, device: str) -> Campaign:
    """The campaign of a name, if this version can resume it on a kind of device.

    Raises NoSuchCampaign, MethodDoesNotApply or CampaignMismatch.
    """
    key = ledger.campaign(name).key
    find_method(key.method, key.problem).require_kernel(device)
    return create_campaign(ledger, key, name, yes=True)


def name_others(ledger: Ledger, key: PlanKey) -> None:
    """Name the unfinished campaigns of the same problem before another one is created."""
    for other in ledger.campaigns():
        if other.problem == key.problem and other.key != key:
            standing = other.standing()
            done = standing.tasks.get(TaskState.DONE, 0)
            if done and standing.unfinished:
                share = standing.work.get(TaskState.DONE, 0.0) / other.work
                so_far = f"{done:,} of {several(other.tasks, 'task')}, {share:.0%} of the work"
                display.say(
                    f"{other.name} counts the same and is unfinished ({so_far}): "
                    f"`langford run {other.name}` resumes it"
                )


def key_to_resume(ledger: Ledger, chosen: CampaignOptions, methods: Sequence[Method]) -> PlanKey | None:
    """The plan of the campaign that the command resumes; None for a new campaign.

    The campaign of the first method is preferred to those of the others.  So the same command resumes its campaign
    even when another method has been measured to be faster since.
    """
    keys = [campaign.key for campaign in ledger.campaigns() if chosen.name in (None, campaign.name)]
    matching = [key for key in keys if chosen.matches(key)]
    return next((key for method in methods for key in matching if key.method == method.name), None)
