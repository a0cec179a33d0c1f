"""Evaluate polyphase tasks on a GPU: the same tasks, sums and checks as on the CPU."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import prod
from pathlib import Path

import numpy as np

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.devices import Cuda, Host
from langford.errors import BadDepth, MethodDoesNotApply
from langford.kernels.gpu.program import Compiler, Definitions, DeviceArray, source_of
from langford.kernels.symmetries import ORBIT_SIZES
from langford.methods.polyphase.components import IMAGES
from langford.methods.polyphase.plan import PolyphasePlan
from langford.problem import Problem
from langford.result import PartialResult

KERNELS = Path(__file__).with_name("kernels")
TILE_BITS = 18
U_BLOCK_BITS = 22
THREADS = 128
"""One warpgroup: its four warps multiply matrices together."""
MIN_BLOCKS = 5
LIMBS = 7
KEY_SLOTS = 8
MAX_TILES_LOG2 = 10
"""The largest number of launches per task, as a power of two: 2^10 launches, each of less than 2^16 warps that
add a digit of 32 bits to each limb, stay below 2^58, so no limb overflows."""


def definitions(plan: PolyphasePlan, threads: int) -> Definitions:
    """Compile-time parameters of ``polyphase.cu``; raises MethodDoesNotApply when a number
    would not fit."""
    split, problem = plan.split, plan.problem
    _require(len(split.odd) > 0, "an odd difference")
    groups, short = _groups(problem, split.odd)
    factors = [factor for group in groups for factor in _factors(problem, group)]
    bounds = [_bound(problem, group) for group in groups]
    _require(max(_bound(problem, factor) for factor in factors) < 2**22, "products of three odd sums in 22 bits")
    _require(max(bounds) < 2**31, "each product of a group of odd sums in 32 bits")
    _require(short or bounds[0] * bounds[1] * bounds[3] < 2**62, "all groups of odd sums but one in 62 bits")
    _require(IMAGES * bounds[2] < 2**31, "eight products of a group of odd sums in 32 bits")
    halved = [max(1, problem.terms[2 * e] // 2) for e in split.even]
    cells = [prod(halved[k : k + 2]) for k in range(0, len(halved), 2)]
    _require(len(cells) <= KEY_SLOTS, "at most 16 even differences")
    _require(max(prod(cells[:3]), prod(cells[3:6])) < 2**31, "three pairs of even sums in 32 bits")
    # The smallest pair that has to leave E, if one has to.
    leaving = [1, *sorted(cells)]
    left = next((cell for cell in leaving if prod(cells) // cell < 2**62), leaving[-1])
    _require(prod(cells) // left < 2**63 - 2**32, "the even product in 63 bits and a pair")
    high_bound = ((IMAGES * prod(bounds) >> 32) + 2) * left
    # One u's survivors of one thread, summed before the words are spread.
    share = 2**TILE_BITS // threads
    even_bound = prod(cells) // left
    words = 1 if high_bound * even_bound * share < 2**127 else 2
    if high_bound >= 2**63 or even_bound >= 2**62:
        words = 3
    u_alternation, u_negation = split.masks(split.u_length)
    v_alternation, v_negation = split.masks(split.v_length)
    even = plan.even_table
    return {
        "U_LENGTH": split.u_length,
        "V_LENGTH": split.v_length,
        "OFFSET": split.offset,
        "FORMS": len(split.odd),
        "ODD": [e for factor in factors for e in factor],
        "FACTORS": [f for f, factor in enumerate(factors) for _ in factor],
        "GROUPS": [0, *accumulate(len(_factors(problem, group)) for group in groups)],
        "FOUR_GROUPS": bounds[3] > 1,
        "SHORT_ODD": short,
        "EVENS": len(split.even),
        "SHIFTS": [*split.even, 0],
        "LENGTHS": even.lengths.tolist(),
        "STRIDES": even.strides.tolist(),
        "PAIRS": even.pairs,
        "SPLIT_PAIR": cells.index(left) if left > 1 else -1,
        "HIGH_WORDS": words,
        "OFFSETS": even.offsets.tolist(),
        "TABLE": int(even.offsets[-1]),
        "ALT_SIGN": split.alt_sign,
        "MIRRORED": split.mirrored,
        "U_ALTERNATION": u_alternation,
        "U_NEGATION": u_negation,
        "V_ALTERNATION": v_alternation,
        "V_NEGATION": v_negation,
        "LIMBS": LIMBS,
        "THREADS": threads,
        "MIN_BLOCKS": MIN_BLOCKS,
    }


def _groups(problem: Problem, odd: tuple[int, ...]) -> tuple[list[list[int]], bool]:
    """The half-lags in four groups, and whether ΣO fits 63 bits, where two groups do: in
    balanced products; else in three of at most five, and the rest."""
    longest_first = sorted(odd, key=lambda e: -problem.terms[2 * e + 1])
    short = [_dealt(longest_first, 2)[k] if k < 2 else [] for k in range(4)]
    # With X = Σ u_k v_(k+e) and Y = Σ u_k v_(k−e−1) an odd sum is X + Y in four images and ±(X − Y) in their
    # partners under alt: one of a pair is at most the number of terms, and then the other at most 1.
    images = IMAGES // 2 if problem.places == len(problem.filled) else IMAGES
    widest = max(_bound(problem, group) for group in short)
    if images * (_bound(problem, longest_first) + 1) < 2**63 and widest < 2**31:
        return short, True
    return [*_dealt(longest_first[:15], 3), longest_first[15:]], False


def _factors(problem: Problem, group: list[int]) -> list[list[int]]:
    """A group as one product, or two, each below 2^22."""
    return [factor for factor in _dealt(group, 1 if _bound(problem, group) < 2**22 else 2) if factor]


def _dealt(longest_first: list[int], hands: int) -> list[list[int]]:
    """The items dealt out back and forth, so that every group gets long and short sums."""
    order = [*range(hands), *reversed(range(hands))]
    dealt: list[list[int]] = [[] for _ in range(hands)]
    for place, e in enumerate(longest_first):
        dealt[order[place % len(order)]].append(e)
    return dealt


def _bound(problem: Problem, half_lags: list[int]) -> int:
    return prod(problem.terms[2 * e + 1] for e in half_lags)


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise MethodDoesNotApply(f"polyphase on the GPU needs {what}, which this problem exceeds")


def require_few_launches(plan: PolyphasePlan, tile_bits: int = TILE_BITS) -> None:
    """Raises BadDepth when a task has more tiles than the limbs have room for (MAX_TILES_LOG2)."""
    if plan.inner_v_bits - tile_bits > MAX_TILES_LOG2:
        least = plan.depth
        while 2 * (least // 4) < plan.split.v_length - tile_bits - MAX_TILES_LOG2:
            least += 2
        raise BadDepth(f"depth {plan.depth} makes tasks too large for a GPU; choose one of {least} or more")


@dataclass(frozen=True)
class PolyphaseUBlockOnDevice:
    """Representatives u of a range of components, as arrays on the device (tables.cuh).

    Attributes:
        us, weights, limits: int64[2^bits], as of a PolyphaseUBlock; the first ``count`` are used.
        count: number of representatives.
        highest: the largest limit, −1 without a representative.
    """

    us: DeviceArray
    weights: DeviceArray
    limits: DeviceArray
    count: int
    highest: int


@dataclass(frozen=True)
class PolyphaseTileOnDevice:
    """The tables of a tile of v's, as arrays on the device (tables.cuh).

    Attributes:
        members: uint32[4, words], a bitmap of the representatives for each of ORBIT_SIZES.
        present: number of members for each of ORBIT_SIZES.
        rows: uint32[bitmaps, words], the v's of each autocorrelation; the last row is empty.
        keys: uint16[2^bits, 8], where the products of even sums stand.
    """

    members: DeviceArray
    present: tuple[int, ...]
    rows: DeviceArray
    keys: DeviceArray


class PolyphaseOnGpu:
    """Evaluates the tasks of a plan with a compiled ``polyphase.cu``."""

    def __init__(
        self, plan: PolyphasePlan, compiler: Compiler, threads: int = THREADS, tile_bits: int = TILE_BITS
    ) -> None:
        """
        Args:
            compiler: makes the program, for a GPU or for the host.
            threads: per block.
            tile_bits: a tile has 2^tile_bits v's, or fewer where a task has fewer.

        Raises:
            MethodDoesNotApply: a number would not fit the program's widest form.
        """
        self._plan, split = plan, plan.split
        self._tile_bits = min(plan.inner_v_bits, tile_bits)
        self.program = compiler(
            source_of(KERNELS / "polyphase.cu", definitions(plan, threads)), "polyphase", threads
        )
        self._words = max(4, 2**self._tile_bits // 32)
        self._bitmaps = len(split.even) * (split.v_length + 1) + 1
        self._block_bits = min(split.u_length - plan.u_bits, U_BLOCK_BITS)
        # What was made is kept, in at most half of the memory.
        tile_bytes = 4 * self._words * (self._bitmaps + len(ORBIT_SIZES)) + 2 * KEY_SLOTS * 2**self._tile_bits
        block_bytes = 24 << self._block_bits
        quarter = self.program.memory // 4
        self._tile = lru_cache(max(1, quarter // tile_bytes - 1))(self._new_tile)
        self._u_block = lru_cache(max(1, quarter // block_bytes - 1))(self._new_u_block)

    @classmethod
    def on(cls, plan: PolyphasePlan, device: Cuda | Host) -> PolyphaseOnGpu:
        require_few_launches(plan)
        return cls(plan, device.compiler)

    def evaluate(self, index: int) -> PartialResult:
        plan = self._plan
        u_class, v_class = plan.classes(index)
        require_few_launches(plan, self._tile_bits)
        blocks = map(self._u_block, plan.u_starts(u_class, self._block_bits))
        return PartialResult(index, *self.sum_over(blocks, plan.tile_starts(v_class, self._tile_bits)))

    def sum_over(
        self, u_blocks: Iterable[PolyphaseUBlockOnDevice], tile_starts: Iterable[int]
    ) -> tuple[int, int, int]:
        """Σ f |H u| |K v| F(u, v) over some u's and the v's of some tiles, in ascending order, at most
        2^MAX_TILES_LOG2 of them.

        Returns (sum, its residue, points evaluated).
        """
        program = self.program
        total = program.zeros(LIMBS, np.int64)
        residues = program.zeros(LIMBS, np.int64)
        survivors = program.zeros(1, np.uint64)
        taken = program.zeros(1, np.uint32)
        for block in u_blocks:
            for first in tile_starts:
                if first > block.highest:
                    break
                tile = self._tile(first)
                for size, members, present in zip(ORBIT_SIZES, tile.members, tile.present, strict=True):
                    if present:
                        program.launch(
                            "polyphase", block.us, block.weights, block.limits, np.int32(block.count),
                            np.int64(first), np.int32(self._tile_bits), members, tile.rows, tile.keys,
                            np.int32(size), total, residues, survivors, taken,
                        )  # fmt: skip
        value = limbs.to_int(program.download(total))
        rest = residue(limbs.to_int(program.download(residues)))
        return value, rest, IMAGES * int(program.download(survivors)[0])

    def _new_u_block(self, start: int) -> PolyphaseUBlockOnDevice:
        program, count = self.program, 1 << self._block_bits
        us, weights, limits = (program.zeros(count, np.int64) for _ in range(3))
        kept = program.zeros(1, np.int32)
        program.launch("representatives", np.int64(start), np.int64(count), us, weights, limits, kept)
        number = int(program.download(kept)[0])
        highest = int(program.download(limits)[:number].max(initial=-1))
        return PolyphaseUBlockOnDevice(us, weights, limits, number, highest)

    def _new_tile(self, first: int) -> PolyphaseTileOnDevice:
        program, bits = self.program, self._tile_bits
        members = program.zeros((len(ORBIT_SIZES), self._words), np.uint32)
        present = program.zeros(len(ORBIT_SIZES), np.int32)
        rows = program.zeros((self._bitmaps, self._words), np.uint32)
        keys = program.zeros((2**bits, KEY_SLOTS), np.uint16)
        program.launch("tile_tables", np.int64(first), np.int32(bits), members, present, rows, keys)
        return PolyphaseTileOnDevice(members, tuple(program.download(present).tolist()), rows, keys)
