"""The campaigns of a ledger that count entries of a table: finished ones, and those to resume."""

from __future__ import annotations

import sys
from typing import NamedTuple

from db import Campaign, Ledger
from jobs.tables.method_choice import MethodChoice
from jobs.verify.confirmation import confirming
from langford.methods import PlanKey
from langford.problem import Problem
from langford.problem.pattern import Pattern


class Found(NamedTuple):
    """A campaign of a ledger that counts a problem."""

    campaign: Campaign
    left: float  # the part of its work that is left; 0 when it is finished


class Begun:
    """The campaigns of a ledger, as they are when they are first asked for.

    Problems of one pattern have the same campaigns.
    """

    def __init__(self, ledger: Ledger | None, choice: MethodChoice) -> None:
        self._choice = choice
        self._campaigns: dict[Pattern, list[Campaign]] = {}
        for campaign in [] if ledger is None else ledger.campaigns():
            self._campaigns.setdefault(campaign.problem.pattern, []).append(campaign)

    def first(self, problem: Problem) -> Found | None:
        """The oldest finished campaign, else the one by the method of choice of which the least is left."""
        method = self._choice.first(problem).name
        known = [_found(campaign) for campaign in self._campaigns.get(problem.pattern, [])]
        usable = [each for each in known if not each.left or each.campaign.key.method == method]
        return min(usable, key=lambda each: each.left, default=None)

    def second(self, problem: Problem, first: PlanKey) -> Found | None:
        """The one that confirms a plan."""
        campaigns = self._campaigns.get(problem.pattern, [])
        campaign = confirming(campaigns, first, self._choice.devices(problem)[0].kind)
        return None if campaign is None else _found(campaign)


def _found(campaign: Campaign) -> Found:
    standing = campaign.reader.standing()
    return Found(campaign, max(sys.float_info.epsilon, 1.0 - standing.share_done) if standing.missing else 0.0)
