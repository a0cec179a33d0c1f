"""The campaigns of a ledger that count entries of a table: finished ones, and those to resume."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from db import Campaign, Ledger
from jobs.tables.method_choice import MethodChoice
from langford.methods import PlanKey
from langford.problem import Problem
from langford.problem.pattern import Pattern


class Found(NamedTuple):
    """A campaign of a ledger that counts a problem."""

    campaign: Campaign
    left: float  # the part of its work that is left; 0 when it is finished
    # Whether some of its tasks wait for a worker, or have one.  Those of a cancelled campaign do not.
    live: bool


class Begun:
    """The campaigns of a ledger, as they are when they are first asked for.

    Problems of one pattern have the same campaigns.
    """

    def __init__(self, ledger: Ledger | None, choice: MethodChoice) -> None:
        self._choice = choice
        self._campaigns: dict[Pattern, list[Campaign]] = {}
        self._found: dict[Pattern, list[Found]] = {}
        for campaign in [] if ledger is None else ledger.campaigns():
            self._campaigns.setdefault(campaign.problem.pattern, []).append(campaign)

    def first(self, problem: Problem) -> Found | None:
        """A finished campaign, else one by the method of choice."""
        known = self._of(problem)
        return _finished(known) or _nearest(known, self._choice.first(problem).name)

    def second(self, problem: Problem, first: PlanKey) -> Found | None:
        """By another sum than that of a plan, and not one that was cancelled."""
        known = self._of(problem, first)
        finished, live = _finished(known), {each.campaign.key.method for each in known if each.live}
        if finished or not live:
            return finished
        method = self._choice.second(problem, first, live).name
        return _nearest(known, method) if method in live else None

    def _of(self, problem: Problem, beside: PlanKey | None = None) -> list[Found]:
        """Those of other sums than that of a plan, if one is given."""
        pattern = problem.pattern
        if pattern not in self._found:
            self._found[pattern] = [_found(campaign) for campaign in self._campaigns.get(pattern, [])]
        sum_beside = beside and (beside.method, beside.seed)
        return [each for each in self._found[pattern] if _sum(each.campaign) != sum_beside]


def _finished(known: Sequence[Found]) -> Found | None:
    """The oldest."""
    return next((each for each in known if not each.left), None)


def _nearest(known: Sequence[Found], method: str) -> Found | None:
    """The one by this method of which the least is left, a live one if there is any."""
    by_method = [each for each in known if each.campaign.key.method == method]
    return min(by_method, key=lambda each: (not each.live, each.left), default=None)


def _sum(campaign: Campaign) -> tuple[str, int]:
    return campaign.key.method, campaign.key.seed


def _found(campaign: Campaign) -> Found:
    standing = campaign.reader.standing()
    left = 0.0
    if standing.missing:
        left = max(sys.float_info.epsilon, 1.0 - standing.share_done)
    return Found(campaign, left, standing.unfinished > 0)
