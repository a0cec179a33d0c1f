"""The quadrants of the adjacency matrix into which Graph500's edges descend, as every device draws them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array

QUADRANTS = (Fraction(57, 100), Fraction(19, 100), Fraction(19, 100))
"""Probabilities of the quadrants (0, 0), (0, 1), (1, 0) of the adjacency matrix; the last one has the rest."""


def thresholds() -> NDArray[np.uint64]:
    """Where the quadrants begin among 2³² equally likely draws, uint64[3]."""
    shares = [sum(QUADRANTS[: count + 1], Fraction(0)) for count in range(3)]
    return np.array([round(share * 2**32) for share in shares], np.uint64)


def vertex_type(scale: int) -> type[np.signedinteger[Array]]:
    """The type of the vertices of a graph of this scale."""
    return np.int32 if scale < 32 else np.int64
