"""A family with a condition that mirror images do not share, and the method that counts it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from langford.arithmetic.residue import residue
from langford.devices import Device
from langford.methods.plan import Method, Plan
from langford.methods.speeds import Growth, Speeds
from langford.problem import Problem
from langford.problem.variants import HOLE, Variant
from langford.result import Expectation, PartialResult

CONDITION = "headed by the smallest colour"
HEADED = Variant("headed", "headed", empty=lambda n, hole: [hole], parameters=(HOLE,), condition=CONDITION)


def headed(problem: Problem) -> int:
    """The number of arrangements whose first cube has the smallest colour."""
    smallest, *others = problem.differences
    first = [mask for mask in problem.placements(smallest) if mask & problem.free_mask & -problem.free_mask]
    return sum(_ways(problem, others, problem.free_mask ^ mask) for mask in first)


def _ways(problem: Problem, differences: list[int], free: int) -> int:
    if not differences:
        return 1
    *others, largest = differences
    fitting = [mask for mask in problem.placements(largest) if mask & ~free == 0]
    return sum(_ways(problem, others, free ^ mask) for mask in fitting)


class Heads(Method):
    name = "heads"
    unit = "nodes"
    conditions = (CONDITION,)
    evaluators: ClassVar = {"cpu": "tests.extensions.headed:HeadsOnCpu"}
    speeds = Speeds(others=Growth(instant=7, probe=7))

    def limit(self, problem: Problem) -> str | None:
        return None if problem.condition else "it counts rows with a head only"

    def depths(self, problem: Problem) -> range:
        return range(1)

    def suggested_depth(self, problem: Problem) -> int:
        return 0

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        return HeadsPlan(self, problem, depth)


class HeadsPlan(Plan):
    multiplier = 1
    work = np.ones(1)

    def expectation(self, index: int) -> Expectation:
        return Expectation(0, 0, 2**40)


class HeadsOnCpu:
    def __init__(self, plan: Plan) -> None:
        self._problem = plan.problem

    @classmethod
    def on(cls, plan: Plan, device: Device) -> HeadsOnCpu:
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        number = headed(self._problem)
        return PartialResult(index, number, residue(number), 1)
