"""The independent residue that travels with every partial result.

The modulus is 2^64 − 1 = 3·5·17·257·641·65537·6700417.  Since 2^64 ≡ 1, the residue of a
wide number is the sum of its 64-bit words: kernels accumulate it in separate registers, by
additions that share no carry with the sum itself.
"""

from __future__ import annotations

MODULUS = 2**64 - 1


def residue(value: int) -> int:
    """value mod 2^64 − 1, in 0..2^64 − 2.

    >>> residue(2**64), residue(-1) == MODULUS - 1
    (1, True)
    """
    return value % MODULUS


def trailing_zeros(value: int) -> int:
    """Number of zero bits at the low end of |value|; value must not be 0."""
    return (value & -value).bit_length() - 1
