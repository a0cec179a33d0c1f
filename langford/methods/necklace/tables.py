"""Where factors vanish among the 32 words that differ only in the last five places, for both kernels.

Let x have 0 in the last five places, and let a and b be the five places that are d behind and d before them.  When
the five get the bits l, D_d(x)/2 changes by Σ l_k (1 − a_k − b_k), if d ≥ 5 and m − d ≥ 5.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

LANE_PLACES = 5
LANES = 1 << LANE_PLACES
MIDDLE, ROWS = 7, 16
"""A change of 0 has the row 7; those of more than 5, which do not occur, have rows for the sake of the GPU."""


@cache
def vanishing() -> NDArray[np.uint32]:
    """The set of words whose factor is 0, by e_d − D_d(x)/2 + MIDDLE, a and b: uint32[ROWS, 32, 32]."""
    bits = np.arange(LANES)[:, None] >> np.arange(LANE_PLACES) & 1
    slopes = 1 - bits[:, None, :] - bits[None, :, :]
    changes = np.arange(ROWS) - MIDDLE
    is_zero = (slopes @ bits.T)[None] == changes[:, None, None, None]
    sets: NDArray[np.uint32] = np.packbits(is_zero, axis=-1, bitorder="little").view(np.uint32)[..., 0]
    return sets
