"""The shifted sum: linear forms and constants added to Godfrey's factors make nearly all of its terms zero.

Its two versions have other factors, and so other partial sums: results of one do not mix with those of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from langford.devices import Cpu, Cuda
from langford.errors import MethodDoesNotApply
from langford.methods.plan import Method, Plan
from langford.problem import Problem

if TYPE_CHECKING:
    from langford.methods.shifted.forms import Forms

MAX_PREFIX = 12
"""Elements that a task fixes in each component, at most."""


class Shifted(Method):
    """The first version, with sums; a seed chooses its partial sums."""

    name = "shifted"
    unit = "points"
    circles = False
    evaluators: ClassVar = {
        Cpu.kind: "langford.methods.shifted.cpu:ShiftedOnCpu",
        Cuda.kind: "langford.methods.shifted.cuda:ShiftedOnGpu",
    }
    seeded = True
    superseded_by: ClassVar[str | None] = "shifted2"

    @property
    def forms(self) -> type[Forms]:
        """Its factors."""
        from langford.methods.shifted.factors import Sums

        return Sums

    def limit(self, problem: Problem) -> str | None:
        from langford.methods.shifted.tables import ShiftedShape

        try:
            ShiftedShape.of(self.forms.outline(problem))
        except MethodDoesNotApply as error:
            return str(error)
        return None

    def depths(self, problem: Problem) -> range:
        """Even numbers: as many elements of u are fixed as of v."""
        return range(0, 2 * min(self.forms.outline(problem).components.longest_prefix, MAX_PREFIX) + 1, 2)

    def best_depths(self, problem: Problem) -> range:
        """Where u can be read backwards: multiples of 4.

        At others no task has a u together with its reverse, which share their even factors: the whole takes 15%
        longer on a core, and about twice as long on a GPU.
        """
        depths = self.depths(problem)
        return depths[::2] if self.forms.outline(problem).components.reversible else depths

    def fewest_tasks(self, problem: Problem, depth: int) -> int:
        """A class has at most two prefixes, a pair of classes at most two orders."""
        return (1 << depth) // 8

    def suggested_depth(self, problem: Problem) -> int:
        """Enough tasks for every core, none longer than minutes."""
        return min(4 * max(0, (problem.n - 12) // 4), self.depths(problem)[-1])

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        from langford.methods.shifted.plan import ShiftedPlan

        return ShiftedPlan(self, problem, depth, seed, self.forms)


class Shifted2(Shifted):
    """The second version, with differences: fastest for large n."""

    name = "shifted2"
    superseded_by = None

    @property
    def forms(self) -> type[Forms]:
        from langford.methods.shifted.factors import Differences

        return Differences

    def limit(self, problem: Problem) -> str | None:
        reason = super().limit(problem)
        evens = sum(d % 2 == 0 for d in problem.differences)
        if reason is None and evens % 2 and self.forms.outline(problem).components.exchanged:
            reason = f"the mirror changes the signs of {evens} even factors, an odd number"
        return reason
