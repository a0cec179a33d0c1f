"""Counting by inclusion and exclusion over sets of places: for any number of copies, and small rows.

Choose one placement of every colour, overlaps allowed: the colours form an arrangement exactly when they
cover all places.  So, with the sum over all sets X of places,

    arrangements = Σ_X (−1)^(places outside X) Π_d (placements of colour d within X)
"""

from __future__ import annotations

from typing import ClassVar

from langford.methods.plan import Method, Plan
from langford.methods.speeds import Growth, Speeds
from langford.problem import Problem

MAX_PLACES = 24


class Inclusion(Method):
    """Inclusion and exclusion."""

    name = "inclusion"
    unit = "points"
    evaluators: ClassVar = {"cpu": "tests.extensions.inclusion.cpu:InclusionOnCpu"}
    speeds = Speeds(others=Growth(instant=7, probe=7))

    def limit(self, problem: Problem) -> str | None:
        places = len(problem.filled)
        return (
            f"inclusion visits all sets of up to {MAX_PLACES} places, not {places}" if places > MAX_PLACES else None
        )

    def depths(self, problem: Problem) -> range:
        return range(min(len(problem.filled), 10) + 1)

    def suggested_depth(self, problem: Problem) -> int:
        return min(4, len(problem.filled))

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        from tests.extensions.inclusion.plan import InclusionPlan

        return InclusionPlan(self, problem, depth)
