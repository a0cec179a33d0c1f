"""What is left to count for a table, and how long it will take."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from db import Ledger
from jobs.tables.entries import Entry
from jobs.tables.method_choice import MethodChoice, left_of
from langford.devices import Device
from langford.methods import PlanKey
from langford.problem import Problem

MIN_SECONDS = 0.05
"""Seconds that the smallest count takes, creating its campaign included."""


class TableForecast:
    """What a table has to count, and how long that takes.

    Attributes:
        entries: of the table.
        sums: how many sums count each problem: 2 to confirm the first.
        choice: the devices and methods.
        shares: expected seconds of each of a problem's sums, without what the ledger has.
        expected: of all its sums, the shortest first; 0 where the ledger has them.
    """

    def __init__(
        self, entries: Sequence[Entry], devices: Sequence[Device], confirm: bool, ledger: Ledger | None = None
    ) -> None:
        """
        Args:
            entries: of the table.
            devices: that count at the same time.
            confirm: whether everything is counted twice.
            ledger: what it has is not counted again; None: there is none.

        Raises as :func:`langford.methods.chosen_plan`.
        """
        self.entries, self.sums = entries, 1 + confirm
        wanted = [problem for entry in entries for problem in entry.problems if not problem.obstruction]
        problems = {problem.pattern: problem for problem in reversed(wanted)}
        self.choice = MethodChoice(problems.values(), devices, ledger)
        left = {problem: self._parts_left(problem) for problem in problems.values()}
        seconds = self.choice.seconds([problem for problem, parts in left.items() if any(parts)])
        self.shares = {
            problem: [part * max(MIN_SECONDS, seconds.get(problem, 0.0)) for part in parts]
            for problem, parts in left.items()
        }
        expected = {problem: fsum(shares) for problem, shares in self.shares.items()}
        self.expected = dict(sorted(expected.items(), key=lambda each: (each[1], each[0].n, each[0].name)))

    @property
    def seconds(self) -> float:
        return fsum(self.expected.values())

    @property
    def found(self) -> int:
        return sum(not seconds for seconds in self.expected.values())

    def _parts_left(self, problem: Problem) -> list[float]:
        """0 of a sum that the ledger has, 1 of one that has not begun."""
        first = self.choice.first(problem)
        left = [left_of(first)]
        if self.sums == 2:
            key = PlanKey(problem, self.choice.method(problem).name, 0) if first is None else first.key
            left.append(left_of(self.choice.second(problem, key)))
        return left
