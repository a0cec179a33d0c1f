"""Evaluate Godfrey's sum on a GPU: the same tasks, sums and checks as on the CPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic import limbs, widths
from langford.arithmetic.residue import residue
from langford.kernels.cuda.source import GODFREY, Definitions, source_of
from langford.methods.godfrey import GodfreyPlan, outside_in
from langford.methods.gpu import Compiler
from langford.methods.plan import require_index
from langford.result import PartialResult

CONSTANT_BYTES = 49152
"""Of the 64 KiB of constant memory, for the block's part of the Gray sequence."""
LANES = 4
GROUP = 5
"""Sums of at most 63 whose product fits 32 bits."""


@dataclass(frozen=True)
class Launch:
    """What the experiments of ``langford tune godfrey`` choose: threads per block, and blocks per
    multiprocessor that the compiler leaves registers for and that are launched (None: as many as it holds)."""

    threads: int = 128
    min_blocks: int = 4
    blocks: int | None = None


class GodfreyEvaluator:
    """Evaluates the tasks of a plan with a compiled ``godfrey.cu``."""

    def __init__(self, plan: GodfreyPlan, compiler: Compiler, launch: Launch | None = None) -> None:
        from langford.kernels.cpu.godfrey import block_sequence

        self._plan = plan
        launch = launch or Launch()
        problem = plan.problem
        links, words, vanishing = _words(plan)
        inner = outside_in(problem)[plan.depth :]
        # Block variables sit in the middle, where they have most neighbours in common.
        bits = min(len(inner), (CONSTANT_BYTES // (4 * words)).bit_length() - 1)
        block = inner[::-1][:bits]
        free = inner[: len(inner) - bits]
        product_words = -(-widths.product_bound(problem).bit_length() // 64)
        definitions: Definitions = {
            "SUMS": len(problem.differences),
            "DIFFERENCES": list(problem.differences),
            "LINKS": [int(links[d]) for d in problem.differences],
            "WORDS": words,
            "VANISHING": vanishing,
            "FILLED": sum(1 << place - 1 for place in problem.filled),
            "BLOCK": bits,
            "BLOCK_PLACES": [*(place - 1 for place in block), 0],
            "GROUPS": -(-len(problem.differences) // GROUP),
            "PRODUCT_WORDS": product_words,
            "THREADS": launch.threads,
            "MIN_BLOCKS": launch.min_blocks,
        }
        self._limbs = 2 * product_words
        self.program = compiler(source_of(GODFREY, definitions), "godfrey", launch.threads)
        if launch.blocks:
            self.program.blocks = launch.blocks * self.program.multiprocessors
        reach = max(problem.differences)
        positions = np.array([place - 1 + reach for place in block], np.int64)
        _, deltas = block_sequence(problem.places, links, positions, words // 2)
        self.program.set_constant("deltas", _in_words(deltas))
        self._free = self.program.upload(np.array([*(place - 1 for place in free), 0], np.int32))
        self._free_count = len(free)

    def evaluate(self, index: int) -> PartialResult:
        """The partial result of one task; raises TaskIndexOutOfRange."""
        plan, program = self._plan, self.program
        require_index(plan, index)
        total, rest = program.zeros(self._limbs, np.int64), program.zeros(3, np.int64)
        survivors = program.zeros(1, np.uint64)
        prefix = int(plan._prefixes[index])
        start = sum(1 << place - 1 for k, place in enumerate(plan._fixed) if prefix >> k & 1)
        program.launch(
            "godfrey",
            np.uint64(start).view(np.int64),
            self._free,
            np.int32(self._free_count),
            total,
            rest,
            survivors,
        )
        weight = int(plan._weights[index])
        return PartialResult(
            index,
            weight * limbs.to_int(program.download(total)),
            residue(weight * limbs.to_int(program.download(rest))),
            int(program.download(survivors)[0]),
        )


def _words(plan: GodfreyPlan) -> tuple[NDArray[np.int64], int, int]:
    """(byte of each difference, words of 32 bits in all, words of sums that can vanish)."""
    terms = plan.problem.terms
    vanishing = [d for d in plan.problem.differences if terms[d] % 2 == 0]
    steady = [d for d in plan.problem.differences if terms[d] % 2]
    words = -(-len(vanishing) // LANES)
    links = np.full(max(plan.problem.differences) + 1, -1, np.int64)
    links[vanishing] = np.arange(len(vanishing))
    links[steady] = words * LANES + np.arange(len(steady))
    in_all = words - (-len(steady) // LANES)
    return links, in_all + in_all % 2, words


def _in_words(deltas: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Words of 32 bits whose bytes borrow from no other word."""
    low = deltas.astype(np.uint64).astype(np.uint32)
    high = (deltas - low.view(np.int32)) >> 32
    pairs = np.stack([low, high.astype(np.uint64).astype(np.uint32)], axis=-1)
    return np.ascontiguousarray(pairs.reshape(-1))
