"""Howard's policy iteration on all strong components of a graph at once.

Every vertex chooses an edge (a policy).  Per component: the best cycle of the policy gives the ratio p/q; the
distance of each vertex to that cycle, with edges of length q·w − p·t, is computed along the policy; each vertex
then chooses the edge over which it is nearer.  When no vertex of a component finds one, its cycle is optimal and
the distances prove it.  Integers stay integers: ratios are compared as fractions, distances are checked for 62
bits.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from langford.irregular.arrays import Array, module_of, on_host
from langford.irregular.components import Components
from langford.irregular.cpu.cycles import shift_components
from langford.irregular.errors import TooWide
from langford.irregular.graph import Graph
from langford.irregular.phases import LARGEST, InnerEdges, Phases, PolicyCycles, WideDistance, limit_of

_TOO_WIDE = "the potentials need more than 62 bits: give floats, or divide the weights by a common factor"


class Howard:
    """A policy on the edges inside components, and the best cycle of each component so far.

    Attributes:
        empty: whether no component has a cycle.
    """

    def __init__(
        self,
        graph: Graph,
        parts: Components,
        weights: Array,
        times: Array,
        phases: Callable[[InnerEdges], Phases],
    ) -> None:
        """
        Args:
            graph: any graph.
            parts: its strong components.
            weights, times: of its edges, both int64 or both float64[m]; the least ratio is looked for.
            phases: makes what works on the edges inside components, where the arrays are.
        """
        xp = module_of(graph.indptr)
        self.graph, self.parts, self.all_weights, self.all_times = graph, parts, weights, times
        self.exact = weights.dtype.kind == "i"
        sources = graph.sources
        self.inside = xp.flatnonzero(parts.labels[sources] == parts.labels[graph.indices])
        self.empty = len(self.inside) == 0
        if self.empty:
            return
        indptr = xp.zeros(graph.n + 1, xp.int64)
        indptr[1:] = xp.cumsum(xp.bincount(sources[self.inside], minlength=graph.n))
        self.edges = InnerEdges(
            indptr, sources[self.inside], graph.indices[self.inside], weights[self.inside], times[self.inside],
            parts.labels,
        )  # fmt: skip
        self.phases = phases(self.edges)
        kind = weights.dtype
        self.numerators, self.denominators = np.zeros(parts.count, kind), np.ones(parts.count, kind)
        self.roots = np.full(parts.count, -1, np.int64)
        self._heaviest, self._longest = (
            float(abs(array).max()) for array in (self.edges.weights, self.edges.times)
        )

    def solve(self) -> int:
        """Improve the policy until every component's cycle is optimal; returns the number of rounds."""
        active = np.zeros(self.parts.count, bool)
        active[on_host(module_of(self.inside).unique(self.parts.labels[self.edges.sources]))] = True
        tolerance = 0.0 if self.exact else 2.0**-44 * (self._heaviest + self._longest)
        rounds = 0
        while active.any():
            rounds += 1
            try:
                self._choose(self.phases.cycles(), active)
                self.phases.measure(self.roots, self.numerators, self.denominators, active)
            except WideDistance as error:
                raise TooWide(_TOO_WIDE) from error
            active = self.phases.improve(tolerance)
        return rounds

    def _choose(self, cycles: PolicyCycles, active: Array) -> None:
        """The best cycle of each active component, and its ratio; raises TooWide."""
        for label, cycle in best_ratios(cycles.labels, cycles.sums, cycles.durations, self.exact).items():
            if not active[label]:
                continue
            p, q = cycles.sums[cycle], cycles.durations[cycle]
            if self.exact:
                shared = np.gcd(p, q)
                p, q = p // shared, q // shared
                if int(q) * self._heaviest + abs(int(p)) * self._longest >= LARGEST:
                    raise TooWide(_TOO_WIDE)
            else:
                p, q = p / q, q / q
            self.numerators[label], self.denominators[label] = p, q
            self.roots[label] = cycles.starts[cycle]

    def best(self) -> tuple[Fraction | float, Array]:
        """The least ratio of all components, and the edges of its cycle as places in the graph's indices."""
        value, label = min((self._ratio(label), label) for label in np.flatnonzero(self.roots >= 0).tolist())
        xp = module_of(self.inside)
        edges = self.phases.policy[xp.asarray(self.phases.walk(int(self.roots[label])))]
        if not self.exact:
            # As near as a float can be, whatever the order of the sum.
            total = sum(map(Fraction, on_host(self.edges.weights[edges]).tolist()), Fraction(0))
            value = float(total / sum(map(Fraction, on_host(self.edges.times[edges]).tolist()), Fraction(0)))
        return value, self.inside[edges]

    def _ratio(self, label: int) -> Fraction | float:
        if self.exact:
            return Fraction(int(self.numerators[label]), int(self.denominators[label]))
        return float(self.numerators[label])

    def potentials(self) -> Array:
        """Numbers that prove the least ratio on every edge (OptimalCycle.potentials); raises TooWide."""
        xp = module_of(self.inside)
        value, _ = self.best()
        labels = self.parts.labels
        if isinstance(value, Fraction):
            p, q = value.numerator, value.denominator
            heaviest, longest = (int(abs(array).max()) for array in (self.all_weights, self.all_times))
            if q * heaviest + abs(p) * longest >= LARGEST:
                raise TooWide(_TOO_WIDE)
            potentials = self._at_scale(q)
            lengths = q * self.all_weights - p * self.all_times
        else:
            potentials = -self.phases.distance
            lengths = self.all_weights - value * self.all_times
        between = xp.ones(self.graph.m, bool)
        between[self.inside] = False
        sources, targets = self.graph.sources[between], self.graph.indices[between]
        if len(sources) == 0:
            return potentials
        rough = potentials[sources] / 1.0 + lengths[between] - potentials[targets]
        if self.exact and float(abs(rough).max()) >= LARGEST / 2:
            raise TooWide(_TOO_WIDE)
        room = potentials[sources] + lengths[between] - potentials[targets]
        # Few edges and components: their order is found on the host.
        shift, limit = np.zeros(self.parts.count, on_host(room).dtype), limit_of(room)
        if shift_components(self.parts.count, *map(on_host, (labels, sources, targets, room)), limit, shift):
            raise TooWide(_TOO_WIDE)
        shifts = xp.asarray(shift)[labels]
        if self.exact and float(abs(potentials / 1.0 + shifts).max()) >= LARGEST:
            raise TooWide(_TOO_WIDE)
        return potentials + shifts

    def _at_scale(self, q: int) -> Array:
        """Minus the distances, with edges of length q·w − … instead of those of each component, rounded down.

        A system of differences with whole bounds remains satisfied when its solution is rounded down.
        """
        xp, distance = module_of(self.inside), self.phases.distance
        own = xp.asarray(self.denominators)[self.parts.labels]
        if int(own.max()) * q >= LARGEST or float(abs(distance / own * q).max()) >= LARGEST:
            raise TooWide(_TOO_WIDE)
        whole = -distance // own
        return whole * q + (-distance - whole * own) * q // own


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
