"""The regularised form of backtracking (Loiseau's thesis, figure 1.4).

The last r colours are assigned without any test in between: all but one are formed in every
way, and one test at the leaf asks whether the last is what they leave.  More work, none of it
irregular: the reference for the comparison with ``miller``.
"""

from __future__ import annotations

from typing import ClassVar

from langford.devices import Cpu, Cuda
from langford.methods.backtracking.method import BacktrackingMethod
from langford.problem import Problem


class Regular(BacktrackingMethod):
    """Test-free evaluation of the last colours."""

    name = "regular"
    plans = "langford.methods.backtracking.plan:RegularPlan"
    evaluators: ClassVar = {
        Cpu.kind: "langford.methods.backtracking.cpu:RegularOnCpu",
        Cuda.kind: "langford.methods.backtracking.cuda:RegularOnGpu",
    }

    def suggested_depth(self, problem: Problem) -> int:
        return min(problem.n, 2)
