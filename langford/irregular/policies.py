"""Policy iteration: the interface that the search for optimal cycles needs, and what every device shares."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from gmpy2 import mpq

from langford.irregular.arrays import Array, on_host

BITS = 62
"""Bits of whole numbers: the sum of two fits into 64 bits with its sign."""
LARGEST = 2**BITS
TOLERANCE = 2.0**-44
"""By how much nearer a float must be to be chosen, as a share of what an edge may cost beyond its time's worth."""
TOO_WIDE = f"the potentials may need more than {BITS} bits: give floats, or divide the weights by a common factor"
PATIENCE = 64
"""Rounds after which the tolerance of floats doubles, so that rounding errors cannot prolong the search forever."""


def limit_of(weights: Array) -> Any:
    """The largest sum that the type of the weights may hold: 2⁶² for integers, any for floats."""
    return weights.dtype.type(LARGEST if weights.dtype.kind == "i" else np.inf)


def largest(numbers: Array) -> int | float:
    """The largest absolute value, without rounding; 0 of none."""
    if len(numbers) == 0:
        return 0
    low, high = numbers.min().item(), numbers.max().item()
    size: int | float = max(-low, high)
    return size


def longest(times: Array | None) -> int | float:
    """The largest time; 1 where there are none."""
    return 1 if times is None else largest(times)


def exact_sum(numbers: Array) -> Fraction:
    """Without rounding, so that it does not depend on the order of the numbers."""
    total = sum(map(mpq, on_host(numbers).tolist()), mpq(0))
    return Fraction(int(total.numerator), int(total.denominator))


@dataclass(frozen=True)
class InnerEdges:
    """The edges inside the strong components of a graph, in rows, and which the others are.

    Attributes:
        indptr: where the rows begin, int64[n + 1].
        targets: of the edges, [inner edges].
        weights, times: both int64 or both float64[inner edges]; no times: 1 each.
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


class PolicyIteration(Protocol):
    """Howard's algorithm on all strong components at once.

    Attributes:
        edges: those inside components.
        policy: the chosen edge of each vertex, as its place in ``edges``, int64[n]; −1 without an edge.
        distance: of each vertex, [n]: no edge leads to a nearer vertex once it has run.
    """

    edges: InnerEdges
    policy: Array
    distance: Array

    @property
    def denominators(self) -> Array:
        """Of the ratio of each component, where the arrays are; 1 without a cycle."""
        ...

    def run(self) -> tuple[Fraction | float, Array, int]:
        """Improve the policy until the best cycle of each component is optimal; raises TooWide.

        Returns the least ratio, a Fraction for integers; the edges of its cycle in order, as places in the inner
        edges, int64[·]; and the number of rounds.
        """
        ...
