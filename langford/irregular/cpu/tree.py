"""Orders of a forest's vertices, on one core, and work-efficient accumulations in these orders."""

from __future__ import annotations

from langford.irregular.compression import ADD, LEAST, MULTIPLY
from langford.kernels.cpu.compiled import kernel, part


@kernel
def list_children(above, indptr, children):
    """Rows of children in rising order: ``indptr`` [n + 1] of zeros, ``children`` [non-roots]."""
    n = above.size
    for vertex in range(n):
        if above[vertex] != vertex:
            indptr[above[vertex] + 1] += 1
    for vertex in range(n):
        indptr[vertex + 1] += indptr[vertex]
    place = indptr[:-1].copy()
    for vertex in range(n):
        if above[vertex] != vertex:
            children[place[above[vertex]]] = vertex
            place[above[vertex]] += 1


@kernel
def walk(above, indptr, children, order, depth, size, preorder):
    """Breadth-first order, depth, size of the subtree and preorder number of every vertex, [n] each.

    Returns the number of vertices that lie below a root; the others run in circles.
    """
    n = above.size
    tail = 0
    for vertex in range(n):
        if above[vertex] == vertex:
            order[tail] = vertex
            depth[vertex] = 0
            tail += 1
    roots, head = tail, 0
    while head < tail:
        vertex = order[head]
        head += 1
        for at in range(indptr[vertex], indptr[vertex + 1]):
            order[tail] = children[at]
            depth[children[at]] = depth[vertex] + 1
            tail += 1
    if tail < n:
        return tail
    size[:] = 1
    for at in range(n - 1, roots - 1, -1):
        size[above[order[at]]] += size[order[at]]
    number = size[0] - size[0]
    for at in range(roots):
        preorder[order[at]] = number
        number += size[order[at]]
    for at in range(n):
        vertex = order[at]
        number = preorder[vertex] + 1
        for place in range(indptr[vertex], indptr[vertex + 1]):
            preorder[children[place]] = number
            number += size[children[place]]
    return tail


@part
def combined(operator, value, other):
    """value ∘ other."""
    if operator == ADD:
        return value + other
    if operator == MULTIPLY:
        return value * other
    if operator == LEAST:
        return min(value, other)
    return max(value, other)


@kernel
def downwards(operator, above, order, values):
    """values[v] becomes the combination over v and all above it."""
    for vertex in order:
        if above[vertex] != vertex:
            values[vertex] = combined(operator, values[above[vertex]], values[vertex])


@kernel
def upwards(operator, above, order, values):
    """values[v] becomes the combination over v and all below it."""
    for at in range(order.size - 1, -1, -1):
        vertex = order[at]
        if above[vertex] != vertex:
            values[above[vertex]] = combined(operator, values[above[vertex]], values[vertex])


@kernel
def downwards_xor(above, order, values):
    """As :func:`downwards`, by exclusive or."""
    for vertex in order:
        if above[vertex] != vertex:
            values[vertex] ^= values[above[vertex]]


@kernel
def upwards_xor(above, order, values):
    """As :func:`upwards`, by exclusive or."""
    for at in range(order.size - 1, -1, -1):
        if above[order[at]] != order[at]:
            values[above[order[at]]] ^= values[order[at]]


@kernel
def factorise(above, order, edge, pivot):
    """LDLᵀ from the leaves: ``pivot`` [n] holds the diagonal and becomes D; returns a vertex of pivot 0, or −1."""
    for at in range(order.size - 1, -1, -1):
        vertex = order[at]
        if pivot[vertex] == 0:
            return vertex
        if above[vertex] != vertex:
            pivot[above[vertex]] -= edge[vertex] * edge[vertex] / pivot[vertex]
    return -1


@kernel
def solve_upwards(above, order, factor, x):
    """x[parent] += factor · x from the leaves, for each column of x [n, k]."""
    for at in range(order.size - 1, -1, -1):
        vertex = order[at]
        if above[vertex] != vertex:
            for column in range(x.shape[1]):
                x[above[vertex], column] += factor[vertex] * x[vertex, column]


@kernel
def solve_downwards(above, order, factor, x):
    """x += factor · x[parent] from the roots, for each column of x [n, k]."""
    for vertex in order:
        if above[vertex] != vertex:
            for column in range(x.shape[1]):
                x[vertex, column] += factor[vertex] * x[above[vertex], column]


@kernel
def multiply_add(targets, sources, factors, x):
    """x[target] += factor · x[source] for each entry of a sparse matrix, for each column of x [n, k]."""
    for entry in range(targets.size):
        for column in range(x.shape[1]):
            x[targets[entry], column] += factors[entry] * x[sources[entry], column]
