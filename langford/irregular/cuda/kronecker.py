"""Graph500's edges on a GPU."""

from __future__ import annotations

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.cuda.gpu import Gpu
from langford.irregular.quadrants import thresholds, vertex_type


def generated(gpu: Gpu, scale: int, seed: int, first: int, count: int) -> tuple[Array, Array]:
    """Edges first … first + count − 1, as langford.irregular.graphs.kronecker has them, on a device."""
    kind = vertex_type(scale)
    program = gpu.program("kronecker.cu", VERTEX=kind)
    sources, targets = gpu.zeros(count, kind), gpu.zeros(count, kind)
    parameters = gpu.put(np.concatenate([np.array([seed % 2**64], np.uint64), thresholds()]), np.uint64)
    program.launch("generate", np.int64(first), np.int64(count), np.int32(scale), parameters, sources, targets)
    return sources, targets
