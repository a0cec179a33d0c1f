"""Another kernel for Godfrey's sum: Python's integers, straight from the definition."""

from __future__ import annotations

from itertools import product
from math import prod

from langford.arithmetic.residue import MODULUS
from langford.devices import Device
from langford.methods.godfrey.plan import GodfreyPlan
from langford.result import PartialResult


class ExactGodfrey:
    """Evaluates the tasks of a plan point by point."""

    def __init__(self, plan: GodfreyPlan) -> None:
        self._plan = plan

    @classmethod
    def on(cls, plan: GodfreyPlan, device: Device) -> ExactGodfrey:
        """The evaluator for a core."""
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        plan, problem = self._plan, self._plan.problem
        negative = plan.negative_places(index)
        signs = {place: -1 if place in negative else 1 for place in problem.filled}
        total = residues = evaluated = 0
        for inner in product((1, -1), repeat=len(plan.inner_places)):
            signs.update(zip(plan.inner_places, inner, strict=True))
            sums = [sum(signs[k] * signs.get(k + d, 0) for k in signs) for d in problem.differences]
            term = prod(signs.values()) * prod(sums)
            total += term
            residues += term % MODULUS
            evaluated += term != 0
        weight = plan.weight(index)
        return PartialResult(index, weight * total, weight * residues % MODULUS, evaluated)
