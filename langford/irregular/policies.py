"""Policy iteration: the interface that the search for optimal cycles needs, and what every device shares."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from langford.irregular.arrays import Array, module_of
from langford.irregular.parts import Components
from langford.irregular.rows import GraphRows, sources_of

BITS = 62
"""Bits of whole numbers: the sum of two fits into 64 bits with its sign."""
LARGEST = 2**BITS
TOO_WIDE = f"the potentials may need more than {BITS} bits: divide the weights by a common factor"


def largest(numbers: Array) -> int:
    """The largest absolute value; 0 of none."""
    return max(-int(numbers.min()), int(numbers.max())) if len(numbers) else 0


def longest(times: Array | None) -> int:
    """The largest time; 1 where there are none."""
    return 1 if times is None else largest(times)


@dataclass(frozen=True)
class InnerEdges:
    """The edges inside the strong components of a graph, in rows, and which the others are.

    Attributes:
        indptr: where the rows begin, int64[n + 1].
        targets: of the edges, [inner edges].
        weights, times: int64[inner edges]; no times: 1 each.
        labels: the component of each vertex, [n].
        places: of the edges in the graph's indices, int64[inner edges]; None when all of its edges are here.
        crossing, crossing_sources: of the edges between components their places, int64, and sources.
    """

    indptr: Array
    targets: Array
    weights: Array
    times: Array | None
    labels: Array
    places: Array | None
    crossing: Array
    crossing_sources: Array

    @classmethod
    def of(cls, graph: GraphRows, parts: Components, weights: Array, times: Array | None) -> InnerEdges:
        """Those of a graph with these strong components."""
        xp, labels, indptr = module_of(weights), parts.labels, graph.indptr.astype(np.int64, copy=False)
        none = xp.empty(0, np.int64)
        if parts.count == 1:
            return cls(indptr, graph.indices, weights, times, labels, None, none, none)
        sources = sources_of(graph.indptr, graph.indices)
        inside = labels[sources] == labels[graph.indices]
        places, crossing = xp.flatnonzero(inside), xp.flatnonzero(~inside)
        before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(inside)])
        durations = None if times is None else times[places]
        return cls(
            before[indptr], graph.indices[places], weights[places], durations, labels, places, crossing,
            sources[crossing],
        )  # fmt: skip


class PolicyIteration(Protocol):
    """Howard's algorithm on all strong components at once.

    Attributes:
        edges: those inside components.
        policy: the chosen edge of each vertex, as its place in ``edges``, int64[n]; −1 without an edge.
        distance: of each vertex, int64[n]: no edge leads to a nearer vertex once it has run.
    """

    edges: InnerEdges
    policy: Array
    distance: Array

    @property
    def denominators(self) -> Array:
        """Of the ratio of each component, where the arrays are; 1 without a cycle."""
        ...

    def run(self) -> tuple[Fraction, Array, int]:
        """Improve the policy until the best cycle of each component is optimal; raises TooWide.

        Returns the least ratio; the edges of its cycle in order, as places in the inner edges, int64[·]; and the
        number of rounds.
        """
        ...
