"""The polyphase form of Godfrey's sum: the default method for pairs."""

from __future__ import annotations

from typing import ClassVar

from langford.devices import Cpu, Cuda
from langford.errors import MethodDoesNotApply
from langford.methods.plan import Method, Plan
from langford.methods.polyphase.components import components
from langford.problem import Problem


class Polyphase(Method):
    """Split the places into odd and even ones: most points vanish, the rest share products."""

    name = "polyphase"
    unit = "points"
    circles = False
    evaluators: ClassVar = {
        Cpu.kind: "langford.methods.polyphase.cpu:PolyphaseOnCpu",
        Cuda.kind: "langford.methods.polyphase.cuda:PolyphaseOnGpu",
    }

    def limit(self, problem: Problem) -> str | None:
        from langford.methods.polyphase.tables import PolyphaseShape

        try:
            PolyphaseShape.of(problem)
        except MethodDoesNotApply as error:
            return str(error)
        return None

    def depths(self, problem: Problem) -> range:
        """Even numbers: elements are fixed at both ends of u, then of v, in turn."""
        split = components(problem)
        shortest = min(split.u_length // 2, split.v_length // 2, 8)
        return range(0, 4 * shortest + 1, 2)

    def fewest_tasks(self, problem: Problem, depth: int) -> int:
        """Classes of u and of v have at most 8 prefixes each; the mirror exchanges two pairs at most."""
        return (1 << depth) // (8 * 8 * 2)

    def suggested_depth(self, problem: Problem) -> int:
        """Enough tasks for every core, none longer than minutes."""
        wanted = 4 * max(0, (problem.n - 8) // 4)
        return min(wanted, self.depths(problem)[-1])

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        from langford.methods.polyphase.plan import PolyphasePlan

        return PolyphasePlan(self, problem, depth)
