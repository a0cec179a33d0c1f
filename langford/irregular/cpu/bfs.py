"""Breadth-first search on one core: from above by queues, from below by bitmaps."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from langford.irregular.levels import AUTO, UP
from langford.kernels.cpu.compiled import kernel, part

# A level goes from below when its edges are more than 1/25 of those not yet looked at, and from above again when
# the frontier is less than 1/150 of the vertices: the rule of Beamer, Asanović and Patterson (2012).  With 1/15 and
# 1/18, as GAP has them, a core is as fast and a GPU slower.
EDGES_SHARE, VERTICES_SHARE = 25, 150


@register_jitable
def goes_below(below: bool, ahead: int | np.int64, unseen: int | np.int64, size: int, before: int, n: int) -> bool:
    """Whether a level goes from below, by that rule.

    Args:
        below: whether the level before did.
        ahead: edges that leave the frontier; not asked for after a level from below.
        unseen: edges not yet looked at; negative when levels from below have looked at some several times.
        size, before: vertices of the frontier, and of the one before.
        n: vertices of the graph.
    """
    if below:
        return not (size < before and size < n // VERTICES_SHARE)
    return bool(ahead > max(int(unseen), 0) // EDGES_SHARE)


@part
def from_above(indptr, indices, queue, begin, end, parent):
    """Append the unreached targets of the frontier queue[begin:end]; returns (new end, edges of the new ones)."""
    tail, ahead = end, np.int64(0)
    for at in range(begin, end):
        vertex = queue[at]
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            target = indices[edge]
            if parent[target] < 0:
                parent[target] = vertex
                queue[tail] = target
                tail += 1
                ahead += indptr[target + 1] - indptr[target]
    return tail, ahead


@part
def from_below(indptr, indices, waiting, count, front, following, parent):
    """Look for a parent in the bitmap ``front`` for each waiting vertex; those without one stay in ``waiting``.

    Returns (vertices that still wait, edges looked at).
    """
    left, inspected = 0, np.int64(0)
    for at in range(count):
        vertex = waiting[at]
        begin, end = indptr[vertex], indptr[vertex + 1]
        reached = False
        for edge in range(begin, end):
            source = indices[edge]
            if front[source >> 6] >> (source & 63) & 1:
                parent[vertex] = source
                following[vertex >> 6] |= np.int64(1) << (vertex & 63)
                inspected += edge - begin + 1
                reached = True
                break
        if not reached:
            inspected += end - begin
            waiting[left] = vertex
            left += 1
    return left, inspected


@kernel
def search(indptr, indices, back_indptr, back_indices, root, direction, parent, levels):
    """Breadth-first search from ``root`` into ``parent`` [n], which holds −1.

    ``levels``, int64[·, 3], receives the frontier, the edges looked at and the direction of each level, as many as
    it has rows.  Returns the number of levels.
    """
    n = parent.size
    queue, waiting = np.empty(n, parent.dtype), np.empty(0, parent.dtype)
    words = (n + 63) // 64
    front, following = np.empty(0, np.int64), np.empty(0, np.int64)
    parent[root] = root
    queue[0] = root
    begin, end, level = 0, 1, 0
    ahead = np.int64(indptr[root + 1] - indptr[root])
    unseen = np.int64(indices.size)
    size, before = 1, 0
    below, prepared, count = direction == UP, False, 0
    while size > 0:
        if direction == AUTO:
            was_below, below = below, goes_below(below, ahead, unseen, size, before, n)
            if was_below and not below:
                # The bitmap becomes a queue.
                begin, end = 0, 0
                for word in range(words):
                    bits = front[word]
                    if bits != 0:
                        for bit in range(64):
                            if bits >> bit & 1:
                                queue[end] = word * 64 + bit
                                end += 1
                ahead = np.int64(0)
                for at in range(end):
                    ahead += indptr[queue[at] + 1] - indptr[queue[at]]
        if level < levels.shape[0]:
            levels[level, 0], levels[level, 2] = size, below
        before = size
        if below:
            if not prepared:
                front, following = np.zeros(words, np.int64), np.zeros(words, np.int64)
                waiting, prepared = np.empty(n, parent.dtype), True
                count = 0
                for vertex in range(n):
                    if parent[vertex] < 0 and back_indptr[vertex] < back_indptr[vertex + 1]:
                        waiting[count] = vertex
                        count += 1
                begin_bits(front, queue, begin, end)
            elif begin < end:
                front[:] = 0
                begin_bits(front, queue, begin, end)
                count = still_waiting(waiting, count, parent)
            begin = end
            following[:] = 0
            left, inspected = from_below(back_indptr, back_indices, waiting, count, front, following, parent)
            size, count = count - left, left
            front, following = following, front
            unseen -= inspected
        else:
            inspected = ahead
            unseen -= ahead
            tail, ahead = from_above(indptr, indices, queue, begin, end, parent)
            begin, end = end, tail
            size = end - begin
        if level < levels.shape[0]:
            levels[level, 1] = inspected
        level += 1
    return level


@part
def begin_bits(front, queue, begin, end):
    """The frontier of a queue as a bitmap."""
    for at in range(begin, end):
        front[queue[at] >> 6] |= np.int64(1) << (queue[at] & 63)


@part
def still_waiting(waiting, count, parent):
    """Drop from ``waiting`` what a search from above has reached; returns how many are left."""
    left = 0
    for at in range(count):
        if parent[waiting[at]] < 0:
            waiting[left] = waiting[at]
            left += 1
    return left
