"""The parts of a graph, as every device finds them."""

from __future__ import annotations

from dataclasses import dataclass

from langford.irregular.arrays import Array


@dataclass(frozen=True)
class Components:
    """The strong components of a graph.

    Attributes:
        count: how many there are.
        labels: the component of each vertex, from 0, [n].
    """

    count: int
    labels: Array
