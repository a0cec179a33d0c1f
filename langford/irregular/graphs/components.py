"""Strong components: parts of a graph in which every vertex leads to every other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from langford.irregular.arrays import Array, on_gpu
from langford.irregular.errors import require_scipy
from langford.irregular.graphs.graph import Graph
from langford.loading import load


@dataclass(frozen=True)
class Components:
    """The strong components of a graph.

    Attributes:
        count: how many there are.
        labels: the component of each vertex, from 0, [n].
    """

    count: int
    labels: Array


def components(graph: Graph) -> Components:
    """The strong components; raises NotInstalled."""
    if on_gpu(graph.indptr):
        parts: Components = load("langford.irregular.cuda.components:components_on_gpu")(graph)
        return parts
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
