"""Evaluate Godfrey's sum on a GPU: the same tasks, sums and checks as on the CPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.devices import Cuda, Host
from langford.kernels.gpu.program import Compiler, Definitions, source_of
from langford.methods.godfrey.kernels.godfrey import block_sequence
from langford.methods.godfrey.plan import GodfreyPlan
from langford.methods.godfrey.tables import Packing
from langford.result import PartialResult

KERNELS = Path(__file__).with_name("kernels")
CONSTANT_BYTES = 49152
"""Of the 64 KiB of constant memory, for the block's part of the Gray sequence."""
WORD_BYTES = 4
GROUP = 5
"""Sums of at most 63 whose product fits 32 bits."""


@dataclass(frozen=True)
class GodfreyLaunch:
    """How the kernel is launched; the experiments of ``langford tune godfrey`` try others.

    Attributes:
        threads: per block.
        min_blocks: blocks per multiprocessor that the compiler leaves registers for.
        blocks: per multiprocessor of a launch; None for as many as it holds.
    """

    threads: int = 128
    min_blocks: int = 4
    blocks: int | None = None


class GodfreyOnGpu:
    def __init__(self, plan: GodfreyPlan, compiler: Compiler, launch: GodfreyLaunch | None = None) -> None:
        self._plan = plan
        launch = launch or GodfreyLaunch()
        problem = plan.problem
        packing = _packing(plan)
        inner = [place - 1 for place in plan.inner_places]
        # Block places sit in the middle, where they have most neighbours in common.
        bits = min(len(inner), (CONSTANT_BYTES // (WORD_BYTES * packing.words)).bit_length() - 1)
        block, free = inner[::-1][:bits], inner[: len(inner) - bits]
        product_words = -(-plan.product_bound.bit_length() // 64)
        definitions: Definitions = {
            "SUMS": len(problem.different), "DIFFERENCES": list(problem.different), "FOLD": problem.fold,
            "LINKS": [int(packing.links[d]) for d in problem.different],
            "WORDS": packing.words, "VANISHING": packing.vanishing,
            "FILLED": problem.free_mask, "BLOCK": bits, "BLOCK_PLACES": [*block, 0],
            "GROUPS": -(-len(problem.differences) // GROUP), "PRODUCT_WORDS": product_words,
            "THREADS": launch.threads, "MIN_BLOCKS": launch.min_blocks,
        }  # fmt: skip
        self._limbs = 2 * product_words
        self.program = compiler(source_of(KERNELS / "godfrey.cu", definitions), "godfrey", launch.threads)
        if launch.blocks:
            self.program.blocks = launch.blocks * self.program.multiprocessors
        reach = max(problem.differences)
        positions = np.array(block, np.int64) + reach
        _, deltas = block_sequence(problem.places, packing.links, positions, packing.words // 2)
        self.program.set_constant("deltas", _in_words(deltas))
        self._free = self.program.upload(np.array([*free, 0], np.int32))
        self.block_places = [place + 1 for place in block]
        self.free_places = [place + 1 for place in free]

    @classmethod
    def on(cls, plan: GodfreyPlan, device: Cuda | Host) -> GodfreyOnGpu:
        return cls(plan, device.compiler)

    def evaluate(self, index: int) -> PartialResult:
        weight = self._plan.weight(index)
        total, residues, survivors = self._sum(index, len(self.free_places))
        return PartialResult(index, weight * total, residue(weight * residues), survivors)

    def sum_over(self, index: int, free: int) -> tuple[int, int, int]:
        """Σ Π x_k Π S_d over the signs of ``block_places`` and of the first ``free`` of ``free_places``,
        those of the task fixed and all others +1.

        Returns (sum, its residue, points without a vanishing sum).
        """
        total, residues, survivors = self._sum(index, free)
        return total, residue(residues), survivors

    def _sum(self, index: int, free: int) -> tuple[int, int, int]:
        program = self.program
        total, rest = program.zeros(self._limbs, np.int64), program.zeros(3, np.int64)
        survivors = program.zeros(1, np.uint64)
        start = sum(1 << place - 1 for place in self._plan.negative_places(index))
        program.launch(
            "godfrey", np.uint64(start).view(np.int64), self._free, np.int32(free), total, rest, survivors
        )
        return (
            limbs.to_int(program.download(total)), limbs.to_int(program.download(rest)),
            int(program.download(survivors)[0]),
        )  # fmt: skip


def _packing(plan: GodfreyPlan) -> Packing:
    """Into words of 32 bits, an even number of them: they are prepared two at a time."""
    packing = Packing.of(plan.problem, WORD_BYTES)
    return replace(packing, words=packing.words + packing.words % 2)


def _in_words(deltas: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Words of 32 bits whose bytes borrow from no other word."""
    low = deltas.astype(np.uint64).astype(np.uint32)
    high = (deltas - low.view(np.int32)) >> 32
    pairs = np.stack([low, high.astype(np.uint64).astype(np.uint32)], axis=-1)
    return np.ascontiguousarray(pairs.reshape(-1))
