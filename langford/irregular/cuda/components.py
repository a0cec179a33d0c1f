"""Strong components on a GPU: largest numbers spread forwards and backwards until they settle, in one launch."""

from __future__ import annotations

import numpy as np

from langford.irregular.cuda.gpu import GATE_WORDS, Gpu
from langford.irregular.parts import Components
from langford.irregular.rows import GraphRows

SWEEPS = 10_000
"""Of one launch; between two of them the program can be interrupted."""


def strong_components(gpu: Gpu, graph: GraphRows) -> Components:
    """The strong components of a graph on a device.

    A vertex that is the largest of those before it and of those after it names its component: the vertices with it
    on both sides.  Edges between different numbers are cut, and what is left begins again.
    """
    xp, n, m = gpu.xp, graph.n, np.int64(graph.m)
    kind = graph.indices.dtype
    program = gpu.meeting("components.cu", VERTEX=kind)
    sources, targets = graph.sources.astype(kind, copy=False), graph.indices
    left = xp.ones(graph.m, np.int8)
    labels, numbers = xp.full(n, -1, kind), xp.arange(n, dtype=kind)
    before, after = numbers.copy(), numbers.copy()
    into, out = xp.empty(n, np.uint32), xp.empty(n, np.uint32)
    ways = [xp.empty(n, kind) for _ in range(6)]
    changed, gate = gpu.zeros(1, np.int32), gpu.zeros(GATE_WORDS, np.uint32)
    remaining = True
    while remaining:
        unsettled = True
        while unsettled:
            program.launch(
                "propagate", np.int64(n), m, np.int64(SWEEPS), np.int64(max(n, 1).bit_length()), sources, targets,
                left, before, after, into, out, *ways, gate, changed,
            )  # fmt: skip
            unsettled = gpu.flag(changed)
        program.launch("cut", m, sources, targets, left, before, after, changed)
        remaining = gpu.flag(changed)
        program.launch("settle", np.int64(n), before, after, labels)
    labels = xp.where(labels < 0, numbers, labels)
    # A component has the name of one of its vertices.
    names = xp.cumsum(labels == numbers)
    return Components(int(names[-1]) if n else 0, (names - 1)[labels].astype(kind))
