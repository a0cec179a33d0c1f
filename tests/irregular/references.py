"""Plain forms of what the algorithms on irregular structures compute, to compare them with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from langford.irregular import SearchStates, Tree
from langford.irregular.arrays import on_host
from langford.irregular.cuda.tree import tour_of


def unrolled(states: SearchStates) -> NDArray[np.int64]:
    """A search tree as parents, int64[nodes + 1]: vertex 0 stands for the empty row, then level by level."""
    first = states.levels[0]
    parents, reached, before = [np.zeros(1 + first.nodes, np.int64)], np.arange(len(first.frees)), 1
    for level in states.levels[:-1]:
        indptr, children = on_host(level.indptr), on_host(level.children)
        begins, ends = indptr[reached], indptr[reached + 1]
        counts = ends - begins
        parents.append(np.repeat(np.arange(len(reached)) + before, counts))
        before += len(reached)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        reached = children[np.repeat(begins, counts) + within]
    return np.concatenate(parents)


def euler_tour(tree: Tree) -> Any:
    """The Euler tour of a forest as a linked list, int64[2n], by the code that orders trees on a GPU."""
    return tour_of(tree.above, tree.indptr, tree.children)


def list_rank(following: Any, first: int) -> NDArray[np.int64]:
    """The place of each element of a linked list, int64[·], from 0 for the first; the last names itself."""
    rank, element = np.full(len(following), -1, np.int64), first
    for place in range(len(following)):
        assert rank[element] < 0
        rank[element], element = place, int(following[element])
    return rank
