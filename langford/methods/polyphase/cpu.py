"""Evaluate polyphase tasks on a core of the processor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.devices import Device
from langford.kernels.cpu.compiled import compiled_once
from langford.kernels.cpu.ir import LANES
from langford.kernels.symmetries import ORBIT_SIZES, orbits, representatives
from langford.machine.process import STEPS
from langford.methods.polyphase.components import IMAGES
from langford.methods.polyphase.kernels.polyphase import BLOCK_BITS, LOW_BITS, build_parts, fill_tile, tile_sum
from langford.methods.polyphase.plan import PolyphasePlan
from langford.methods.polyphase.tables import (
    TILE_BITS,
    OddLags,
    PolyphaseShape,
    PolyphaseTile,
    PolyphaseUBlock,
    Scratch,
)
from langford.result import PartialResult

U_BLOCK_BITS = 16
UNLIMITED = 2**62
ALL_SIZES = np.array(ORBIT_SIZES)


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
        self._shape = shape = PolyphaseShape.of(plan.problem, self._tile_bits)
        self._forms = OddLags(
            split.u_length, split.v_length, split.offset, np.array(shape.odd, np.int64), split.alt_sign
        )
        compile_time = (len(shape.odd), shape.parts, int(shape.split_lanes), shape.pairs, shape.chains, shape.words)
        no_u, nothing = np.zeros(0, np.int64), limbs.zero(0)
        with compiled_once("polyphase", *compile_time):
            self._kernel = partial(tile_sum, *(part.address for part in build_parts(*compile_time)))
            self._kernel(
                PolyphaseUBlock(no_u, no_u, no_u),
                self._tile(0),
                self._forms,
                plan.even_table,
                self._scratch(),
                nothing,
                nothing,
                0,
            )

    @classmethod
    def on(cls, plan: PolyphasePlan, device: Device) -> PolyphaseOnCpu:
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        u_class, v_class = self._plan.classes(index)
        tiles = self._plan.tile_starts(v_class, self._tile_bits)
        return PartialResult(index, *self.sum_over(self._u_blocks(u_class), tiles))

    def sum_over(self, u_blocks: Iterable[PolyphaseUBlock], tile_starts: Iterable[int]) -> tuple[int, int, int]:
        """Σ f |H u| |K v| F(u, v) over some u's and the v's of some tiles, in ascending order.

        Returns (sum, its residue, points evaluated).
        """
        plan = self._plan
        total = limbs.zero(max(plan.sum_bound, 2 ** (64 * self._shape.words - 1) - 1))
        residues, scratch = limbs.zero_residues(), self._scratch()
        pending = evaluated = 0
        for block in u_blocks:
            for first in tile_starts:
                if first > block.highest:
                    break
                survivors, pending = self._kernel(
                    block, self._tile(first), self._forms, plan.even_table, scratch, total, residues, pending
                )
                evaluated += survivors
                STEPS.made()
        return limbs.to_int(total), residue(limbs.to_int(residues)), IMAGES * evaluated

    def _u_blocks(self, u_class: int) -> Iterator[PolyphaseUBlock]:
        """Representatives of a u-class, block by block."""
        split = self._plan.split
        block_bits = min(split.u_length - self._plan.u_bits, U_BLOCK_BITS)
        for start in self._plan.u_starts(u_class, block_bits):
            us, weights, classes = representatives(
                start, 1 << block_bits, split.u_length, *split.masks(split.u_length)
            )
            yield PolyphaseUBlock(us, weights, classes if split.mirrored else np.full(len(us), UNLIMITED))

    def _tile(self, first: int) -> PolyphaseTile:
        length, even = self._plan.split.v_length, self._plan.even_table
        components = np.arange(first, first + (1 << self._tile_bits))
        smallest, sizes = orbits(components, length, *self._plan.split.masks(length))
        orbit_sizes = np.where(smallest == components, sizes, 0)
        evens, words = len(even.shifts), max(1, components.size >> LOW_BITS)
        tile = PolyphaseTile(
            first,
            self._tile_bits,
            ALL_SIZES,
            members=np.zeros((len(ALL_SIZES), words), np.uint64),
            rows=np.zeros((evens, length + 1, words), np.uint64),
            keys=np.zeros((components.size, even.pairs), np.uint16),
        )
        fill_tile(tile, np.zeros(evens + 1, np.int64), components, orbit_sizes, length, even)
        occurs = tile.members.any(axis=1)
        return tile._replace(sizes=ALL_SIZES[occurs], members=tile.members[occurs])

    def _scratch(self) -> Scratch:
        forms, even = self._forms, self._plan.even_table
        width, evens = max(len(forms.lags), 1) * LANES, len(even.shifts)
        words = 1 << max(0, min(self._tile_bits, BLOCK_BITS) - LOW_BITS)
        return Scratch(
            signs=np.zeros((2, forms.u_length + 2 * forms.padding), np.int16),
            by_bit=np.zeros((forms.v_length, width), np.int16),
            # The low table reads six steps even where v has fewer bits.
            steps=np.zeros((max(forms.v_length, LOW_BITS), width), np.int16),
            high=np.zeros(words * width, np.int16),
            low=np.zeros(width << LOW_BITS, np.int16),
            lags=np.zeros(evens + 1, np.int64),
            ruled_out=np.zeros(evens, np.int64),
            table=np.zeros(even.offsets[-1], np.int32),
            dead=np.zeros(words, np.uint64),
        )
