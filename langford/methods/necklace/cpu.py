"""Evaluate the sum over necklaces on a core of the processor."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.devices import Device
from langford.kernels.cpu.compiled import compiled_once
from langford.methods.necklace.kernels.necklace import MIDDLE, ROWS, build_necklace_sum
from langford.methods.necklace.plan import NecklacePlan
from langford.result import PartialResult

LANE_PLACES = 5
LANES = 1 << LANE_PLACES


class NecklaceOnCpu:
    def __init__(self, plan: NecklacePlan) -> None:
        self._plan = plan
        words = limbs.word_count(plan.term_bound)
        self._kernel = build_necklace_sum(words)
        self._tables = plan.holes, np.array(plan.targets, np.int64), vanishing().reshape(-1)
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
        total, residues = limbs.zero(self._plan.sum_bound), limbs.zero_residues()
        first, end = np.uint64(start + (last < 0)), np.uint64(max(0, last))
        found = self._kernel(self._plan.problem.places, gap, first, end, *self._tables, total, residues)
        return limbs.to_int(total), residue(limbs.to_int(residues)), int(found)


@cache
def vanishing() -> NDArray[np.uint32]:
    """The set of words whose factor is 0, by e_d − D_d(x)/2 + MIDDLE, a and b: uint32[ROWS, 32, 32].

    The 32 words differ only in the last five places.  Let x have 0 there, and let a and b be the five places that
    are d behind and d before them.  When the five get the bits l, D_d(x)/2 changes by Σ l_k (1 − a_k − b_k), if
    d ≥ 5 and m − d ≥ 5.
    """
    bits = np.arange(LANES)[:, None] >> np.arange(LANE_PLACES) & 1
    slopes = 1 - bits[:, None, :] - bits[None, :, :]
    changes = np.arange(ROWS) - MIDDLE
    is_zero = (slopes @ bits.T)[None] == changes[:, None, None, None]
    sets: NDArray[np.uint32] = np.packbits(is_zero, axis=-1, bitorder="little").view(np.uint32)[..., 0]
    return sets
