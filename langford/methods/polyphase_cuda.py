"""Evaluate polyphase tasks on a GPU: the same tasks, sums and checks as on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.errors import BadDepth, MethodDoesNotApply
from langford.kernels.cuda.source import with_definitions
from langford.methods.components import IMAGES
from langford.methods.polyphase import UNLIMITED, PolyphasePlan
from langford.problem import Problem
from langford.result import PartialResult

TILE_BITS = 18
THREADS = 256
LIMBS = 6
KEY_SLOTS = 8
MOST_TILES_LOG2 = 10
"""So few launches per task that no limb overflows: 2^10 launches of at most 2^18 threads add
five digits each, well below SPREAD_BOUND."""
TABLE_THREADS = 4


class Kernel(Protocol):
    """A compiled kernel on some device."""

    def upload(self, array: NDArray[Any]) -> Any:
        """The array on the device."""
        ...

    def download(self, array: Any) -> NDArray[Any]:
        """The array on the host, after all launches so far."""
        ...

    def launch(self, *arguments: Any) -> None:
        """Run the kernel; may return before it is done."""
        ...


def definitions(plan: PolyphasePlan, threads: int) -> dict[str, int | Sequence[int]]:
    """Compile-time parameters of ``polyphase.cu``; raises MethodDoesNotApply when a number
    would not fit."""
    split, problem = plan.split, plan.problem
    groups = _groups(problem, split.odd)
    bounds = [prod(problem.terms[2 * e + 1] for e in group) for group in groups]
    odd_bound = prod(bounds)
    halved = [max(1, problem.terms[2 * e] // 2) for e in split.even]
    even_pairs = max(
        pairs for pairs in range(plan.shape.pairs + 1) if prod(halved[: 2 * pairs]) < 2**63
    )
    cells = [prod(halved[k : k + 2]) for k in range(0, len(halved), 2)]
    _require(max(prod(cells[:3]), prod(cells[3:6])) < 2**31, "three pairs of even sums in 32 bits")
    _require(max(bounds) < 2**31, "each of four odd products in 32 bits")
    _require(max(bounds[0] * bounds[1], bounds[2] * bounds[3]) < 2**59, "two odd products in 59 bits")
    _require(bounds[3] > 1 or odd_bound < 2**88, "the odd product in 88 bits")
    _require(IMAGES * odd_bound * prod(halved[2 * even_pairs :]) < 2**126, "ΣO in 127 bits")
    _require(plan.shape.pairs <= KEY_SLOTS, "at most 16 even differences")
    # One u's survivors of one thread, summed before the words are spread.
    share = 2 ** (TILE_BITS - 5) // (threads // 32)
    high_bound = prod(halved) * (IMAGES * odd_bound >> 28) * share
    split_sum = bounds[3] == 1 and even_pairs == plan.shape.pairs and high_bound < 2**127
    return {
        "U_LENGTH": split.u_length, "V_LENGTH": split.v_length, "OFFSET": split.offset,
        "FORMS": len(split.odd), "ODD": [e for group in groups for e in group],
        "GROUP_ENDS": np.cumsum([len(group) for group in groups]).tolist(),
        "FOUR_GROUPS": bounds[3] > 1,
        "EVENS": len(split.even), "SHIFTS": [*split.even, 0], "LENGTHS": plan._lengths.tolist(),
        "STRIDES": plan._strides.tolist(), "PAIRS": plan.shape.pairs, "EVEN_PAIRS": even_pairs,
        "SPLIT_SUM": split_sum,
        "OFFSETS": plan._offsets.tolist(), "TABLE": int(plan._offsets[-1]),
        "ALT_SIGN": split.alt_sign, "THREADS": threads, "MIN_BLOCKS": 3,
    }


def _groups(problem: Problem, odd: tuple[int, ...]) -> list[list[int]]:
    """The half-lags in three products that fit 32 bits, or else in four."""
    longest_first = sorted(odd, key=lambda e: -problem.terms[2 * e + 1])
    for used in (3, 4):
        groups: list[list[int]] = [[] for _ in range(4)]
        for place, e in enumerate(longest_first):
            # Back and forth, so that every group gets long and short sums.
            turn = place % (2 * used)
            groups[turn if turn < used else 2 * used - 1 - turn].append(e)
        if all(prod(problem.terms[2 * e + 1] for e in group) < 2**31 for group in groups):
            break
    return groups


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise MethodDoesNotApply(f"polyphase on the GPU needs {what}, which this problem exceeds")


class GpuEvaluator:
    """Evaluates the tasks of a plan with a compiled ``polyphase.cu``."""

    def __init__(
        self, plan: PolyphasePlan, compile_source: Callable[[str, int], Kernel], threads: int = THREADS
    ) -> None:
        """``compile_source`` makes a kernel of a CUDA source for blocks of ``threads``."""
        self._plan = plan = PolyphasePlan(plan.problem, plan.depth, TILE_BITS)
        if plan.split.v_length - plan._v_bits - plan._tile_bits > MOST_TILES_LOG2:
            raise BadDepth(f"depth {plan.depth} makes tasks too large for a GPU; choose one of 8 or more")
        self._kernel = compile_source(
            with_definitions("polyphase.cu", definitions(plan, threads)), threads
        )

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        plan, kernel = self._plan, self._kernel
        u_class, v_class = plan._task(index)
        total = kernel.upload(np.zeros(LIMBS, np.int64))
        residues = kernel.upload(np.zeros(LIMBS, np.int64))
        survivors = kernel.upload(np.zeros(1, np.uint64))
        us, weights, classes = map(np.concatenate, zip(*plan._u_blocks(u_class), strict=True))
        limits = classes if plan.split.mirrored else np.full(len(us), UNLIMITED)
        us_there, weights_there, limits_there = map(kernel.upload, (us, weights, limits))
        starts = [first for first in plan._tile_starts(v_class) if first <= limits.max(initial=-1)]
        with ThreadPoolExecutor(TABLE_THREADS) as pool:
            # Tables are made ahead, while the device sums the tiles before.
            for first, (sizes, members, rows, keys) in zip(
                starts, pool.map(self._tile_tables, starts), strict=True
            ):
                rows_there, keys_there = kernel.upload(rows), kernel.upload(keys)
                for size, class_members in zip(sizes, members, strict=True):
                    kernel.launch(
                        us_there, weights_there, limits_there, np.int32(len(us)), np.int64(first),
                        np.int32(plan._tile_bits), kernel.upload(class_members), rows_there, keys_there,
                        np.int32(size), total, residues, survivors,
                    )
        value = limbs.to_int(kernel.download(total))
        rest = residue(limbs.to_int(kernel.download(residues)))
        return PartialResult(index, value, rest, IMAGES * int(kernel.download(survivors)[0]))

    def _tile_tables(self, first: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The tile's tables with the keys padded to whole slots."""
        sizes, members, rows, keys = self._plan._tile_tables(first)
        padded = np.zeros((len(keys), KEY_SLOTS), np.uint16)
        padded[:, : keys.shape[1]] = keys
        return sizes, members, rows, padded
