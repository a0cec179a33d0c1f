"""Evaluate tasks of the shifted sum on a core of the processor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.devices import Device
from langford.kernels.cpu.compiled import compiled_once
from langford.kernels.symmetries import Integers
from langford.machine.process import STEPS
from langford.methods.shifted.components import natural
from langford.methods.shifted.forms import half_forms
from langford.methods.shifted.kernels.patterns import patterns
from langford.methods.shifted.kernels.tiles import build_tile_sum, stages_of
from langford.methods.shifted.kernels.vectors import INNER_BITS, ROW_WORDS, STAGE
from langford.methods.shifted.plan import ShiftedPlan
from langford.methods.shifted.tables import OddMasks, ShiftedTile, ShiftedUBlock
from langford.result import PartialResult

TILE_BITS = 16
"""v's in one tile, as a power of two."""
U_BLOCK_BITS = 19
"""u's that are put in order together, as a power of two."""
SORT_BITS, SORTED_FORMS = 5, 12
"""Bits of an even value, and values, in the number that u's are ordered by."""


class ShiftedOnCpu:
    def __init__(self, plan: ShiftedPlan, tile_bits: int = TILE_BITS, u_block_bits: int = U_BLOCK_BITS) -> None:
        """
        Args:
            tile_bits: a tile has 2^tile_bits v's, or fewer where a task has fewer; from INNER_BITS to 22.
            u_block_bits: 2^u_block_bits u's of each prefix are put in order together.
        """
        self._plan, self._shape = plan, plan.shape
        split, prefix = plan.components, plan.prefix_bits
        self._u_order, self._v_order = split.u_order(prefix, INNER_BITS), split.v_order(prefix, INNER_BITS)
        self._tile_bits = min(tile_bits, len(split.v) - prefix)
        self._u_block_bits = min(u_block_bits, len(split.u) - prefix)
        self._halves = [half_forms(form) for form in plan.forms.even]
        self._odd = OddMasks.of(plan.forms, prefix, INNER_BITS, self._shape.lanes)
        self._total_bound = max(plan.sum_bound, 2**63)
        self._u_block = lru_cache(maxsize=1)(self._new_u_block)
        self._kernel = build_tile_sum(self._shape.lanes)
        with compiled_once("shifted", self._shape.lanes):
            self.sum_over([self.u_block(np.zeros(0, np.int64))], [0])

    @classmethod
    def on(cls, plan: ShiftedPlan, device: Device) -> ShiftedOnCpu:
        return cls(plan)

    def evaluate(self, index: int) -> PartialResult:
        u_prefixes, v_prefixes = self._plan.prefixes(index)
        free = len(self._v_order) - self._plan.prefix_bits
        # The second of two prefixes is the first one read backwards.
        tiles = range(v_prefixes[0] << free, (v_prefixes[0] + 1) << free, 1 << self._tile_bits)
        blocks = self._u_blocks(tuple(u_prefixes))
        total, residues, survivors = self.sum_over(blocks, tiles, len(v_prefixes))
        multiple = self._plan.multiple(index)
        return PartialResult(index, multiple * total, residue(multiple * residues), survivors)

    def sum_over(
        self, u_blocks: Iterable[ShiftedUBlock], tile_starts: Iterable[int], images: int = 1
    ) -> tuple[int, int, int]:
        """Σ (Π x_k) Π f_d / 4 over some u's and the packed v's of some tiles.

        ``images``: 2 for these v's and the same ones read backwards, for a problem whose components are reversible.
        Returns (sum, its residue, points whose product is not 0).
        """
        total, residues = limbs.zero(self._total_bound), limbs.zero_residues()
        pending = evaluated = 0
        starts = list(tile_starts)
        for block in u_blocks:
            for first in starts:
                survivors, pending = self._kernel(
                    block, self._tile(first), images, self._odd, patterns(), total, residues, pending
                )
                evaluated += survivors
                STEPS.made()
        return limbs.to_int(total), residue(limbs.to_int(residues)), evaluated

    def _u_blocks(self, prefixes: tuple[int, ...]) -> Iterator[ShiftedUBlock]:
        """All u's with one of the prefixes: those of an element order and of its reverse in one block."""
        free = len(self._u_order) - self._plan.prefix_bits
        for start in range(0, 1 << free, 1 << self._u_block_bits):
            yield self._u_block(prefixes, start)

    def _new_u_block(self, prefixes: tuple[int, ...], start: int) -> ShiftedUBlock:
        count = 1 << self._u_block_bits
        free = len(self._u_order) - self._plan.prefix_bits
        packed = [np.arange((prefix << free) + start, (prefix << free) + start + count) for prefix in prefixes]
        return self.u_block(np.concatenate(packed))

    def u_block(self, packed: Integers) -> ShiftedUBlock:
        """A block of packed u's, in the order of their even values."""
        shape, us = self._shape, natural(packed, self._u_order)
        values = 2 * shape.reach + 1
        evens = np.zeros((len(us), shape.lanes), np.int8)
        sums = np.zeros(len(us), np.int64)
        for form, (half, _) in enumerate(self._halves):
            evens[:, form] = half(us)
            if form < SORTED_FORMS:
                sums = sums << SORT_BITS | (evens[:, form].astype(np.int64) & (1 << SORT_BITS) - 1)
        order = np.argsort(sums, kind="stable")
        us, evens = us[order], evens[order]
        rows = np.zeros((len(us), len(self._halves)), np.int16)
        for form in range(len(self._halves)):
            rows[:, form] = 1 + form * values + shape.reach - evens[:, form].astype(np.int16)
        stages = stages_of(len(self._halves))
        changed = np.full(len(us), stages, np.int64)
        for stage in reversed(range(stages)):
            ours = rows[:, STAGE * stage : STAGE * (stage + 1) if stage < stages - 1 else None]
            differs = np.any(ours[1:] != ours[:-1], axis=1)
            changed[1:][differs] = stage
        changed[:1] = 0
        return ShiftedUBlock(us, evens, rows, changed)

    def _tile(self, first: int) -> ShiftedTile:
        shape, count = self._shape, 1 << self._tile_bits
        components = natural(np.arange(first, first + count), self._v_order)
        size = ROW_WORDS * 8 * max(1, count >> INNER_BITS)
        values = 2 * shape.reach + 1
        keys = np.ones((count, shape.lanes), np.int8)
        rows = np.zeros((1 + len(self._halves) * values, size), np.uint8)
        for form, (_, half) in enumerate(self._halves):
            keys[:, form] = sums = half(components)
            for value in np.unique(sums).tolist():
                packed = np.packbits(sums == value, bitorder="little")
                rows[1 + form * values + shape.reach + value, : len(packed)] = packed
        beyond = np.full(8 * size, 1, np.uint8)
        beyond[:count] = 0
        fixed = int(natural(np.array([first]), self._v_order)[0])
        free = int(natural(np.array([count - 1]), self._v_order)[0])
        return ShiftedTile(
            self._tile_bits, fixed, free, np.packbits(beyond, bitorder="little").view(np.uint64),
            rows.view(np.uint64), keys,
        )  # fmt: skip
