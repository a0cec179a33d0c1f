"""What counts each problem of a table, and what confirms it: a campaign of the ledger, or a new plan."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence

from db import Campaign, Ledger
from jobs.verify.confirmation import confirming
from jobs.verify.second_method import second_method, second_seed
from langford.devices import CPU, Device
from langford.errors import BadInput
from langford.methods import Method, PlanKey, chosen_plan
from langford.methods.speed import expected_seconds
from langford.problem import Problem
from langford.problem.pattern import Pattern


class MethodChoice:
    """The devices, the campaigns and the new plans for the problems of a table.

    Problems of one pattern have the same campaigns.
    """

    def __init__(
        self, problems: Iterable[Problem], devices: Sequence[Device], ledger: Ledger | None = None
    ) -> None:
        """
        Args:
            problems: of the table.
            devices: that count at the same time.
            ledger: see :meth:`look`.

        Raises as :func:`langford.methods.chosen_plan`.
        """
        self._devices = devices
        self._methods: dict[Problem, Method] = {}
        self._small: set[Problem] = set()
        for problem in problems:
            method = chosen_plan(problem, CPU).method
            if problem.n <= method.speeds.forecast(problem.copies).instant:
                self._small.add(problem)
            elif devices[0] != CPU:
                method = chosen_plan(problem, devices[0]).method
            self._methods[problem] = method
        self.look(ledger)

    def look(self, ledger: Ledger | None) -> None:
        """Note the campaigns of a ledger, as they are now; None: there is none."""
        self._campaigns: dict[Pattern, list[Campaign]] = {}
        for campaign in [] if ledger is None else ledger.campaigns():
            self._campaigns.setdefault(campaign.problem.pattern, []).append(campaign)

    def seconds(self, problems: Collection[Problem]) -> dict[Problem, float]:
        """Expected seconds of each of some problems, measured now; 0 for a small one."""
        large = [(problem, self._methods[problem]) for problem in problems if not self.small(problem)]
        return dict.fromkeys(problems, 0.0) | expected_seconds(large, self._devices)

    def small(self, problem: Problem) -> bool:
        """Whether a core of this process counts a problem in less time than another process takes to start."""
        return problem in self._small

    def devices(self, problem: Problem) -> Sequence[Device]:
        return [CPU] if self.small(problem) else self._devices

    def method(self, problem: Problem) -> Method:
        """The one that counts a problem that has no finished campaign."""
        return self._methods[problem]

    def first(self, problem: Problem) -> Campaign | None:
        """The oldest finished campaign, else the one by the method of choice of which the least is left.

        One that was cancelled comes last.
        """
        known = [(left_of(campaign), campaign) for campaign in self._campaigns.get(problem.pattern, [])]
        usable = [each for each in known if not each[0] or each[1].key.method == self.method(problem).name]
        return min(usable, key=lambda each: (each[1].reader.standing().is_stopped, each[0]), default=(1.0, None))[1]

    def second(self, problem: Problem, first: PlanKey) -> Campaign | None:
        """The one that confirms the count of a plan."""
        return confirming(self._campaigns.get(problem.pattern, []), first, self.devices(problem)[0].kind)

    def plan(self, problem: Problem) -> PlanKey:
        """Of a new campaign; raises as :func:`langford.methods.chosen_plan`."""
        return self._key(problem, self.method(problem))

    def confirming_plan(self, problem: Problem, first: PlanKey) -> PlanKey:
        """Of a new campaign that confirms the count of a plan; raises BadInput where there is no other sum."""
        kind = self.devices(problem)[0].kind
        method = second_method(first, kind)
        if method is None:
            raise BadInput(
                f"no other method with a kernel for {kind} counts {problem}: leave --confirm out, or choose "
                "another --device"
            )
        return self._key(first.problem, method, second_seed(first, method))

    def _key(self, problem: Problem, method: Method, seed: int = 0) -> PlanKey:
        """A small problem has the coarsest depth: a result costs more to keep than it saves."""
        depth = method.best_depths(problem)[0] if self.small(problem) else None
        return chosen_plan(problem, self.devices(problem)[0], method.name, depth, seed or None).key


def left_of(campaign: Campaign | None) -> float:
    """The part of its work that is left; 0 when it is finished, 1 of none."""
    if campaign is None:
        return 1.0
    standing = campaign.reader.standing()
    return max(sys.float_info.epsilon, 1.0 - standing.share_done) if standing.missing else 0.0
