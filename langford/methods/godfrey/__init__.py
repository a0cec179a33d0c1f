"""Godfrey's algebraic sum, point by point: the baseline of the polyphase form and its independent check."""

from __future__ import annotations

from typing import ClassVar

from langford.arithmetic import widths
from langford.devices import Cpu, Cuda
from langford.methods.plan import Method, Plan
from langford.problem import Problem

MAX_SUM = 63
"""Sums are packed into bytes with a bias of 64."""
MAX_DEPTH = 24
MAX_FREE = 64
"""Signs that run freely within a task, at most: kernels number its blocks of points in 63 bits."""


class Godfrey(Method):
    """All points in Gray-code order."""

    name = "godfrey"
    unit = "points"
    circles = False
    evaluators: ClassVar = {
        Cpu.kind: "langford.methods.godfrey.cpu:GodfreyOnCpu",
        Cuda.kind: "langford.methods.godfrey.cuda:GodfreyOnGpu",
    }

    def limit(self, problem: Problem) -> str | None:
        if problem.copies != 2:
            return "the algebraic methods count pairs only"
        if problem.loose:
            return "it counts rows whose empty places are given"
        if widths.sum_bound(problem) > MAX_SUM:
            return f"godfrey packs sums of at most {MAX_SUM} terms; the row is too long"
        if 2 * problem.n > MAX_DEPTH + MAX_FREE:
            return f"godfrey runs through 2^{2 * problem.n} points, which no machine can"
        return None

    def depths(self, problem: Problem) -> range:
        """Even numbers, so that the mirror maps prefixes to prefixes."""
        return range(max(0, 2 * problem.n - MAX_FREE), min(2 * problem.n, MAX_DEPTH) + 1, 2)

    def fewest_tasks(self, problem: Problem, depth: int) -> int:
        """A class has at most 8 prefixes: the images under two negations and the mirror."""
        return (1 << depth) // 8

    def suggested_depth(self, problem: Problem) -> int:
        """Deep enough that nearly every prefix has a mirror image other than itself."""
        depths = self.depths(problem)
        return min(max(10 if problem.n < 18 else 16, depths[0]), depths[-1])

    def split(self, problem: Problem, depth: int, seed: int) -> Plan:
        from langford.methods.godfrey.plan import GodfreyPlan

        return GodfreyPlan(self, problem, depth)
