"""Evaluate tasks of the shifted sum on a GPU: the same tasks, sums and checks as on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.devices import Cuda, Host
from langford.errors import CheckFailed
from langford.kernels.gpu.program import Compiler, DeviceArray, source_of
from langford.methods.shifted.components import natural
from langford.methods.shifted.cuda_shape import INNER_BITS, GpuSettings, GpuShape, settings_for
from langford.methods.shifted.forms import half_forms
from langford.methods.shifted.plan import ShiftedPlan
from langford.methods.shifted.tables import OddMasks
from langford.result import PartialResult

KERNELS = Path(__file__).with_name("kernels")
MAX_ELEMENTS = 64
LIMBS = 8
BIAS = 128
UNKEPT_LAUNCHES = 2**10
"""After this number of launches their sums are taken over: 2^10 launches, each of less than 2^16 warps that add a
digit of 32 bits to each limb, stay below 2^58."""
SAMPLED = 61
"""The mean of the even values is that of every 61st u."""


@dataclass(frozen=True)
class ShiftedUBlockOnDevice:
    """Some u's, of those that are the same backwards one, in the order of their even values.

    Attributes:
        us: int64[u's], natural masks.
        windows: int32[even forms], the first value of each in the joint rows.
    """

    us: DeviceArray
    windows: NDArray[np.int32]


@dataclass(frozen=True)
class ShiftedTileOnDevice:
    """The tables of a tile of v's (kernels/forms.cuh).

    Attributes:
        fixed: natural mask of the elements that are −1 in all of them.
        rows, keys, half_keys: uint32.
    """

    fixed: int
    rows: DeviceArray
    keys: DeviceArray
    half_keys: DeviceArray


class ShiftedOnGpu:
    def __init__(self, plan: ShiftedPlan, compiler: Compiler, settings: GpuSettings | None = None) -> None:
        """
        Args:
            compiler: makes the program, for a GPU or for the host.
            settings: chosen by the problem if left out.
        """
        settings = settings or settings_for(plan)
        self._plan, self._shape = plan, GpuShape.of(plan, settings)
        source = source_of(KERNELS / "shifted.cu", self._shape.definitions(settings))
        self.program = compiler(source, "shifted", settings.threads)
        split, prefix = plan.components, plan.prefix_bits
        self._v_order = split.v_order(prefix, INNER_BITS)
        self._u_free, self._v_free = len(split.u) - prefix, len(split.v) - prefix
        self._tile_bits = min(settings.tile_bits, self._v_free)
        self._words = 2**self._shape.tile_bits // 32
        self._u_block_bits = min(settings.u_block_bits, self._u_free)
        self._even_window = settings.even_window
        self._set_forms(split.u_order(prefix, INNER_BITS))
        self._joint = self.program.zeros(self._shape.joint_bytes(settings) // 4, np.uint32)
        self._u_block = lru_cache(maxsize=1)(self._new_u_block)

    @classmethod
    def on(cls, plan: ShiftedPlan, device: Cuda | Host) -> ShiftedOnGpu:
        settings = settings_for(plan, device.memory)
        if isinstance(device, Host):
            settings = replace(settings, threads=64, u_block_bits=20)
        return cls(plan, device.compiler, settings)

    def _set_forms(self, u_order: list[int]) -> None:
        plan, split = self._plan, self._plan.components
        # Where there is no odd form, the one lane without a form is always 4, a factor of 1.
        odd = OddMasks.of(plan.forms, plan.prefix_bits, INNER_BITS, self._shape.forms)
        self.program.set_constant("odd_forms", np.ascontiguousarray(odd.masks.reshape(7, -1).T))
        halves = [
            [
                [
                    half.lag,
                    half.terms,
                    half.opposed,
                    half.once,
                    half.negative,
                    half.terms.bit_count() + half.once.bit_count() + half.constant,
                ]
                for half in half_forms(form)
            ]
            for form in plan.forms.even
        ]
        if halves:
            self.program.set_constant("even_forms", np.array(halves, np.int64))
        elements = np.zeros((2, MAX_ELEMENTS), np.int64)
        elements[0, : len(u_order)], elements[1, : len(self._v_order)] = u_order, self._v_order
        self.program.set_constant("elements", elements)
        ends = [run[0] + run[-1] if run else 0 for run in (split.u, split.v)]
        self.program.set_constant("ends", np.array(ends, np.int64))

    def evaluate(self, index: int) -> PartialResult:
        plan = self._plan
        u_prefixes, v_prefixes = plan.prefixes(index)
        symmetric = self._shape.images > 1
        if symmetric and len(v_prefixes) < len(u_prefixes):
            # The mirror exchanges the components.  The images of a pair have the v's of the other prefix of the
            # class; where it has only one, each pair is found twice.
            u_prefixes, v_prefixes = v_prefixes, u_prefixes
        tiles = [
            first
            for prefix in (v_prefixes[:1] if symmetric else v_prefixes)
            for first in range(prefix << self._v_free, (prefix + 1) << self._v_free, 1 << self._tile_bits)
        ]
        blocks = self._u_blocks(tuple(u_prefixes))
        total, residues, evaluated = self.sum_over(blocks, tiles, len(v_prefixes) if symmetric else 1)
        multiple = plan.multiple(index)
        return PartialResult(index, multiple * total, residue(multiple * residues), evaluated)

    def sum_over(
        self, u_blocks: Iterable[ShiftedUBlockOnDevice], tile_starts: Iterable[int], v_weight: int = 1
    ) -> tuple[int, int, int]:
        """Σ (Π x_k) Π f_d / 4 over some u's, the packed v's of some tiles and the images of both.

        Args:
            v_weight: 2 where a v and the same backwards are not both among those of all tiles; 1 without symmetry.

        Returns (sum, its residue, points whose product is not 0).
        """
        program, starts = self.program, list(tile_starts)
        sums = [0, 0, 0]
        launches = 0
        arrays = self._zero_sums()
        for block in u_blocks:
            windows = program.upload(block.windows)
            choices = program.zeros(len(block.us), np.uint32)
            program.launch("choose_row_bits", block.us, np.int32(len(block.us)), np.int32(self._tile_bits), choices)
            for first in starts:
                self._launch(block, self._tile(first), windows, choices, v_weight, arrays)
                launches += 1
                if launches % UNKEPT_LAUNCHES == 0:
                    self._take_over(sums, arrays)
                    arrays = self._zero_sums()
        self._take_over(sums, arrays)
        if self._shape.images > 1:
            if sums[0] % 4 or sums[2] % 4:
                raise CheckFailed(
                    "the images of pairs did not add up to a multiple of 4: evaluate the task again, "
                    "and do not trust this machine if that repeats"
                )
            quarter = pow(4, -1, 2**64 - 1)
            sums = [sums[0] // 4, sums[1] * quarter, sums[2] // 4]
        return sums[0], residue(sums[1]), sums[2]

    def _zero_sums(self) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        program = self.program
        return program.zeros(LIMBS, np.int64), program.zeros(LIMBS, np.int64), program.zeros(1, np.uint64)

    def _take_over(self, sums: list[int], arrays: tuple[DeviceArray, DeviceArray, DeviceArray]) -> None:
        total, residues, evaluated = map(self.program.download, arrays)
        sums[0] += limbs.to_int(total)
        sums[1] += limbs.to_int(residues)
        sums[2] += int(evaluated[0])

    def _launch(
        self,
        block: ShiftedUBlockOnDevice,
        tile: ShiftedTileOnDevice,
        windows: DeviceArray,
        choices: DeviceArray,
        v_weight: int,
        arrays: tuple[DeviceArray, DeviceArray, DeviceArray],
    ) -> None:
        program = self.program
        program.launch("join_even_rows", tile.rows, windows, self._joint)
        program.launch(
            "shifted", block.us, choices, np.int32(len(block.us)), np.int64(tile.fixed), np.int32(self._tile_bits),
            self._joint, windows, tile.keys, tile.half_keys, np.int32(v_weight), *arrays,
            program.zeros(1, np.uint32), np.int32((-BIAS % 2**16) * 0x10001 - 2**32),
        )  # fmt: skip

    def _u_blocks(self, prefixes: tuple[int, ...]) -> Iterator[ShiftedUBlockOnDevice]:
        for start in range(0, 1 << self._u_free, 1 << self._u_block_bits):
            yield self._u_block(prefixes, start)

    def _new_u_block(self, prefixes: tuple[int, ...], start: int) -> ShiftedUBlockOnDevice:
        count = 1 << self._u_block_bits
        return self.u_block([(prefix << self._u_free) + start for prefix in prefixes], count)

    def u_block(self, starts: list[int], count: int) -> ShiftedUBlockOnDevice:
        """The u's of ``count`` packed numbers from each of one or two starts on."""
        program, room = self.program, count * len(starts)
        us, keys = program.zeros(room, np.int64), program.zeros(room, np.int64)
        totals = program.zeros(self._shape.evens + 1, np.int64)
        first, second = [*starts, -1][:2]
        program.launch("list_us", np.int64(first), np.int64(second), np.int64(count), us, keys, totals)
        sums = program.download(totals)
        kept = int(sums[-1])
        us = program.sort_by(keys[:kept], us[:kept])
        sample = max(1, kept // SAMPLED)
        windows = np.rint(sums[:-1] / sample).astype(np.int32) - self._even_window // 2
        return ShiftedUBlockOnDevice(us, windows if len(windows) else np.zeros(1, np.int32))

    def _tile(self, first: int) -> ShiftedTileOnDevice:
        program = self.program
        shape = self._shape
        rows = program.zeros((1 + shape.evens * (2 * shape.reach + 1), self._words), np.uint32)
        keys = program.zeros((2**shape.tile_bits, shape.even_words), np.uint32)
        half_keys = program.zeros((2**shape.tile_bits, shape.even_words // 2), np.uint32)
        program.launch("tile_tables", np.int64(first), np.int32(self._tile_bits), rows, keys, half_keys)
        fixed = int(natural(np.array([first]), self._v_order)[0])
        return ShiftedTileOnDevice(fixed, rows, keys, half_keys)
