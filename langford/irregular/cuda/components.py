"""Strong components on a GPU: largest numbers spread along the edges, forwards and backwards, until they settle."""

from __future__ import annotations

import numpy as np

from langford.irregular.components import Components
from langford.irregular.cuda.gpu import Gpu, gpu_of
from langford.irregular.graph import Graph


def components_on_gpu(graph: Graph) -> Components:
    """The strong components of a graph of CuPy's arrays."""
    return strong_components(gpu_of(graph.indptr), graph)


def strong_components(gpu: Gpu, graph: Graph) -> Components:
    """The strong components of a graph on a device.

    A vertex that is the largest of those before it and of those behind it names its component: the vertices with it
    on both sides.  Edges between different numbers are cut, and what is left begins again.
    """
    xp, n, m = gpu.xp, graph.n, np.int64(graph.m)
    kind = graph.indices.dtype
    program = gpu.program("components.cu", VERTEX=kind)
    sources, targets = graph.sources.astype(kind), graph.indices
    left = xp.ones(graph.m, np.int8)
    labels = xp.full(n, -1, kind)
    before, after = xp.arange(n, dtype=kind), xp.arange(n, dtype=kind)
    changed = gpu.zeros(1, np.int32)
    remaining = True
    while remaining:
        program.launch("propagate", m, sources, targets, left, before, after, changed)
        while gpu.flag(changed):
            program.launch("propagate", m, sources, targets, left, before, after, changed)
        program.launch("cut", m, sources, targets, left, before, after, changed)
        remaining = gpu.flag(changed)
        program.launch("settle", np.int64(n), before, after, labels)
    alone = labels < 0
    labels[alone] = xp.arange(n, dtype=kind)[alone]
    names, numbers = xp.unique(labels, return_inverse=True)
    return Components(len(names), numbers.astype(kind))
