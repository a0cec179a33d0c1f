"""Evaluate Godfrey's sum on a core of the processor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs, widths
from langford.arithmetic.residue import residue
from langford.devices import Device
from langford.kernels.cpu.compiled import compiled_once
from langford.methods.godfrey.kernels.godfrey import BIAS, LANES, block_sequence, build_gray_sum
from langford.methods.godfrey.plan import GodfreyPlan
from langford.methods.godfrey.tables import GrayBlock, Packing, Point
from langford.result import PartialResult

CACHE_BYTES = 16384
"""Bytes of Gray sequence kept ready: half of a first-level cache."""
MIN_SUM_BITS = 5
"""Of the smallest kernel, which the rows of up to 14 colours share: a kernel takes a second to compile."""


class GodfreyOnCpu:
    def __init__(self, plan: GodfreyPlan) -> None:
        self._plan = plan
        problem = plan.problem
        self._reach = max(problem.differences)
        self._packing = packing = Packing.of(problem, LANES, least=1)
        compile_time = (
            packing.words, packing.vanishing, max(MIN_SUM_BITS, widths.sum_bound(problem).bit_length()),
            limbs.word_count(plan.product_bound), problem.fold,
        )  # fmt: skip
        self._kernel = build_gray_sum(*compile_time)
        # Block places sit in the middle, where they have most neighbours in common.
        block_bits = (CACHE_BYTES // (8 * packing.words)).bit_length() - 1
        block_places = plan.inner_places[::-1][:block_bits]
        self._free_places = plan.inner_places[: len(plan.inner_places) - len(block_places)]
        with compiled_once("godfrey", *compile_time):
            self._block = self._block_of(block_places)
            self._add(0, [], self._block_of([]), limbs.zero(plan.sum_bound), limbs.zero_residues())

    @classmethod
    def on(cls, plan: GodfreyPlan, device: Device) -> GodfreyOnCpu:
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        weight = self._plan.weight(index)
        total, residues, survivors = self._sum(index, self._free_places, self._block)
        return PartialResult(index, weight * total, residue(weight * residues), survivors)

    def sum_over(self, index: int, free_places: Sequence[int], block_places: Sequence[int]) -> tuple[int, int, int]:
        """Σ Π x_k Π S_d over the signs of some places, those of the task fixed and all others +1.

        Returns (sum, its residue, points without a vanishing sum).
        """
        total, residues, survivors = self._sum(index, free_places, self._block_of(block_places))
        return total, residue(residues), survivors

    def _sum(self, index: int, free_places: Sequence[int], block: GrayBlock) -> tuple[int, int, int]:
        total, residues = limbs.zero(self._plan.sum_bound), limbs.zero_residues()
        survivors = self._add(index, free_places, block, total, residues)
        return limbs.to_int(total), limbs.to_int(residues), survivors

    def _add(
        self, index: int, free_places: Sequence[int], block: GrayBlock, total: limbs.Limbs, residues: limbs.Limbs
    ) -> int:
        signs = self._signs(index)
        point = Point(signs, self._packing.links, self._packed_sums(signs))
        survivors: int = self._kernel(point, self._positions(free_places), block, total, residues)
        return survivors

    def _positions(self, places: Sequence[int]) -> NDArray[np.int64]:
        """Where places stand in an array of signs that is padded by the reach."""
        return np.array(places, np.int64) - 1 + self._reach

    def _block_of(self, places: Sequence[int]) -> GrayBlock:
        positions, packing = self._positions(places), self._packing
        sequence, deltas = block_sequence(self._plan.problem.places, packing.links, positions, packing.words)
        return GrayBlock(positions, sequence, deltas)

    def _signs(self, index: int) -> NDArray[np.int64]:
        """Signs with the task's prefix and +1 elsewhere, int64[places + 2·reach]; 0 where no cube stands."""
        signs = np.zeros(self._plan.problem.places + 2 * self._reach, np.int64)
        signs[self._positions(self._plan.problem.filled)] = 1
        signs[self._positions(self._plan.negative_places(index))] = -1
        return signs

    def _packed_sums(self, signs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The biased sums of a point, int64[words]; bytes without a sum hold 1."""
        lanes = [BIAS + 1] * (self._packing.words * LANES)
        for d in self._plan.problem.differences:
            lanes[self._packing.links[d]] = BIAS + int(signs[:-d] @ signs[d:])
        return np.frombuffer(bytes(lanes), np.int64).copy()
