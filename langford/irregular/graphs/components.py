"""Strong components: parts of a graph in which every vertex leads to every other."""

from __future__ import annotations

import numpy as np

from langford.irregular.arrays import on_gpu
from langford.irregular.errors import require_scipy
from langford.irregular.graphs.graph import Graph
from langford.irregular.parts import Components


def components(graph: Graph) -> Components:
    """The strong components of a graph; raises NotInstalled where SciPy is missing.

    Args:
        graph: any directed graph.
    """
    if on_gpu(graph.indptr):
        from langford.irregular.cuda.components import strong_components
        from langford.irregular.cuda.gpu import gpu_of

        return strong_components(gpu_of(graph.indptr), graph)
    require_scipy()
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    if graph.n == 0:
        return Components(0, np.empty(0, np.int32))
    # SciPy drops entries of value zero only, and reads no values otherwise.
    values = np.broadcast_to(np.int8(1), graph.m)
    matrix = csr_matrix((values, graph.indices, graph.indptr), shape=(graph.n, graph.n), copy=False)
    count, labels = connected_components(matrix, connection="strong")
    return Components(int(count), labels)
