"""Evaluate polyphase tasks on a core of the processor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue, zero_sum
from langford.devices import Device
from langford.kernels.cpu.compiled import compiled_once
from langford.kernels.cpu.polyphase import build_tile_sum, tile_tables
from langford.methods.polyphase import symmetries
from langford.methods.polyphase.components import IMAGES
from langford.methods.polyphase.plan import PolyphasePlan
from langford.methods.polyphase.shape import TILE_BITS, Shape
from langford.methods.polyphase.tables import OddForms, Tile, UBlock
from langford.result import PartialResult
from langford.steps import STEPS

U_BLOCK_BITS = 16
UNLIMITED = 2**62
ALL_SIZES = np.array(symmetries.ORBIT_SIZES)


class PolyphaseOnCpu:
    """Evaluates the tasks of a plan with the numba kernel."""

    def __init__(self, plan: PolyphasePlan, tile_bits: int = TILE_BITS) -> None:
        """
        Args:
            tile_bits: a tile has 2^tile_bits v's, or fewer where a task has fewer.

        Raises:
            MethodDoesNotApply: a number would not fit the kernel's widest form.
        """
        self._plan, split = plan, plan.split
        self._tile_bits = min(plan.inner_v_bits, tile_bits)
        self._shape = shape = Shape.of(plan.problem, self._tile_bits)
        self._forms = OddForms(
            split.u_length, split.v_length, split.offset, np.array(shape.odd, np.int64), split.alt_sign
        )
        compile_time = (len(shape.odd), shape.parts, int(shape.split_lanes), shape.pairs, shape.chains, shape.words)
        self._kernel = build_tile_sum(*compile_time)
        no_u, nothing = np.zeros(0, np.int64), limbs.zero(0)
        with compiled_once("polyphase", *compile_time):
            self._kernel(UBlock(no_u, no_u, no_u), self._tile(0), self._forms, plan.even_table, nothing, nothing, 0)

    @classmethod
    def on(cls, plan: PolyphasePlan, device: Device) -> PolyphaseOnCpu:
        """The evaluator for a core."""
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        u_class, v_class = self._plan.classes(index)
        tiles = self._plan.tile_starts(v_class, self._tile_bits)
        return PartialResult(index, *self.sum_over(self._u_blocks(u_class), tiles))

    def sum_over(self, u_blocks: Iterable[UBlock], tile_starts: Iterable[int]) -> tuple[int, int, int]:
        """Σ f |H u| |K v| F(u, v) over some u's and the v's of some tiles, in ascending order.

        Returns (sum, its residue, points evaluated).
        """
        plan = self._plan
        total = limbs.zero(max(plan.sum_bound, 2 ** (64 * self._shape.words - 1) - 1))
        residues = zero_sum()
        pending = evaluated = 0
        for block in u_blocks:
            for first in tile_starts:
                if first > block.highest:
                    break
                survivors, pending = self._kernel(
                    block, self._tile(first), self._forms, plan.even_table, total, residues, pending
                )
                evaluated += survivors
                STEPS.made()
        return limbs.to_int(total), residue(limbs.to_int(residues)), IMAGES * evaluated

    def _u_blocks(self, u_class: int) -> Iterator[UBlock]:
        """Representatives of a u-class, block by block."""
        split = self._plan.split
        block_bits = min(split.u_length - self._plan.u_bits, U_BLOCK_BITS)
        for start in self._plan.u_starts(u_class, block_bits):
            us, weights, classes = symmetries.representatives(
                start, 1 << block_bits, split.u_length, *split.masks(split.u_length)
            )
            yield UBlock(us, weights, classes if split.mirrored else np.full(len(us), UNLIMITED))

    def _tile(self, first: int) -> Tile:
        """The tables of a tile that do not depend on u."""
        length = self._plan.split.v_length
        components = np.arange(first, first + (1 << self._tile_bits))
        smallest, sizes = symmetries.orbits(components, length, *self._plan.split.masks(length))
        orbit_sizes = np.where(smallest == components, sizes, 0)
        members, rows, keys = tile_tables(components, orbit_sizes, length, self._plan.even_table, ALL_SIZES)
        occurs = members.any(axis=1)
        return Tile(first, self._tile_bits, ALL_SIZES[occurs], members[occurs], rows, keys)
