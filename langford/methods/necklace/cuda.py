"""Evaluate the sum over necklaces on a GPU: the same tasks, sums and checks as on the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.devices import Cuda, Host
from langford.kernels.gpu.program import Compiler, Definitions, source_of
from langford.methods.necklace.limits import NONE
from langford.methods.necklace.plan import NecklacePlan
from langford.result import PartialResult

KERNELS = Path(__file__).with_name("kernels")
THREADS = 896
"""Of a block, the only one of a multiprocessor: it takes all of its shared memory."""


class NecklaceOnGpu:
    def __init__(self, plan: NecklacePlan, compiler: Compiler, threads: int = THREADS) -> None:
        self._plan = plan
        term_words = limbs.word_count(plan.term_bound)
        definitions: Definitions = {
            "PLACES": plan.problem.places, "HOLES": plan.holes, "TARGETS": plan.targets, "NONE": NONE,
            "TERM_WORDS": term_words, "THREADS": threads,
        }  # fmt: skip
        self._limbs = 2 * term_words
        self.program = compiler(source_of(KERNELS / "necklace.cu", definitions), "necklace", threads)

    @classmethod
    def on(cls, plan: NecklacePlan, device: Cuda | Host) -> NecklaceOnGpu:
        return cls(plan, device.compiler)

    def evaluate(self, index: int) -> PartialResult:
        plan, program = self._plan, self.program
        plan.require(index)
        if index == 0:
            return plan.rest_result()
        total, rest = program.zeros(self._limbs, np.int64), program.zeros(3, np.int64)
        found = program.zeros(2, np.uint64)  # terms, and how often the kernel has dealt beginnings
        start = plan.prefixes[index].view(np.int64)
        sizes = np.int32(plan.free[index]), np.int32(plan.gaps[index])
        program.launch("necklace", start, *sizes, total, rest, found)
        return PartialResult(
            index, limbs.to_int(program.download(total)), residue(limbs.to_int(program.download(rest))),
            int(program.download(found)[0]),
        )  # fmt: skip
