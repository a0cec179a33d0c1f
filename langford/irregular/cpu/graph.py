"""Edges into rows, on one core."""

from __future__ import annotations

import numpy as np

from langford.kernels.cpu.compiled import kernel


@kernel
def count_rows(rows, also, indptr):
    """Offsets of the rows of a graph, into ``indptr`` [n + 1] of zeros: the rows of ``rows``, and of ``also``."""
    for row in rows:
        indptr[row + 1] += 1
    for row in also:
        indptr[row + 1] += 1
    for row in range(indptr.size - 1):
        indptr[row + 1] += indptr[row]


@kernel
def fill_rows(sources, targets, symmetric, indptr, indices, order):
    """Put every edge into its row, in order; with ``symmetric`` also its reverse, but a loop once.

    ``order`` [m] receives the number of each edge, unless it is empty.
    """
    place = indptr[:-1].copy()
    for edge in range(sources.size):
        source, target = sources[edge], targets[edge]
        at = place[source]
        place[source] = at + 1
        indices[at] = target
        if order.size:
            order[at] = edge
        if symmetric and source != target:
            at = place[target]
            place[target] = at + 1
            indices[at] = source


@kernel
def transpose(indptr, indices, sequence, back_indptr, back_indices):
    """The rows of the reversed graph; each lists its vertices in the order of ``sequence``, a permutation."""
    for target in indices:
        back_indptr[target + 1] += 1
    for row in range(back_indptr.size - 1):
        back_indptr[row + 1] += back_indptr[row]
    place = back_indptr[:-1].copy()
    for source in sequence:
        for edge in range(indptr[source], indptr[source + 1]):
            target = indices[edge]
            back_indices[place[target]] = source
            place[target] += 1


@kernel
def without_repeats(indptr, indices, new_indptr):
    """Drop loops and edges that are neighbours of an equal one, in place; returns the number of edges left."""
    left = np.int64(0)
    for row in range(indptr.size - 1):
        last = -1
        for edge in range(indptr[row], indptr[row + 1]):
            target = indices[edge]
            if target != row and target != last:
                indices[left] = target
                left += 1
                last = target
        new_indptr[row + 1] = left
    return left
