"""Matrices of trees on a GPU: solves that are one launch."""

from __future__ import annotations

from typing import Any

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.compression import compress
from langford.irregular.cuda.gpu import Gpu, gpu_of
from langford.irregular.cuda.passes import GATE, Passes, by_levels, packed

PARTS = {"forward": 1, "backward": 4, "solve": 7}
"""The parts of a solve that a launch does; as in solve.cu."""


def solve(gpu: Gpu, passes: Passes, pivots: Array, b: Array, what: str) -> Array | None:
    """A solve, or one of its halves by the name of PARTS, for b of shape [n] or [n, k]; float64, of its shape.

    None when b has a number that is not finite.
    """
    x, gate = start(gpu, passes, pivots, b, what)
    return None if int(gate[GATE - 1]) else x


def start(gpu: Gpu, passes: Passes, pivots: Array, b: Array, what: str) -> tuple[Array, Array]:
    """Begin a solve without waiting for its end: the solution, and the gate.

    The last word of the gate is not 0 when b has a number that is not finite (solve.cu).
    """
    b = gpu.put(b, np.float64)
    x, gate = gpu.xp.empty_like(b), gpu.zeros(GATE, np.uint32)
    if b.size:
        factors = pivots if passes.factors is None else passes.factors
        sizes = np.int64(len(b)), np.int64(b.size // len(b)), np.int64(len(passes.bounds))
        passes.program(gpu, "solve.cu").launch(
            "solve", np.int32(PARTS[what]), *sizes, passes.bounds, passes.targets, passes.sources, factors, pivots,
            b, x, gate,
        )  # fmt: skip
    return x, gate


def passes_on_gpu(matrix: Any, method: str) -> Passes:
    """The steps of a TreeMatrix by this method on its GPU."""
    gpu, tree = gpu_of(matrix.factors), matrix.tree
    if method == "levels":
        return by_levels(gpu, tree.above, tree.order, tree.depth, matrix.factors)
    return packed(gpu, len(tree), compress(tree.above, tree.depth, matrix.factors))
