"""The sum over binary necklaces, for rows on a circle with no empty place but one and any others."""

from __future__ import annotations

from typing import ClassVar

from langford.devices import Cpu, Cuda
from langford.methods.necklace.limits import MAX_DEPTH, MAX_HOLES, MAX_PLACES, MIN_FREE, TASK_PLACES
from langford.methods.plan import Method, Plan
from langford.problem import Problem


class Necklace(Method):
    """Each necklace is represented by a word that begins with a longest run."""

    name = "necklace"
    unit = "points"
    evaluators: ClassVar = {
        Cpu.kind: "langford.methods.necklace.cpu:NecklaceOnCpu",
        Cuda.kind: "langford.methods.necklace.cuda:NecklaceOnGpu",
    }
    seeded = True

    def limit(self, problem: Problem) -> str | None:
        if not problem.circle:
            return "it counts rows on a circle, not on a line"
        if len(problem.empty) > 1:
            return "it counts circles on which at most one given place is empty"
        if problem.loose >= MAX_HOLES:
            return f"it counts circles with at most {MAX_HOLES} holes"
        if problem.places > MAX_PLACES:
            return f"it counts circles of at most {MAX_PLACES} places, not {problem.places}"
        return None

    def depths(self, problem: Problem) -> range:
        """Two places at least: those on both sides of the run."""
        return range(2, max(2, min(problem.places - MIN_FREE, MAX_DEPTH)) + 1)

    def suggested_depth(self, problem: Problem) -> int:
        """Enough tasks for every core, none longer than a minute or so."""
        return min(max(10, problem.places - TASK_PLACES), self.depths(problem)[-1])

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        from langford.methods.necklace.plan import NecklacePlan

        return NecklacePlan(self, problem, depth, seed)
