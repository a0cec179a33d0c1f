"""The campaigns that a farm works on: named, or created from a problem in words; and the token of their workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import db
from db.states import Role
from langford.cli.campaigns.running import create_campaign, existing
from langford.devices import Device
from langford.errors import BadInput, BadProblem
from langford.ledger import Ledger
from langford.machine.durable import replace_file
from langford.methods import ChosenPlan, chosen_plan
from langford.problem import Problem


@dataclass(frozen=True)
class Opened:
    """``is_named``: whether the words were names of campaigns, and no problem."""

    ledger: Ledger
    campaigns: Sequence[db.Campaign]
    is_named: bool


def new_plan(problem: Problem, device: Device, task_seconds: float | None) -> ChosenPlan:
    """The plan of a campaign for workers elsewhere; raises BadInput where nothing is to be computed."""
    if problem.obstruction:
        raise BadInput(
            f"{problem} = 0, so there is nothing to compute: no arrangement exists, {problem.obstruction}; "
            "`langford create --anyway` creates a campaign regardless"
        )
    return chosen_plan(problem, device, task_seconds=task_seconds, shared=True)


@contextmanager
def opened(
    address: str, words: Sequence[str], device: Device, task_seconds: float | None = None
) -> Iterator[Opened]:
    """The campaigns that words name; one is created from a problem in words, if there is none.

    ``device``, ``task_seconds``: of a new one, as for :func:`langford.methods.chosen_plan`.  Raises NoLedger,
    NoSuchCampaign, BadProblem, BadInput, and as that function.
    """
    with existing(address) as found:
        known = [] if found is None else [campaign.name for campaign in found.campaigns()]
    absent = [word for word in words if word not in known]
    if absent:
        new = _planned(words, device, task_seconds, is_name=len(words) == 1 or len(absent) < len(words))
    if not absent or new is None:
        with Ledger(address, create=False) as ledger:
            yield Opened(ledger, [ledger.named(name) for name in dict.fromkeys(words)], is_named=True)
        return
    with Ledger(address, create=True) as ledger:
        begun = ledger.begun(new)
        yield Opened(ledger, [begun or create_campaign(ledger, new.key, None, yes=False)], is_named=False)


def _planned(words: Sequence[str], device: Device, task_seconds: float | None, is_name: bool) -> ChosenPlan | None:
    """The plan of the problem in these words; None where they rather are the name of a campaign."""
    try:
        problem = Problem.parse(" ".join(words))
    except BadProblem:
        if is_name:
            return None
        raise
    return new_plan(problem, device, task_seconds)


def keep_token(campaign: db.Campaign, token: str, file: Path) -> None:
    """Write a new token to a file; if that fails, the token is revoked, since no one has received it."""
    try:
        replace_file(file, f"{token}\n".encode(), private=True)
    except BaseException:
        campaign.revoke(token)
        raise


def worker_token(campaign: db.Campaign, file: Path, label: str) -> None:
    """Write a worker's token to a file that only the user may read, unless there is a file."""
    if not file.exists():
        keep_token(campaign, campaign.new_token(Role.WORKER, None, label), file)
