"""Irregular problems on plain arrays: graphs, trees and cycles, on the CPU and on GPUs.

    >>> import numpy as np
    >>> from langford import irregular
    >>> sources, targets = irregular.kronecker(10)
    >>> graph = irregular.Graph.from_edges(1024, sources, targets, symmetric=True)
    >>> root = int(sources[0])
    >>> found = irregular.bfs(graph, root)
    >>> irregular.check_bfs(sources, targets, root, found.parent, found.depth)
    16384
    >>> tree = irregular.Tree(np.array([0, 0, 0, 1, 1]))
    >>> irregular.leaffix(tree, np.ones(5, np.int64), "add").tolist()
    [5, 3, 1, 1, 1]
    >>> circle = irregular.Graph.from_edges(3, np.array([0, 1, 2]), np.array([1, 2, 0]))
    >>> irregular.cycle_mean(circle, np.array([1, 2, 5])).value
    Fraction(8, 3)

The CPU works on arrays of NumPy, a GPU on its arrays of CuPy; results are arrays of the same kind.
Vertices are int32 or int64.  In parents, a root is its own parent, and −1 means: not reached.
"""

from __future__ import annotations

from langford.irregular.cycles.optimal import OptimalCycle, cycle_mean, cycle_ratio
from langford.irregular.graphs.bfs import Bfs, bfs
from langford.irregular.graphs.components import components
from langford.irregular.graphs.graph import Graph
from langford.irregular.graphs.graph500 import check_bfs, graph500
from langford.irregular.graphs.kronecker import kronecker
from langford.irregular.parts import Components
from langford.irregular.trees.search_states import SearchStates, search_states
from langford.irregular.trees.tree import Tree
from langford.irregular.trees.tree_matrix import TreeMatrix
from langford.irregular.trees.treefix import leaffix, rootfix

__all__ = [
    "Bfs",
    "Components",
    "Graph",
    "OptimalCycle",
    "SearchStates",
    "Tree",
    "TreeMatrix",
    "bfs",
    "check_bfs",
    "components",
    "cycle_mean",
    "cycle_ratio",
    "graph500",
    "kronecker",
    "leaffix",
    "rootfix",
    "search_states",
]
