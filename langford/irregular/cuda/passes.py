"""Sparse products over compressed edges, or over levels, all of an accumulation in one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from langford.irregular.arrays import Array, offset_type
from langford.irregular.compression import OPERATORS, SparseStep
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.cuda.tree import level_bounds
from langford.kernels.gpu.program import Program

GATE = 64
"""Words in which blocks wait for each other; as in passes.cuh."""
BLOCKS, BLOCKS_OF_MANY, MANY_STEPS = 6, 4, 16
"""Blocks per multiprocessor, and those of a launch of many steps: fewer wait for each other in less time."""


@dataclass(frozen=True)
class Passes:
    """Steps as langford.irregular.compression has them, one after the other.

    Attributes:
        bounds: where the entries of each step begin and end, int64[steps, 2].
        targets, sources: of all entries, int32[·], or int64 where 32 bits are too few.
        factors: of all entries, float64[·]; None where only the places matter.
    """

    bounds: Array
    targets: Array
    sources: Array
    factors: Array | None

    def program(self, gpu: Gpu, file: str, **types: Any) -> Program:
        """The program of a file for these arrays."""
        blocks = BLOCKS if len(self.bounds) < MANY_STEPS else BLOCKS_OF_MANY
        return gpu.meeting(file, blocks, VERTEX=self.targets.dtype, **types)


def packed(gpu: Gpu, vertices: int, steps: list[SparseStep]) -> Passes:
    """The steps of a tree of that many vertices, packed."""
    kind = offset_type(vertices)
    ends = np.cumsum([0] + [len(step.targets) for step in steps])

    def row(name: str, dtype: Any) -> Array:
        parts = [getattr(step, name).astype(dtype) for step in steps]
        return gpu.xp.concatenate(parts) if parts else gpu.xp.empty(0, dtype)

    factors = None if not steps or steps[0].factors is None else row("factors", np.float64)
    bounds = gpu.put(np.stack([ends[:-1], ends[1:]], axis=1), np.int64)
    return Passes(bounds, row("targets", kind), row("sources", kind), factors)


def by_levels(gpu: Gpu, above: Array, order: Array, depth: Array, factors: Array | None = None) -> Passes:
    """One step per level of a forest, the deepest first."""
    kind = offset_type(len(above))
    bounds = level_bounds(gpu, depth, order)[1:]
    roots = int(bounds[0]) if len(bounds) else 0
    sources, steps = order[roots:], np.stack([bounds[:-1], bounds[1:]], axis=1)[::-1] - roots
    return Passes(
        gpu.put(steps, np.int64),
        above[sources].astype(kind), sources.astype(kind),
        None if factors is None else factors[sources],
    )  # fmt: skip


def accumulate(gpu: Gpu, passes: Passes, values: Array, op: str, down: bool) -> Array:
    """Rootfix, or leaffix: the values combined step by step."""
    combined = gpu.put(values, values.dtype).copy()
    if len(passes.bounds):
        passes.program(gpu, "passes.cu", VALUE=values.dtype).launch(
            "accumulate", np.int32(OPERATORS[op]), np.int32(down), np.int64(len(passes.bounds)), passes.bounds,
            passes.targets, passes.sources, combined, gpu.zeros(GATE, np.uint32),
        )  # fmt: skip
    return combined
