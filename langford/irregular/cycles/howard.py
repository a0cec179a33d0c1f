"""Howard's policy iteration on all strong components of a graph at once.

Every vertex chooses an edge (a policy).  Per component: the best cycle of the policy gives the ratio p/q; the
distance of each vertex to the cycle that its policy leads to, with edges of length q·w − p·t, is computed along
the policy; each vertex then chooses the edge over which it is nearer.  When no vertex of a component finds one,
its cycle is optimal and the distances prove it.  Ratios are compared as fractions,
distances are checked for 62 bits.

One vertex of each cycle of the policy, its leader, has distance 0, also where the cycle is not the best.  So no
vertex has to be led to the best cycle, and fewer rounds do.  They end: a cycle that comes into the policy is
better than the best so far, or takes the place of worse ones whose leaders it has; while the cycles are the same,
distances only fall.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from langford.irregular.arrays import Array, module_of, on_host
from langford.irregular.cpu.cycles import shift_components
from langford.irregular.errors import TooWide
from langford.irregular.graphs.graph import Graph
from langford.irregular.parts import Components
from langford.irregular.policies import (
    LARGEST,
    TOO_WIDE,
    PolicyIteration,
    largest,
    longest,
)


class Howard:
    """The best cycle of a graph, and its proof.

    Attributes:
        empty: whether no component has a cycle.
    """

    def __init__(
        self,
        graph: Graph,
        parts: Components,
        weights: Array,
        times: Array | None,
        iteration: Callable[[Graph, Components, Array, Array | None], PolicyIteration],
    ) -> None:
        """
        Args:
            graph: any graph.
            parts: its strong components.
            weights, times: of its edges, int64[m], no times: 1 each; the least ratio is sought.
            iteration: makes what works on the edges inside components, where the arrays are.
        """
        self._graph, self._parts, self._weights, self._times = graph, parts, weights, times
        self._iteration = iteration(graph, parts, weights, times)
        self.empty = len(self._iteration.edges.targets) == 0

    def solve(self) -> tuple[Fraction, Array, int]:
        """The ratio of the best cycle; its edges, as places in the graph's indices; the rounds.  Raises TooWide."""
        value, cycle, rounds = self._iteration.run()
        places = self._iteration.edges.places
        return value, cycle if places is None else places[cycle], rounds

    def potentials(self, value: Fraction) -> Array:
        """Numbers that prove the least ratio on every edge (OptimalCycle.potentials); raises TooWide."""
        edges, labels = self._iteration.edges, self._iteration.edges.labels
        p, q = value.numerator, value.denominator
        if q * largest(self._weights) + abs(p) * longest(self._times) >= LARGEST:
            raise TooWide(TOO_WIDE)
        potentials = self._at_scale(q)
        if len(edges.crossing) == 0:
            return potentials
        times = 1 if self._times is None else self._times[edges.crossing]
        lengths = q * self._weights[edges.crossing] - p * times
        sources, targets = edges.crossing_sources, self._graph.indices[edges.crossing]
        rough = potentials[sources] / 1.0 + lengths - potentials[targets]
        if float(abs(rough).max()) >= LARGEST / 2:
            raise TooWide(TOO_WIDE)
        room = potentials[sources] + lengths - potentials[targets]
        # Few edges and components: their order is found on the host.
        count = self._parts.count
        shift = np.zeros(count, np.int64)
        if shift_components(count, *map(on_host, (labels, sources, targets, room)), shift):
            raise TooWide(TOO_WIDE)
        shifts = module_of(labels).asarray(shift)[labels]
        if float(abs(potentials / 1.0 + shifts).max()) >= LARGEST:
            raise TooWide(TOO_WIDE)
        return potentials + shifts

    def _at_scale(self, q: int) -> Array:
        """Minus the distances, with edges of length q·w − … instead of those of each component, rounded down.

        A system of differences with whole bounds remains satisfied when its solution is rounded down.
        """
        distance = self._iteration.distance
        if self._parts.count == 1:
            return -distance
        own = self._iteration.denominators[self._iteration.edges.labels]
        if int(own.max()) * q >= LARGEST or float(abs(distance / own * q).max()) >= LARGEST:
            raise TooWide(TOO_WIDE)
        whole = -distance // own
        return whole * q + (-distance - whole * own) * q // own
