"""The one definition of the limb layout.

A *carry-save number* is an array of int64 limbs in radix 2^32, little endian:

    value = Σ_i limb[i] · 2^(32 i)

The limbs are signed and may exceed a digit: adding a term adds its 32-bit digits limb by
limb and spreads no carry.  This is the delayed-carry arithmetic of Loiseau's thesis
(§1.3.3, figure 1.12).  A limb has 31 bits of headroom above
a digit, so that

    Σ |weight| over the terms added since the last spread  ≤  SPREAD_BOUND

guarantees that nothing overflows: a spread limb is below 2^32 in size, each term adds at
most |weight|·(2^32 − 1), and 2^32·(1 + SPREAD_BOUND) ≤ 2^63 − 2^32.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DIGIT_BITS = 32
SPREAD_BOUND = 2**31 - 2

Limbs = NDArray[np.int64]


def word_count(bound: int) -> int:
    """64-bit words that hold every value of magnitude up to ``bound``, sign included."""
    return (bound.bit_length() + 1 + 63) // 64


def limb_count(bound: int) -> int:
    """Limbs that hold every value of magnitude up to ``bound``: two for each 64-bit word."""
    return 2 * word_count(bound)


def zero(bound: int) -> Limbs:
    """A carry-save zero, int64[limb_count(bound)], wide enough for ±``bound``."""
    return np.zeros(limb_count(bound), np.int64)


def zero_residues() -> Limbs:
    """A carry-save zero for a sum of residues, int64[6]: wide enough for any number of words that a task adds."""
    return zero(2**190)


def to_int(limbs: Limbs) -> int:
    """The exact value of a carry-save number, carries spread or not."""
    total = 0
    for limb in limbs[::-1].tolist():
        total = (total << DIGIT_BITS) + limb
    return total
