"""Evaluate backtracking tasks on a core of the processor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from langford.devices import Device
from langford.kernels.cpu.compiled import compiled_once
from langford.methods.backtracking.kernels.backtrack import count_by_largest, count_regular
from langford.methods.backtracking.order import rows_of
from langford.methods.backtracking.plan import BacktrackingPlan, MillerPlan, RegularPlan
from langford.result import PartialResult

AnyPlan = TypeVar("AnyPlan", bound=BacktrackingPlan)


class BacktrackingOnCpu(ABC, Generic[AnyPlan]):
    def __init__(self, plan: AnyPlan) -> None:
        self.plan = plan
        if plan.depth < plan.problem.n:
            with compiled_once(plan.method.name, plan.frees.ndim, plan.circle is not None, plan.folded is not None):
                self.search(plan.frees[:0], plan.depth)

    @classmethod
    def on(cls, plan: AnyPlan, device: Device) -> Self:
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        plan = self.plan
        plan.require(index)
        if plan.depth == plan.problem.n:
            # Every colour is placed: a feasible task is an arrangement.
            return plan.partial_result(index, 1, 1, 1)
        return plan.partial_result(index, *self.search(plan.frees[index : index + 1], plan.depth))

    @abstractmethod
    def search(self, frees: NDArray[np.uint64], depth: int) -> tuple[int, int, int]:
        """(arrangements, the same mod 2^64 − 1, nodes) below free masks with ``depth`` colours placed."""


class MillerOnCpu(BacktrackingOnCpu[MillerPlan]):
    def search(self, frees: NDArray[np.uint64], depth: int) -> tuple[int, int, int]:
        return self.search_switching(frees, depth, self.plan.levels(depth))

    def search_switching(self, frees: NDArray[np.uint64], depth: int, levels: int) -> tuple[int, int, int]:
        """As :meth:`search`, with ``levels`` colours placed in order before the search goes by position."""
        plan = self.plan
        counted: tuple[int, int, int] = count_by_largest(
            frees, plan.unplaced(depth), plan.problem.copies, plan.shapes, levels, plan.circle, plan.folded
        )
        return counted


class RegularOnCpu(BacktrackingOnCpu[RegularPlan]):
    def __init__(self, plan: RegularPlan) -> None:
        # The placements of the test-free colours one after another, and where each colour's begin and end.
        masks = plan.assigned()
        self._rows = rows_of([mask for row in masks for mask in row], plan.problem)
        self._ends = np.cumsum([0, *map(len, masks)])
        super().__init__(plan)

    def search(self, frees: NDArray[np.uint64], depth: int) -> tuple[int, int, int]:
        plan = self.plan
        counted: tuple[int, int, int] = count_regular(
            frees,
            plan.unplaced(depth),
            plan.problem.copies,
            plan.shapes,
            plan.levels(depth),
            self._rows,
            self._ends,
            plan.circle,
        )
        return counted
