"""The phases of Howard's algorithm on one core, and what it wants of any device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array
from langford.irregular.cpu.cycles import follow, improve, lead_back, policy_cycles
from langford.irregular.cpu.graph import count_rows, fill_rows

LARGEST = 2**62


def limit_of(weights: Array) -> Any:
    """The largest sum that the type of the weights may hold: 2⁶² for integers, any for floats."""
    return weights.dtype.type(LARGEST if weights.dtype.kind == "i" else np.inf)


class WideDistance(Exception):
    """A distance does not fit into 62 bits."""


@dataclass(frozen=True)
class InnerEdges:
    """The edges inside the strong components of a graph, in rows.

    Attributes:
        indptr: where the rows begin, int64[n + 1].
        sources, targets: of the edges, [m].
        weights, times: both int64 or both float64[m].
        labels: the component of each vertex, [n].
    """

    indptr: Array
    sources: Array
    targets: Array
    weights: Array
    times: Array
    labels: Array


@dataclass(frozen=True)
class PolicyCycles:
    """The cycles of a policy, on the host.

    Attributes:
        starts: a vertex of each, the same one whenever the cycle is the same.
        labels: the component of each.
        sums, durations: weights and times of its edges.
    """

    starts: NDArray[np.int64]
    labels: Array
    sums: Array
    durations: Array


class Phases(Protocol):
    """What Howard's algorithm does with all vertices at once.

    Attributes:
        policy: the chosen edge of each vertex, int64[n]; −1 without an edge.
        distance: of each vertex to the root of its component, [n].
    """

    policy: Array
    distance: Array

    def cycles(self) -> PolicyCycles:
        """The cycles of the policy; raises WideDistance."""
        ...

    def measure(self, roots: Array, numerators: Array, denominators: Array, active: Array) -> None:
        """Compute the distances in the active components, with the ratio and root of each.

        A vertex that is led elsewhere gets a policy that leads to the root.  Raises WideDistance.
        """
        ...

    def improve(self, tolerance: float) -> NDArray[np.bool_]:
        """Choose the nearest edges in the components that were measured; returns in which any choice changed."""
        ...

    def walk(self, start: int) -> NDArray[np.int64]:
        """The vertices of the policy's cycle through a vertex, from it on."""
        ...


class CpuPhases:
    """Implements Phases on one core."""

    def __init__(self, edges: InnerEdges) -> None:
        self._edges = edges
        n = len(edges.labels)
        self.policy = np.full(n, -1, np.int64)
        self.distance = np.zeros(n, edges.weights.dtype)
        self._limit = limit_of(edges.weights)
        self._active = np.zeros(0, bool)
        self._ratios = (np.zeros(0, edges.weights.dtype),) * 2
        has = np.diff(edges.indptr) > 0
        if has.any():
            begins = edges.indptr[:-1][has]
            lightest = np.repeat(np.minimum.reduceat(edges.weights, begins), np.diff(edges.indptr)[has])
            first = np.flatnonzero(edges.weights == lightest)[::-1]
            self.policy[edges.sources[first]] = first

    @cached_property
    def _incoming(self) -> tuple[Array, Array]:
        """The edges by their target: where each row begins, and their numbers."""
        edges = self._edges
        indptr, order = np.zeros(len(edges.indptr), np.int64), np.empty(len(edges.targets), np.int64)
        count_rows(edges.targets, edges.targets[:0], indptr)
        fill_rows(edges.targets, edges.sources, False, indptr, np.empty_like(edges.sources), order)
        return indptr, order

    def cycles(self) -> PolicyCycles:
        """The cycles, each by its least vertex."""
        edges, n, kind = self._edges, len(self.policy), self._edges.weights.dtype
        members, begins = np.empty(n, np.int64), np.empty(n + 1, np.int64)
        sums, durations = np.empty(n, kind), np.empty(n, kind)
        count = policy_cycles(
            self.policy, edges.targets, edges.weights, edges.times, self._limit, members, begins, sums, durations
        )
        if count < 0:
            raise WideDistance
        starts = np.minimum.reduceat(members[: begins[count]], begins[:count]) if count else members[:0]
        return PolicyCycles(starts, edges.labels[starts], sums[:count], durations[:count])

    def measure(self, roots: Array, numerators: Array, denominators: Array, active: Array) -> None:
        """Along the policy first, then backwards from what is there."""
        edges = self._edges
        self._active, self._ratios = active.copy(), (numerators, denominators)
        state = np.zeros(len(self.policy), np.int8)
        state[~active[edges.labels]] = 4
        astray, wide = follow(
            self.policy, edges.targets, edges.weights, edges.times, self._limit, edges.labels, numerators,
            denominators, roots[active], self.distance, state,
        )  # fmt: skip
        if astray and not wide:
            indptr, order = self._incoming
            wide = lead_back(
                indptr, order, edges.sources, edges.weights, edges.times, self._limit, edges.labels, numerators,
                denominators, self.policy, self.distance, state,
            )  # fmt: skip
        if wide:
            raise WideDistance

    def improve(self, tolerance: float) -> NDArray[np.bool_]:
        """In the order of the vertices, each profiting from those before it."""
        edges = self._edges
        improve(
            edges.indptr, edges.targets, edges.weights, edges.times, edges.labels, *self._ratios, self._active,
            edges.weights.dtype.type(tolerance), self.distance, self.policy,
        )  # fmt: skip
        return self._active

    def walk(self, start: int) -> NDArray[np.int64]:
        """Step by step."""
        cycle = [start]
        while (vertex := int(self._edges.targets[self.policy[cycle[-1]]])) != start:
            cycle.append(vertex)
        return np.array(cycle, np.int64)
