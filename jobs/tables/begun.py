"""What a ledger has of the counts of a table: campaigns that are finished, and those that were begun."""

from __future__ import annotations

import sys
from typing import NamedTuple

from db import Campaign, Ledger
from jobs.tables.entries import Shape, representative
from langford.methods import PlanKey
from langford.problem import Problem


class Found(NamedTuple):
    campaign: Campaign
    left: float  # the part of its work that is left; 0 when it is finished
    # Whether some of its tasks wait for a worker, or have one.  Those of a cancelled campaign do not.
    live: bool


class Begun:
    """The campaigns of a ledger, as they are when they are asked for first.

    A problem and the one whose rows are read backwards have one count, and the same campaigns.
    """

    def __init__(self, ledger: Ledger | None) -> None:
        self._campaigns: dict[tuple[str, Shape], list[Campaign]] = {}
        self._found: dict[tuple[str, Shape], list[Found]] = {}
        for campaign in [] if ledger is None else ledger.campaigns():
            self._campaigns.setdefault(_rows(campaign.problem), []).append(campaign)

    def finished(self, problem: Problem, beside: PlanKey | None = None) -> Found | None:
        """The oldest finished campaign of a problem; one of another sum than that of a plan, if one is given."""
        return next((each for each in self._of(problem, beside) if not each.left), None)

    def live_methods(self, problem: Problem, beside: PlanKey) -> set[str]:
        """By which methods campaigns of other sums than that of a plan count a problem."""
        return {each.campaign.key.method for each in self._of(problem, beside) if each.live}

    def nearest(self, problem: Problem, method: str, beside: PlanKey | None = None) -> Found | None:
        """The campaign of a problem by this method of which the least is left, a live one if there is any."""
        by_method = [each for each in self._of(problem, beside) if each.campaign.key.method == method]
        return min(by_method, key=lambda each: (not each.live, each.left), default=None)

    def _of(self, problem: Problem, beside: PlanKey | None) -> list[Found]:
        rows = _rows(problem)
        if rows not in self._found:
            self._found[rows] = [_found(campaign) for campaign in self._campaigns.get(rows, [])]
        sum_beside = beside and (beside.method, beside.seed)
        return [each for each in self._found[rows] if _sum(each.campaign) != sum_beside]


def _rows(problem: Problem) -> tuple[str, Shape]:
    """The same for a problem of a variant and the one whose rows are read backwards."""
    return problem.variant, representative(problem)


def _sum(campaign: Campaign) -> tuple[str, int]:
    return campaign.key.method, campaign.key.seed


def _found(campaign: Campaign) -> Found:
    standing = campaign.standing()
    left = 0.0
    if standing.tasks_done < campaign.tasks:
        left = max(sys.float_info.epsilon, 1.0 - standing.work_done / campaign.work)
    return Found(campaign, left, standing.unfinished > 0)
