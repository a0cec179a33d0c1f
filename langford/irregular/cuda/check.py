"""Graph500's rules on the edges of a list, on a GPU."""

from __future__ import annotations

import numpy as np

from langford.irregular.arrays import Array
from langford.irregular.cuda.gpu import Gpu

NONE = 2**64 - 1
"""No edge, where the least of their numbers is looked for."""


def check_edges(
    gpu: Gpu, sources: Array, targets: Array, parent: Array, levels: Array
) -> tuple[int, Array, int | None, int | None]:
    """Look at every edge of a list.

    Returns the number of edges traversed, which vertices an edge joins with their parent, bool[n], and the first
    edges that break rules 4 and 3, None where none does.
    """
    kind = np.result_type(sources.dtype, targets.dtype, parent.dtype)
    outcome = gpu.put(np.array([0, NONE, NONE], np.uint64), np.uint64).copy()
    joined = gpu.zeros(len(parent), np.uint8)
    program = gpu.program("check.cu", VERTEX=kind)
    program.launch(
        "check_edges", np.int64(len(parent)), np.int64(len(sources)),
        *(gpu.put(array, kind) for array in (sources, targets, levels, parent)), joined, outcome,
    )  # fmt: skip
    traversed, *torn = gpu.on_host(outcome).tolist()
    half_reached, too_far = (None if place == NONE else place for place in torn)
    return traversed, joined.view(bool), half_reached, too_far
