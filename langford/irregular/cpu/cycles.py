"""Howard's policy iteration on one core.

A *policy* chooses an edge for every vertex of ``indptr``, ``targets``, ``weights``, ``times``: the edges inside
strong components.  Vertices without such an edge have the policy −1.
"""

from __future__ import annotations

import numpy as np

from langford.irregular.policies import LARGEST
from langford.kernels.cpu.compiled import kernel, part


@kernel
def policy_cycles(policy, targets, weights, times, members, begins, sums, durations):
    """The cycles of a policy: their vertices one after another into ``members`` [n], where each begins into
    ``begins`` [n + 1], their weights and times into ``sums`` and ``durations`` [n].  Returns their number, −1 when
    a sum passes LARGEST."""
    n = policy.size
    seen = np.zeros(n, np.int64)
    count, filled = 0, 0
    begins[0] = 0
    for start in range(n):
        vertex = start
        while seen[vertex] == 0 and policy[vertex] >= 0:
            seen[vertex] = start + 1
            vertex = targets[policy[vertex]]
        if seen[vertex] != start + 1:
            continue
        first = vertex
        total, duration = weights[policy[vertex]], times[policy[vertex]]
        members[filled] = vertex
        filled += 1
        vertex = targets[policy[vertex]]
        while vertex != first:
            members[filled] = vertex
            filled += 1
            total += weights[policy[vertex]]
            duration += times[policy[vertex]]
            if abs(total) > LARGEST or duration > LARGEST:
                return -1
            vertex = targets[policy[vertex]]
        sums[count], durations[count] = total, duration
        count += 1
        begins[count] = filled
    return count


@part
def cost(weight, time, numerator, denominator):
    """The weight of an edge beyond what its time is worth at numerator / denominator."""
    return denominator * weight - numerator * time


@kernel
def follow(policy, targets, weights, times, labels, numerators, denominators, leaders, distance, state):
    """The distance of every vertex to the leader of the cycle that its policy leads to, along the policy.

    ``leaders`` [·]: one vertex of each cycle.  ``state`` [n]: 0 for a vertex to measure, 2 for one of another
    component; becomes 1 where a distance is known.  Returns whether a distance passed LARGEST.
    """
    n = policy.size
    path = np.empty(n, np.int64)
    for leader in leaders:
        state[leader] = 1
        distance[leader] = 0
    for start in range(n):
        vertex, length = start, 0
        while state[vertex] == 0 and policy[vertex] >= 0:
            path[length] = vertex
            length += 1
            vertex = targets[policy[vertex]]
        label = labels[vertex]
        reach = distance[vertex]
        for at in range(length - 1, -1, -1):
            edge = policy[path[at]]
            reach += cost(weights[edge], times[edge], numerators[label], denominators[label])
            if abs(reach) > LARGEST:
                return True
            distance[path[at]] = reach
            state[path[at]] = 1
    return False


@kernel
def improve(
    indptr,
    targets,
    weights,
    times,
    labels,
    numerators,
    denominators,
    active,
    backwards,
    distance,
    policy,
):
    """Choose for every vertex of an active component the edge that leads to a leader the shortest way.

    In the order of the vertices, or ``backwards``.  ``active`` [components] is left with those in which a choice
    changed.
    """
    still = np.zeros(active.size, np.bool_)
    for place in range(policy.size):
        vertex = policy.size - 1 - place if backwards else place
        label = labels[vertex]
        if policy[vertex] < 0 or not active[label]:
            continue
        numerator, denominator = numerators[label], denominators[label]
        best, choice = distance[vertex], policy[vertex]
        for edge in range(indptr[vertex], indptr[vertex + 1]):
            length = distance[targets[edge]] + cost(weights[edge], times[edge], numerator, denominator)
            if length < best:
                best, choice = length, edge
        if choice != policy[vertex]:
            # At once, so that others profit: no cycle of the new policy is worse for it.
            policy[vertex], distance[vertex] = choice, best
            still[label] = True
    # One by one: to assign to a slice, numba compiles a message about shapes that do not fit, which takes seconds.
    for label in range(active.size):
        active[label] = still[label]


@kernel
def shift_components(count, labels, sources, targets, lengths, shift):
    """Numbers for the components, into ``shift`` [count] of zeros, such that shift[v] ≤ shift[u] + length for
    every edge u → v between them.  Returns whether one passed LARGEST.
    """
    waiting = np.zeros(count, np.int64)
    begins = np.zeros(count + 1, np.int64)
    for edge in range(sources.size):
        waiting[labels[targets[edge]]] += 1
        begins[labels[sources[edge]] + 1] += 1
    for label in range(count):
        begins[label + 1] += begins[label]
    edges, place = np.empty(sources.size, np.int64), begins[:-1].copy()
    for edge in range(sources.size):
        label = labels[sources[edge]]
        edges[place[label]] = edge
        place[label] += 1
    queue, tail, head = np.empty(count, np.int64), 0, 0
    for label in range(count):
        if waiting[label] == 0:
            queue[tail] = label
            tail += 1
    while head < tail:
        label = queue[head]
        head += 1
        for at in range(begins[label], begins[label + 1]):
            edge = edges[at]
            other = labels[targets[edge]]
            bound = shift[label] + lengths[edge]
            if bound < -LARGEST:
                return True
            shift[other] = min(shift[other], bound)
            waiting[other] -= 1
            if waiting[other] == 0:
                queue[tail] = other
                tail += 1
    return False
