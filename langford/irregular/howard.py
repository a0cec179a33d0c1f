"""Howard's policy iteration on all strong components of a graph at once.

Every vertex chooses an edge (a policy).  Per component: the best cycle of the policy gives the ratio p/q; the
distance of each vertex to that cycle, with edges of length q·w − p·t, is computed along the policy; each vertex
then chooses the edge over which it is nearer.  When no vertex of a component finds one, its cycle is optimal and
the distances prove it.  Integers stay integers: ratios are compared as fractions, distances are checked for 62
bits.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from langford.irregular.arrays import Array, module_of
from langford.irregular.components import Components
from langford.irregular.cpu.cycles import follow, improve, lead_back, policy_cycles, shift_components
from langford.irregular.cpu.graph import count_rows, fill_rows
from langford.irregular.errors import TooWide
from langford.irregular.graph import Graph

LARGEST = 2**62
_TOO_WIDE = "the potentials need more than 62 bits: give floats, or divide the weights by a common factor"


class Howard:
    """The edges inside components, a policy on them, and the best cycle of each component so far.

    Attributes:
        empty: whether no component has a cycle.
    """

    def __init__(self, graph: Graph, parts: Components, weights: Array, times: Array) -> None:
        """
        Args:
            graph: any graph.
            parts: its strong components.
            weights, times: of its edges, both int64 or both float64[m]; the least ratio is looked for.
        """
        xp = module_of(graph.indptr)
        self.graph, self.parts, self.all_weights, self.all_times = graph, parts, weights, times
        self.exact = weights.dtype.kind == "i"
        sources, labels = graph.sources, parts.labels
        self.inside = xp.flatnonzero(labels[sources] == labels[graph.indices])
        self.sources, self.targets = sources[self.inside], graph.indices[self.inside]
        self.weights, self.times = weights[self.inside], times[self.inside]
        self.empty = len(self.inside) == 0
        counts = xp.bincount(self.sources, minlength=graph.n)
        self.indptr = xp.zeros(graph.n + 1, xp.int64)
        self.indptr[1:] = xp.cumsum(counts)
        self.policy = self._first_policy()
        kind = weights.dtype
        self.numerators, self.denominators = xp.zeros(parts.count, kind), xp.ones(parts.count, kind)
        self.distance = xp.zeros(graph.n, kind)
        self.cycles: dict[int, Array] = {}

    def _first_policy(self) -> Array:
        """For each vertex the first of its lightest edges inside its component, −1 where it has none."""
        has = np.diff(self.indptr) > 0
        policy = np.full(self.graph.n, -1, np.int64)
        if self.empty:
            return policy
        begins = self.indptr[:-1][has]
        lightest = np.repeat(np.minimum.reduceat(self.weights, begins), np.diff(self.indptr)[has])
        edges = np.flatnonzero(self.weights == lightest)
        policy[self.sources[edges[::-1]]] = edges[::-1]
        return policy

    def solve(self) -> int:
        """Improve the policy until every component's cycle is optimal; returns the number of rounds."""
        labels = self.parts.labels
        active = np.zeros(self.parts.count, bool)
        active[labels[self.sources]] = True
        tolerance = self.weights.dtype.type(0)
        if not self.exact:
            tolerance = np.float64(2.0**-44 * (float(np.abs(self.weights).max()) + float(self.times.max())))
        rounds = 0
        while active.any():
            rounds += 1
            self._find_cycles(active)
            self._measure(active)
            improve(
                self.indptr, self.targets, self.weights, self.times, labels, self.numerators, self.denominators,
                active, tolerance, self.distance, self.policy,
            )  # fmt: skip
        return rounds

    def _measure(self, active: Array) -> None:
        """The distances of all vertices of the active components, led back to the cycle if need be."""
        labels = self.parts.labels
        roots = np.array([members[0] for label, members in self.cycles.items() if active[label]], np.int64)
        state = np.zeros(self.graph.n, np.int8)
        state[~active[labels]] = 4
        astray, wide = follow(
            self.policy, self.targets, self.weights, self.times, labels, self.numerators, self.denominators, roots,
            self.distance, state,
        )  # fmt: skip
        if astray and not wide:
            back_indptr, back_edges = self._incoming
            wide = lead_back(
                back_indptr, back_edges, self.sources, self.weights, self.times, labels, self.numerators,
                self.denominators, self.policy, self.distance, state,
            )  # fmt: skip
        if wide:
            raise TooWide(_TOO_WIDE)

    @cached_property
    def _incoming(self) -> tuple[Array, Array]:
        """The edges by their target: where each row begins, and their numbers."""
        indptr, order = np.zeros(self.graph.n + 1, np.int64), np.empty(len(self.targets), np.int64)
        count_rows(self.targets, self.targets[:0], indptr)
        fill_rows(self.targets, self.sources, False, indptr, np.empty_like(self.sources), order)
        return indptr, order

    def _find_cycles(self, active: Array) -> None:
        """The best cycle of the policy in each active component, and its ratio; raises TooWide."""
        n, kind = self.graph.n, self.weights.dtype
        members, begins = np.empty(n, np.int64), np.empty(n + 1, np.int64)
        sums, durations = np.empty(n, kind), np.empty(n, kind)
        count = policy_cycles(self.policy, self.targets, self.weights, self.times, members, begins, sums, durations)
        labels = self.parts.labels[members[begins[:count]]]
        chosen = best_ratios(labels, sums[:count], durations[:count], self.exact)
        for label, cycle in chosen.items():
            if not active[label]:
                continue
            p, q = sums[cycle], durations[cycle]
            if self.exact:
                shared = np.gcd(p, q)
                p, q = p // shared, q // shared
                self._require_narrow(int(p), int(q))
            else:
                p, q = p / q, q / q
            self.numerators[label], self.denominators[label] = p, q
            self.cycles[label] = _from_least(members[begins[cycle] : begins[cycle + 1]])

    def _require_narrow(self, p: int, q: int) -> None:
        heaviest, longest = int(np.abs(self.weights).max()), int(self.times.max())
        if q * heaviest + abs(p) * longest >= LARGEST:
            raise TooWide(_TOO_WIDE)

    def best(self) -> tuple[Fraction | float, Array]:
        """The least ratio of all components, and the edges of its cycle as places in the graph's indices."""
        value, label = min((self._ratio(label), label) for label in self.cycles)
        edges = self.policy[self.cycles[label]]
        if not self.exact:
            # As near as a float can be, whatever the order of the sum.
            total = sum(map(Fraction, self.weights[edges].tolist()), Fraction(0))
            value = float(total / sum(map(Fraction, self.times[edges].tolist()), Fraction(0)))
        return value, self.inside[edges]

    def _ratio(self, label: int) -> Fraction | float:
        if self.exact:
            return Fraction(int(self.numerators[label]), int(self.denominators[label]))
        return float(self.numerators[label])

    def potentials(self) -> Array:
        """Numbers that prove the least ratio on every edge (OptimalCycle.potentials); raises TooWide."""
        value, _ = self.best()
        labels = self.parts.labels
        if isinstance(value, Fraction):
            p, q = value.numerator, value.denominator
            potentials = self._at_scale(q)
            self._require_wholly_narrow(p, q)
            lengths = q * self.all_weights - p * self.all_times
        else:
            potentials = -self.distance
            lengths = self.all_weights - value * self.all_times
        between = np.ones(self.graph.m, bool)
        between[self.inside] = False
        sources, targets = self.graph.sources[between], self.graph.indices[between]
        room = potentials[sources] + lengths[between] - potentials[targets]
        if self.exact and len(room):
            rough = potentials[sources] / 1.0 + lengths[between] - potentials[targets]
            if np.abs(rough).max() >= LARGEST / 2:
                raise TooWide(_TOO_WIDE)
        shift = np.zeros(self.parts.count, potentials.dtype)
        if shift_components(self.parts.count, labels, sources, targets, room, shift):
            raise TooWide(_TOO_WIDE)
        moved = potentials + shift[labels]
        if self.exact and np.abs(potentials / 1.0 + shift[labels]).max() >= LARGEST:
            raise TooWide(_TOO_WIDE)
        return moved

    def _require_wholly_narrow(self, p: int, q: int) -> None:
        """As _require_narrow, for the edges between components too."""
        heaviest, longest = int(np.abs(self.all_weights).max()), int(self.all_times.max())
        if q * heaviest + abs(p) * longest >= LARGEST:
            raise TooWide(_TOO_WIDE)

    def _at_scale(self, q: int) -> Array:
        """Minus the distances, with edges of length q·w − … instead of those of each component, rounded down.

        A system of differences with whole bounds remains satisfied when its solution is rounded down.
        """
        own = self.denominators[self.parts.labels]
        if int(own.max()) * q >= LARGEST:
            raise TooWide(_TOO_WIDE)
        if np.abs(self.distance / own * q).max() >= LARGEST:
            raise TooWide(_TOO_WIDE)
        whole, rest = np.divmod(-self.distance, own)
        return whole * q + rest * q // own


def best_ratios(labels: Array, sums: Array, durations: Array, exact: bool) -> dict[int, int]:
    """For each component the first of its cycles with the least sum / duration, by its place."""
    best: dict[int, int] = {}
    if not exact:
        order = np.lexsort((np.arange(len(sums)), sums / durations, labels))
        firsts = np.unique(labels[order], return_index=True)[1]
        return {int(labels[place]): int(place) for place in order[firsts]}
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


def _from_least(members: Array) -> Array:
    """A cycle from its least vertex on: the same root for the same cycle."""
    return np.roll(members, -int(members.argmin()))
