"""Evaluate polyphase tasks on a GPU: the same tasks, sums and checks as on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.errors import BadDepth, MethodDoesNotApply
from langford.kernels.cuda.source import POLYPHASE, Definitions, source_of
from langford.methods.components import IMAGES
from langford.methods.gpu import Compiler, Kept
from langford.methods.polyphase import PolyphasePlan
from langford.problem import Problem
from langford.result import PartialResult

TILE_BITS = 18
U_BLOCK_BITS = 22
THREADS = 128
"""One warpgroup: its four warps multiply matrices together."""
MIN_BLOCKS = 5
LIMBS = 7
KEY_SLOTS = 8
CLASS_SIZES = (8, 4, 2, 1)
MOST_TILES_LOG2 = 10
"""So few launches per task that no limb overflows: 2^10 launches, each of less than 2^16 warps that add
a digit of 32 bits to each limb, stay below 2^58."""


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
    u_alternation, u_negation = plan._masks(split.u_length)
    v_alternation, v_negation = plan._masks(split.v_length)
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
        "LENGTHS": plan._lengths.tolist(),
        "STRIDES": plan._strides.tolist(),
        "PAIRS": plan.shape.pairs,
        "SPLIT_PAIR": cells.index(left) if left > 1 else -1,
        "HIGH_WORDS": words,
        "OFFSETS": plan._offsets.tolist(),
        "TABLE": int(plan._offsets[-1]),
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
    """Dealt out back and forth, so that everyone gets long and short sums."""
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


@dataclass(frozen=True)
class UBlock:
    """Representatives u of a range of components, on the device (tables.cu)."""

    us: Any
    weights: Any
    limits: Any
    count: int
    highest: int
    """The largest limit."""


@dataclass(frozen=True)
class Tile:
    """The tables of a tile of v's on the device (tables.cu)."""

    members: Any
    present: tuple[int, ...]
    """Members per class of CLASS_SIZES."""
    rows: Any
    keys: Any


class GpuEvaluator:
    """Evaluates the tasks of a plan with a compiled ``polyphase.cu``."""

    def __init__(self, plan: PolyphasePlan, compiler: Compiler, threads: int = THREADS) -> None:
        self._plan = plan = PolyphasePlan(plan.problem, plan.depth, TILE_BITS)
        if plan.split.v_length - plan._v_bits - plan._tile_bits > MOST_TILES_LOG2:
            raise BadDepth(f"depth {plan.depth} makes tasks too large for a GPU; choose one of 8 or more")
        self.program = compiler(source_of(POLYPHASE, definitions(plan, threads)), "polyphase", threads)
        evens, length = len(plan.split.even), plan.split.v_length
        self._words = max(4, 2**plan._tile_bits // 32)
        self._bitmaps = evens * (length + 1) + 1
        tile_bytes = 4 * self._words * (self._bitmaps + len(CLASS_SIZES)) + 2 * KEY_SLOTS * 2**plan._tile_bits
        self._tiles: Kept[int, Tile] = Kept(self.program.memory // 4 // tile_bytes)
        self._block_bits = min(plan.split.u_length - plan._u_bits, U_BLOCK_BITS)
        self._blocks: Kept[int, UBlock] = Kept(self.program.memory // 4 // (24 << self._block_bits))

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        plan, program = self._plan, self.program
        u_class, v_class = plan._task(index)
        total = program.zeros(LIMBS, np.int64)
        residues = program.zeros(LIMBS, np.int64)
        survivors = program.zeros(1, np.uint64)
        taken = program.zeros(1, np.uint32)
        for start in plan._u_starts(u_class, self._block_bits):
            block = self._blocks.get(start, self._u_block)
            for first in plan._tile_starts(v_class):
                if first > block.highest:
                    break
                tile = self._tiles.get(first, self._tile)
                for size, members, present in zip(CLASS_SIZES, tile.members, tile.present, strict=True):
                    if present:
                        program.launch(
                            "polyphase",
                            block.us,
                            block.weights,
                            block.limits,
                            np.int32(block.count),
                            np.int64(first),
                            np.int32(plan._tile_bits),
                            members,
                            tile.rows,
                            tile.keys,
                            np.int32(size),
                            total,
                            residues,
                            survivors,
                            taken,
                        )
        value = limbs.to_int(program.download(total))
        rest = residue(limbs.to_int(program.download(residues)))
        return PartialResult(index, value, rest, IMAGES * int(program.download(survivors)[0]))

    def _u_block(self, start: int) -> UBlock:
        program, count = self.program, 1 << self._block_bits
        us, weights, limits = (program.zeros(count, np.int64) for _ in range(3))
        found = program.zeros(1, np.int32)
        program.launch("representatives", np.int64(start), np.int64(count), us, weights, limits, found)
        number = int(program.download(found)[0])
        highest = int(program.download(limits)[:number].max(initial=-1))
        return UBlock(us, weights, limits, number, highest)

    def _tile(self, first: int) -> Tile:
        program, bits = self.program, self._plan._tile_bits
        members = program.zeros((len(CLASS_SIZES), self._words), np.uint32)
        present = program.zeros(len(CLASS_SIZES), np.int32)
        rows = program.zeros((self._bitmaps, self._words), np.uint32)
        keys = program.zeros((2**bits, KEY_SLOTS), np.uint16)
        program.launch("tile_tables", np.int64(first), np.int32(bits), members, present, rows, keys)
        return Tile(members, tuple(program.download(present).tolist()), rows, keys)
