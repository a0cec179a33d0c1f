"""What a ledger has of the counts of a table: campaigns that are finished, and those that were begun."""

from __future__ import annotations

from collections.abc import Sequence

from db import Campaign, Ledger
from langford.problem import Problem


class Begun:
    """The campaigns of a ledger by the problem that they count."""

    def __init__(self, ledger: Ledger | None) -> None:
        """
        Args:
            ledger: its campaigns of now; None: there is none yet.
        """
        self._campaigns: dict[Problem, list[Campaign]] = {}
        for campaign in [] if ledger is None else ledger.campaigns():
            self._campaigns.setdefault(campaign.problem, []).append(campaign)

    def of(self, problem: Problem, beside: Campaign | None = None) -> Sequence[Campaign]:
        """The campaigns of a problem, the oldest first; those of other sums than ``beside``, where it is given."""
        campaigns = self._campaigns.get(problem, [])
        return [each for each in campaigns if beside is None or _sum(each) != _sum(beside)]

    def parts_left(self, problem: Problem, sums: int) -> list[float]:
        """How much is left of each of so many sums of a problem, the least first.

        0 of a sum that is finished, 1 of one that has not begun.
        """
        left: dict[tuple[str, int], float] = {}
        for campaign in self.of(problem):
            left[_sum(campaign)] = min(_part_left(campaign), left.get(_sum(campaign), 1.0))
        return sorted([*left.values(), *[1.0] * sums])[:sums]


def tasks_left(campaign: Campaign) -> int:
    """How many tasks of a campaign have no result."""
    return campaign.tasks - campaign.standing().tasks_done


def _sum(campaign: Campaign) -> tuple[str, int]:
    """Which of the sums that count a problem a campaign computes."""
    return campaign.key.method, campaign.key.seed


def _part_left(campaign: Campaign) -> float:
    """The part of a campaign's work that is left; all of one that was cancelled, which another one replaces."""
    standing = campaign.standing()
    if standing.tasks_done == campaign.tasks:
        return 0.0
    return 1.0 - standing.work_done / campaign.work if standing.unfinished else 1.0
