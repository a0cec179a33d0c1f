"""Marginals: in how many arrangements a colour begins at each place, and that their sum is the count.

A colour that is fixed is as many empty places more: each place is a problem with a campaign of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from jobs.tables.entries import Entry, Row
from jobs.verify.agreement import recomputing
from langford.errors import BadProblem, CheckFailed
from langford.problem import Problem
from langford.problem.bounds import LISTED
from langford.problem.recognition import require_no_condition
from langford.words import some


@dataclass(frozen=True)
class Marginals:
    """The places of one colour of a problem."""

    problem: Problem
    difference: int

    @classmethod
    def of(cls, problem: Problem, label: int) -> Marginals:
        """Of the colour with this label; raises BadProblem, and MethodDoesNotApply for a condition."""
        require_no_condition(problem)
        labels = [problem.label(d) for d in problem.different]
        if label not in labels:
            raise BadProblem(f"{problem} has no colour {label}: it has {some(labels, LISTED)}")
        if problem.fold > 1 or problem.n == 1:
            raise BadProblem(f"choose a problem with several colours, one of each difference, not {problem}")
        return cls(problem, problem.different[labels.index(label)])

    @cached_property
    def entries(self) -> list[Entry]:
        """One for each place where the colour can begin, with that place as its n, and one of all arrangements."""
        begun = sorted(map(self._place, self.problem.placements(self.difference)))
        fixed = [Entry(place, (), (self._beside(cubes),)) for place, cubes in begun]
        return [*fixed, Entry(0, (), (self.problem,))]

    def require_sum(self, rows: Sequence[Row]) -> int:
        """The number of all arrangements, from the rows of the entries; raises CheckFailed unless they add up."""
        *places, everything = rows
        total = sum(row.arrangements for row in places)
        if total != everything.arrangements:
            names = dict.fromkeys(name for row in rows for name in row.campaigns)
            raise CheckFailed(
                f"the places of {self.problem.label(self.difference)} add up to {total:,} arrangements, but "
                f"{self.problem} has {everything.arrangements:,}: find the wrong result with {recomputing(*names)}"
            )
        return total

    def _place(self, mask: int) -> tuple[int, tuple[int, ...]]:
        """(the first place, all places) of the colour; on a circle the second one is ``difference`` further on."""
        cubes = tuple(place for place in range(1, self.problem.places + 1) if mask >> place - 1 & 1)
        first = cubes[0] if cubes[1] - cubes[0] == self.difference else cubes[-1]
        return first, cubes

    def _beside(self, cubes: Sequence[int]) -> Problem:
        """The problem of all other colours."""
        others = (d for d in self.problem.differences if d != self.difference)
        problem, empty = self.problem, (*self.problem.empty, *cubes)
        return Problem.from_differences(
            others, problem.places, empty, problem.copies, problem.circle, holes=problem.loose
        )
