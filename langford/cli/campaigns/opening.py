"""The campaigns that a farm works on: named, or created from a problem in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import db
from langford.cli.campaigns.running import create_campaign, existing
from langford.devices import Device
from langford.errors import BadInput, BadProblem
from langford.ledger import Ledger
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
        absent = [word for word in words if found is None or not found.has(word)]
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
