"""Shapes of trees, as parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langford.kernels.cpu.compiled import kernel


def chain(n: int) -> NDArray[np.int32]:
    """Parents of a path of n vertices, whose root is 0."""
    return np.maximum(np.arange(n, dtype=np.int32) - 1, 0)


def star(n: int) -> NDArray[np.int32]:
    """Parents of n − 1 leaves below vertex 0."""
    return np.zeros(n, np.int32)


def broom(n: int, handle: int) -> NDArray[np.int32]:
    """Parents of a path of ``handle`` vertices with all others below its end."""
    return np.minimum(chain(n), max(handle - 1, 0)).astype(np.int32)


def random_tree(n: int, depth_factor: float = 0.0, children: int = 3, seed: int = 1) -> NDArray[np.int32]:
    """Parents of a random tree with 0 … 2·children − 1 children per vertex (Rostrup, Srivastava, Singhal).

    Each time the next vertex of a queue gets its children, or with probability ``depth_factor`` the deepest one: 0
    makes a tree of logarithmic depth, f one of depth about f·n / children.
    """
    random = np.random.default_rng(seed)
    counts = random.integers(0, 2 * children, n)
    deeper = random.random(n) < depth_factor
    parent = np.zeros(n, np.int32)
    grow(counts, deeper, parent)
    return parent


@kernel
def grow(counts, deeper, parent):
    """Parents of a random tree into ``parent`` [n] of zeros (random_tree).

    Turn k gives ``counts[k]`` children to the next vertex of a queue, or to the deepest one if ``deeper[k]``.
    """
    n = parent.size
    waiting = np.empty(n, np.int64)
    first, last = 0, 0
    deepest, made, turn = 0, 1, 0
    while made < n:
        deep = deeper[turn] or first == last
        if deep:
            vertex = deepest
            deepest = made
        else:
            vertex = waiting[first]
            first += 1
        # The deepest one must have a child, or the tree could end.
        count = min(max(counts[turn], 1 if deep else 0), n - made)
        for child in range(made, made + count):
            parent[child] = vertex
            if child > made or not deep:
                waiting[last] = child
                last += 1
        made += count
        turn += 1
