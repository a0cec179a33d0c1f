"""How counts over the nine inner bits of a v look bit by bit: tables, the same for every problem."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from langford.methods.shifted.kernels.vectors import INNER_BITS, ROW_WORDS, WINDOW

WORD_BITS = 6
"""Bits of a v's number within a word of a bitmap."""


class Patterns(NamedTuple):
    """How many of some bits of a number x are 1, and of others 0, for the numbers below 512, bit by bit.

    A pattern gives each bit a digit in base 3: 0 it does not count, 1 it counts where it is 1, 2 where it is 0.

    Attributes:
        ternary: int64[64], the number in base 3 whose digits are the bits of a mask.
        low: uint64[729 · 4], three words for each pattern of six bits.
        high: uint64[27 · 2 · ROW_WORDS], two rows for each pattern of three bits.
        digits: uint64[13 · 4], for each number the binary digits that it lacks, all ones for such a digit.
        positions: uint16[256 · ROW_WORDS], the positions of the bits of each byte, ascending.
    """

    ternary: NDArray[np.int64]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    digits: NDArray[np.uint64]
    positions: NDArray[np.uint16]


@cache
def patterns() -> Patterns:
    numbers = np.arange(1 << WORD_BITS)
    ternary: NDArray[np.int64] = (numbers[:, None] >> np.arange(WORD_BITS) & 1) @ 3 ** np.arange(WORD_BITS)

    def binary_planes(bits: int, places: int) -> NDArray[np.int64]:
        """int64[3^bits, places, 2^bits]: binary digits of the count of each pattern at each number."""
        digits = np.arange(3**bits)[:, None] // 3 ** np.arange(bits) % 3
        ones = np.arange(1 << bits)[:, None] >> np.arange(bits) & 1
        counts: NDArray[np.int64] = np.count_nonzero(digits[:, None] == 2 - ones[None], axis=2)
        planes: NDArray[np.int64] = counts[:, None] >> np.arange(places)[:, None] & 1
        return planes

    low = np.zeros((3**WORD_BITS, 4), np.uint64)
    low_planes = np.packbits(binary_planes(WORD_BITS, 3).astype(np.uint8), axis=-1, bitorder="little")
    low[:, :3] = low_planes.view(np.uint64).reshape(-1, 3)
    high = -binary_planes(INNER_BITS - WORD_BITS, 2)
    digits = (np.arange(INNER_BITS + WINDOW)[:, None] >> np.arange(4) & 1) - 1
    positions = np.zeros((256, ROW_WORDS), np.uint16)
    for byte in range(256):
        bits = [k for k in range(ROW_WORDS) if byte >> k & 1]
        positions[byte, : len(bits)] = bits
    flat_high, flat_digits = (array.reshape(-1).view(np.uint64) for array in (high, digits))
    return Patterns(ternary, low.reshape(-1), flat_high, flat_digits, positions.reshape(-1))
