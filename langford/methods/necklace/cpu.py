"""Evaluate the sum over necklaces on a core of the processor."""

from __future__ import annotations

import numpy as np

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue, zero_sum
from langford.devices import Device
from langford.kernels.cpu.compiled import compiled_once
from langford.kernels.cpu.necklace import build_necklace_sum
from langford.methods.necklace.plan import NecklacePlan, vanishing
from langford.result import PartialResult


class NecklaceOnCpu:
    def __init__(self, plan: NecklacePlan) -> None:
        self._plan = plan
        words = limbs.word_count(plan.term_bound)
        self._kernel = build_necklace_sum(words)
        self._tables = np.array([0, *plan.targets], np.int64), vanishing().reshape(-1)
        with compiled_once("necklace", words):
            self._sum(1, 0, -1)

    @classmethod
    def on(cls, plan: NecklacePlan, device: Device) -> NecklaceOnCpu:
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        plan = self._plan
        plan.require(index)
        if index == 0:
            return plan.rest_result()
        start, free = int(plan.prefixes[index]), int(plan.free[index])
        return PartialResult(index, *self._sum(int(plan.gaps[index]), start, start + (1 << free) - 1))

    def _sum(self, gap: int, start: int, last: int) -> tuple[int, int, int]:
        total, residues = limbs.zero(self._plan.sum_bound), zero_sum()
        first, end = np.uint64(start + (last < 0)), np.uint64(max(0, last))
        found = self._kernel(self._plan.problem.places, gap, first, end, *self._tables, total, residues)
        return limbs.to_int(total), residue(limbs.to_int(residues)), int(found)
