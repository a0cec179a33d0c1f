"""Evaluate the sum over sets of places on a core, with Python's integers."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from langford.arithmetic.residue import MODULUS
from langford.devices import Device
from langford.result import PartialResult
from tests.extensions.inclusion.plan import InclusionPlan


class InclusionOnCpu:
    """Evaluates the tasks of a plan."""

    def __init__(self, plan: InclusionPlan) -> None:
        self._plan = plan
        self._placements = [plan.problem.placements(difference) for difference in plan.problem.differences]

    @classmethod
    def on(cls, plan: InclusionPlan, device: Device) -> InclusionOnCpu:
        """The evaluator for a core."""
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        fixed = self._plan.fixed(index)
        total = residues = evaluated = 0
        for free in subsets(self._plan.free):
            term = self._term(fixed | free)
            total += term
            residues += term % MODULUS
            evaluated += 1
        return PartialResult(index, total, residues % MODULUS, evaluated)

    def _term(self, chosen: int) -> int:
        """The term of one set of places."""
        outside = self._plan.problem.free_mask & ~chosen
        product = prod(sum(not mask & outside for mask in masks) for masks in self._placements)
        return -product if outside.bit_count() % 2 else product


def subsets(places: int) -> Iterator[int]:
    """All subsets of a mask, the full one first."""
    subset = places
    while subset:
        yield subset
        subset = subset - 1 & places
    yield 0
