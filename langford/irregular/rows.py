"""Rows of edges by sorting, as a GPU makes them: for as many vertices at a time as memory allows."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array, module_of, offset_type, on_host, stable_order

MAX_AT_ONCE = 2**29
"""Edges that are sorted, and looked at, at once: with their places, and what the sort needs besides, some 20 GB.
CuPy chooses among fewer than 2³¹ numbers only."""


class GraphRows(Protocol):
    """The rows of a graph; see :class:`langford.irregular.Graph`."""

    indptr: Array
    indices: Array
    symmetric: bool

    @property
    def n(self) -> int: ...

    @property
    def m(self) -> int: ...

    @property
    def sources(self) -> Array: ...


def sources_of(indptr: Array, indices: Array) -> Array:
    """The source of each edge, [m]."""
    xp = module_of(indptr)
    if xp is np:
        return np.repeat(np.arange(len(indptr) - 1, dtype=indices.dtype), np.diff(indptr))
    # CuPy repeats by one number only.
    edges = xp.arange(len(indices), dtype=indptr.dtype)
    return (xp.searchsorted(indptr, edges, side="right") - 1).astype(indices.dtype)


def sorted_rows(
    n: int, sources: Array, targets: Array, symmetric: bool, most: int = MAX_AT_ONCE
) -> tuple[Array, Array, Array | None]:
    """The compressed rows of a list of edges, as :meth:`langford.irregular.Graph.from_edges` explains them.

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
        keys, values = _ends(sources, targets, sources != targets if symmetric else None)
        order = stable_order(keys)
        indptr[:] = xp.searchsorted(keys[order], xp.arange(n + 1))
        return indptr, values[order], None if symmetric else order
    parts = [slice(first, first + most) for first in range(0, len(sources), most)]
    degrees = xp.zeros(n, xp.int64)
    for part in parts:
        degrees += xp.bincount(sources[part], minlength=n)
        if symmetric:
            degrees += xp.bincount(targets[part][sources[part] != targets[part]], minlength=n)
    indptr[1:] = xp.cumsum(degrees)
    indices, places = xp.empty(edges, targets.dtype), None if symmetric else xp.empty(edges, xp.int64)
    for low, high in pairwise(cuts(on_host(indptr), most)):
        chosen_edges = [_between(low, high, sources, targets, part, False) for part in parts]
        if symmetric:
            chosen_edges += [_between(low, high, targets, sources, part, True) for part in parts]
        keys, values, numbers = (xp.concatenate(arrays) for arrays in zip(*chosen_edges, strict=True))
        order = stable_order(keys)
        rows = slice(int(indptr[low]), int(indptr[high]))
        indices[rows] = values[order]
        if places is not None:
            places[rows] = numbers[order]
    return indptr, indices, places


def row_sums(indptr: Array, values: Array) -> Array:
    """The sum of the values of each row, [n]."""
    xp = module_of(values)
    totals = xp.concatenate([xp.zeros(1, values.dtype), xp.cumsum(values)])
    return totals[indptr[1:]] - totals[indptr[:-1]]


def heads_of(indptr: Array, indices: Array) -> Array:
    """The first entry of each row, [n]; −1 − entry where the row has no other, 0 where it has none."""
    xp = module_of(indptr)
    degrees = indptr[1:] - indptr[:-1]
    if not len(indices):
        return xp.zeros(len(degrees), indices.dtype)
    heads = indices[xp.minimum(indptr[:-1], len(indices) - 1)]
    heads[degrees == 0] = 0
    return xp.where(degrees == 1, -1 - heads, heads)


def bare_rows(indptr: Array) -> Array:
    """A bitmap of the rows without entries, uint32[⌈n/32⌉]; the bits after the last row are set."""
    xp, n = module_of(indptr), len(indptr) - 1
    bare = xp.ones((n + 31) // 32 * 32, bool)
    bare[:n] = indptr[1:] == indptr[:-1]
    return xp.packbits(bare, bitorder="little").view(np.uint32)


def _ends(sources: Array, targets: Array, back: Array | None) -> tuple[Array, Array]:
    """Sources and targets of the edges, and of some turned round."""
    if back is None:
        return sources, targets
    xp = module_of(sources)
    return xp.concatenate((sources, targets[back])), xp.concatenate((targets, sources[back]))


def _between(
    low: int, high: int, keys: Array, values: Array, part: slice, unlike: bool
) -> tuple[Array, Array, Array]:
    """Key, value and number of those edges of a part that have low ≤ key < high, and no loops if ``unlike``."""
    keys, values = keys[part], values[part]
    chosen = (keys >= low) & (keys < high)
    places = module_of(keys).flatnonzero(chosen & (keys != values) if unlike else chosen)
    return keys[places], values[places], places + part.start


def cuts(indptr: NDArray[np.integer], most: int) -> list[int]:
    """Vertices between which there are at most ``most`` edges, or one row; the first is 0, the last n."""
    borders = [0]
    while borders[-1] < len(indptr) - 1:
        # Whole numbers of Python: the last offsets may be near what 32 bits hold.
        last = int(np.searchsorted(indptr, int(indptr[borders[-1]]) + most, side="right")) - 1
        borders.append(max(last, borders[-1] + 1))
    return borders
