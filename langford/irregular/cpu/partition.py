"""One level of a partitioned search on one block of the matrix."""

from __future__ import annotations

import numpy as np

from langford.kernels.cpu.compiled import kernel


@kernel
def expand_down(indptr, indices, front, visited, following, parent, chunk, columns, column):
    """Mark in ``following`` the unvisited targets of the frontier, and note a parent for each.

    ``front``: bitmap of the block's sources, ``visited`` and ``following``: of its targets, int64 words.  Source u
    of the block is vertex ((u // chunk) · columns + column) · chunk + u % chunk.  Returns the edges looked at.
    """
    inspected = np.int64(0)
    for word in range(front.size):
        bits = front[word]
        if bits == 0:
            continue
        for bit in range(64):
            if bits >> bit & 1 == 0:
                continue
            source = word * 64 + bit
            vertex = (source // chunk * columns + column) * chunk + source % chunk
            inspected += indptr[source + 1] - indptr[source]
            for edge in range(indptr[source], indptr[source + 1]):
                target = indices[edge]
                if (visited[target >> 6] | following[target >> 6]) >> (target & 63) & 1 == 0:
                    following[target >> 6] |= np.int64(1) << (target & 63)
                    parent[target] = vertex
    return inspected


@kernel
def expand_up(indptr, indices, front, visited, following, parent, chunk, columns, column):
    """The same from every unvisited target, whose row lists its sources."""
    inspected = np.int64(0)
    for target in range(parent.size):
        if visited[target >> 6] >> (target & 63) & 1:
            continue
        for edge in range(indptr[target], indptr[target + 1]):
            source = indices[edge]
            inspected += 1
            if front[source >> 6] >> (source & 63) & 1:
                following[target >> 6] |= np.int64(1) << (target & 63)
                parent[target] = (source // chunk * columns + column) * chunk + source % chunk
                break
    return inspected


@kernel
def edges_of_front(indptr, front):
    """Edges that leave the vertices of a bitmap."""
    edges = np.int64(0)
    for word in range(front.size):
        bits = front[word]
        if bits == 0:
            continue
        for bit in range(64):
            if bits >> bit & 1:
                edges += indptr[word * 64 + bit + 1] - indptr[word * 64 + bit]
    return edges
