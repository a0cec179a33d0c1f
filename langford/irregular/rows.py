"""Rows of edges by sorting, as a GPU makes them: for as many vertices at a time as memory allows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array, module_of, offset_type, on_host, stable_order

MOST_AT_ONCE = 2**29
"""Edges that are sorted at once: with their places, and what the sort needs besides, some 20 GB."""


def sorted_rows(
    n: int, sources: Array, targets: Array, symmetric: bool, most: int = MOST_AT_ONCE
) -> tuple[Array, Array, Array | None]:
    """The compressed rows of a list of edges, as :meth:`langford.irregular.graph.Graph.from_edges` explains them.

    Args:
        n: number of vertices.
        sources, targets: of the edges, int32 or int64[·].
        symmetric: add the reverse of every edge that is no loop.
        most: edges that are sorted at once, unless one row has more.

    Returns (indptr [n + 1], indices [m], order int64[m], or None when symmetric).
    """
    xp = module_of(sources, targets)
    edges = len(sources) + (int((sources != targets).sum()) if symmetric else 0)
    indptr = xp.zeros(n + 1, offset_type(edges))
    if edges <= most:
        keys, values = _ends(sources, targets, slice(None), sources != targets if symmetric else None)
        order = stable_order(keys)
        indptr[:] = xp.searchsorted(keys[order], xp.arange(n + 1))
        return indptr, values[order], None if symmetric else order
    degrees = xp.bincount(sources, minlength=n)
    if symmetric:
        degrees += xp.bincount(targets[sources != targets], minlength=n)
    indptr[1:] = xp.cumsum(degrees)
    indices, places = xp.empty(edges, targets.dtype), None if symmetric else xp.empty(edges, xp.int64)
    for low, high in pairwise(_cuts(on_host(indptr), most)):
        mine = xp.flatnonzero((sources >= low) & (sources < high))
        back = xp.flatnonzero((targets >= low) & (targets < high) & (sources != targets)) if symmetric else None
        keys, values = _ends(sources, targets, mine, back)
        order = stable_order(keys)
        rows = slice(int(indptr[low]), int(indptr[high]))
        indices[rows] = values[order]
        if places is not None:
            places[rows] = mine[order]
    return indptr, indices, places


def _ends(sources: Array, targets: Array, there: Array | slice, back: Array | None) -> tuple[Array, Array]:
    """Sources and targets of some of the edges, and of some turned round."""
    if back is None:
        return sources[there], targets[there]
    xp = module_of(sources)
    return xp.concatenate((sources[there], targets[back])), xp.concatenate((targets[there], sources[back]))


def _cuts(indptr: NDArray[np.integer], most: int) -> list[int]:
    """Vertices between which there are at most so many edges, or one row; the first is 0, the last n."""
    cuts = [0]
    while cuts[-1] < len(indptr) - 1:
        last = int(np.searchsorted(indptr, indptr[cuts[-1]] + most, side="right")) - 1
        cuts.append(max(last, cuts[-1] + 1))
    return cuts
