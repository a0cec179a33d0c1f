"""What is left of a campaign, and which others count the same problem."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from db.errors import NoLedger
from db.store.database import without_password
from jobs.tuning.forecast import spread
from langford.cli.output import display
from langford.cli.output.how_long import DryRun, seconds_on
from langford.devices import Device
from langford.ledger import Ledger
from langford.methods import METHODS, ChosenPlan, PlanKey, plan_of
from langford.words import several


@contextmanager
def existing(address: str) -> Iterator[Ledger | None]:
    """The ledger at an address, without creating one; None: there is none yet.  Raises LedgerError."""
    try:
        ledger = Ledger(address, create=False)
    except NoLedger:
        yield None
        return
    with ledger:
        yield ledger


def key_in(address: str, new: ChosenPlan, name: str | None) -> PlanKey:
    """The plan of the campaign that is resumed at an address; that of the new one, where none is."""
    with existing(address) as ledger:
        campaign = None if ledger is None else ledger.begun(new, name)
        return new.key if campaign is None else campaign.key


def planned(
    ledger: Ledger | None,
    address: str,
    name: str | None,
    key: PlanKey,
    chosen_devices: Sequence[Device],
    why: str = "",
) -> DryRun:
    """What it would take to complete a campaign; ``why``: its method was chosen, in words."""
    name = name or key.name
    campaigns = {} if ledger is None else {campaign.name: campaign for campaign in ledger.campaigns()}
    left, share = len(plan_of(key).tasks), 1.0
    if name in campaigns:
        standing = campaigns[name].standing()
        left, share = standing.unfinished, 1 - standing.work_done / campaigns[name].work
    state = "is resumed" if name in campaigns else "would be created"
    return DryRun(
        f"campaign {name} ({state}): {key.problem} by {key.method} at depth {key.depth}{f', {why}' if why else ''}",
        left,
        seconds_on(key.problem, METHODS[key.method], chosen_devices) * share,
        chosen_devices,
        place_of(ledger, address),
        spread(key.problem, METHODS[key.method]),
    )


def place_of(ledger: Ledger | None, address: str) -> str:
    """``ledger``: None: there is none yet at the address."""
    place = without_password(address)
    return place if ledger is not None else f"{place} (would be created)"


def name_others(ledger: Ledger, key: PlanKey) -> None:
    """Name the unfinished campaigns of the same problem before another one is created."""
    for other in ledger.campaigns():
        if other.problem == key.problem and other.key != key:
            standing = other.standing()
            done = standing.tasks_done
            if done and standing.unfinished:
                share = standing.work_done / other.work
                so_far = f"{done:,} of {several(other.tasks, 'task')}, {share:.0%} of the work"
                display.say(
                    f"{other.name} counts the same and is unfinished ({so_far}): "
                    f"`langford run {other.name}` resumes it"
                )
