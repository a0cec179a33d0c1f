"""Graph500's edges on a GPU."""

from __future__ import annotations

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.cuda.gpu import Gpu, gpu_by_number
from langford.irregular.graphs.kronecker import edges_bytes, require_scale, thresholds, vertex_type
from langford.irregular.memory import require_memory


def kronecker_on_gpu(scale: int, edgefactor: int, seed: int) -> tuple[Array, Array]:
    """As langford.irregular.graphs.kronecker.kronecker, on GPU 0; raises NoGpu."""
    require_scale(scale, edgefactor)
    gpu = gpu_by_number(0)
    needed = edges_bytes(scale, edgefactor)
    require_memory(f"a graph of scale {scale} on the GPU", needed, gpu.free_bytes())
    return generated(gpu, scale, seed, 0, edgefactor << scale)


def generated(gpu: Gpu, scale: int, seed: int, first: int, count: int) -> tuple[Array, Array]:
    """Edges first … first + count − 1 on a device."""
    kind = vertex_type(scale)
    program = gpu.program("kronecker.cu", VERTEX=kind)
    sources, targets = gpu.zeros(count, kind), gpu.zeros(count, kind)
    parameters = gpu.put(np.concatenate([np.array([seed % 2**64], np.uint64), thresholds()]), np.uint64)
    program.launch("generate", np.int64(first), np.int64(count), np.int32(scale), parameters, sources, targets)
    return sources, targets
