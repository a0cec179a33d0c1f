"""Policy iteration on one core."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array
from langford.irregular.cpu.cycles import follow, improve, policy_cycles
from langford.irregular.errors import TooWide
from langford.irregular.graphs.graph import Graph
from langford.irregular.parts import Components
from langford.irregular.policies import (
    LARGEST,
    TOO_WIDE,
    InnerEdges,
    largest,
)
from langford.irregular.rows import sources_of


class CpuIteration:
    """Implements PolicyIteration on one core."""

    def __init__(self, graph: Graph, parts: Components, weights: Array, times: Array | None) -> None:
        self.edges = edges = InnerEdges.of(graph, parts, weights, times)
        self._sources = sources_of(edges.indptr, edges.targets)
        self._durations = np.ones_like(edges.weights) if edges.times is None else edges.times
        self._numerators, self.denominators = (np.full(parts.count, value, weights.dtype) for value in (0, 1))
        self._cycles: dict[int, NDArray[np.int64]] = {}
        self.policy, self.distance = np.full(graph.n, -1, np.int64), np.zeros(graph.n, weights.dtype)

    def _choose_lightest(self) -> None:
        """The first of the lightest edges of each vertex."""
        indptr, weights = self.edges.indptr, self.edges.weights
        has = np.diff(indptr) > 0
        least = np.repeat(np.minimum.reduceat(weights, indptr[:-1][has]), np.diff(indptr)[has])
        first = np.flatnonzero(weights == least)[::-1]
        self.policy[self._sources[first]] = first

    def run(self) -> tuple[Fraction, Array, int]:
        """Each vertex profits from those before it; components that are done rest."""
        edges = self.edges
        heaviest, longest = largest(edges.weights), largest(self._durations)
        self._choose_lightest()
        active = np.zeros(len(self._numerators), bool)
        active[edges.labels[self._sources]] = True
        rounds = 0
        while active.any():
            rounds += 1
            leaders = self._choose_ratios(active, heaviest, longest)
            state = np.where(active[edges.labels], 0, 2).astype(np.int8)
            if follow(
                self.policy, edges.targets, edges.weights, self._durations, edges.labels, self._numerators,
                self.denominators, leaders, self.distance, state,
            ):  # fmt: skip
                raise TooWide(TOO_WIDE)
            self._improve(active, backwards=False)
            # What the way back saves in rounds is more than it takes.
            self._improve(active.copy(), backwards=True)
        label = min(sorted(self._cycles), key=self._ratio)
        return self._ratio(label), self._cycles[label], rounds

    def _improve(self, active: Array, backwards: bool) -> None:
        """Choose nearer edges; ``active`` is left with the components where any choice changed."""
        edges = self.edges
        improve(
            edges.indptr, edges.targets, edges.weights, self._durations, edges.labels, self._numerators,
            self.denominators, active, backwards, self.distance, self.policy,
        )  # fmt: skip

    def _ratio(self, label: int) -> Fraction:
        return Fraction(int(self._numerators[label]), int(self.denominators[label]))

    def _choose_ratios(self, active: Array, heaviest: int, longest: int) -> NDArray[np.int64]:
        """The ratio of the best cycle of each active component so far; returns the least vertices of the cycles."""
        edges, n, kind = self.edges, len(self.policy), self.edges.weights.dtype
        members, begins = np.empty(n, np.int64), np.empty(n + 1, np.int64)
        sums, durations = np.empty(n, kind), np.empty(n, kind)
        count = policy_cycles(
            self.policy, edges.targets, edges.weights, self._durations, members, begins, sums, durations,
        )  # fmt: skip
        if count < 0:
            raise TooWide(TOO_WIDE)
        leaders: NDArray[np.int64] = np.minimum.reduceat(members[: begins[count]], begins[:count])
        still = np.flatnonzero(active[edges.labels[leaders]])
        labels = edges.labels[leaders[still]]
        for label, place in best_ratios(labels, sums[still], durations[still]).items():
            cycle = still[place]
            p, q = sums[cycle], durations[cycle]
            shared = np.gcd(p, q)
            p, q = p // shared, q // shared
            if int(q) * heaviest + abs(int(p)) * longest >= LARGEST:
                raise TooWide(TOO_WIDE)
            known = label in self._cycles
            if known and p.item() * self.denominators[label].item() >= self._numerators[label].item() * q.item():
                continue
            # The first of several that are as good: the policy may leave it for another.
            self._numerators[label], self.denominators[label] = p, q
            vertices = members[begins[cycle] : begins[cycle + 1]]
            self._cycles[label] = self.policy[np.roll(vertices, -int(vertices.argmin()))]
        return leaders[still]


def best_ratios(labels: Array, sums: Array, durations: Array) -> dict[int, int]:
    """For each component the first of its cycles with the least sum / duration, by its place."""
    best: dict[int, int] = {}
    # Near ones by floats, equal ones once, and the rest as fractions.
    rough = sums / durations
    least = np.full(int(labels.max()) + 1, np.inf)
    np.minimum.at(least, labels, rough)
    near = np.flatnonzero(rough <= least[labels] + 1e-12 * np.abs(least[labels]))
    shared = np.gcd(sums[near], durations[near])
    keys = np.stack([labels[near], sums[near] // shared, durations[near] // shared], axis=1)
    _, firsts = np.unique(keys, axis=0, return_index=True)
    for place in sorted(near[firsts].tolist()):
        label, ratio = int(labels[place]), Fraction(int(sums[place]), int(durations[place]))
        known = best.get(label)
        if known is None or ratio < Fraction(int(sums[known]), int(durations[known])):
            best[label] = place
    return best
