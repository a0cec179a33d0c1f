"""The arrays that describe a part of Godfrey's sum to the CPU kernel, by name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Point(NamedTuple):
    """A sign vector and its sums.

    Attributes:
        signs: int64[places + 2·reach], ±1, 0 where no cube stands; the row starts at ``reach``.
        links: int64[reach + 1], byte of difference d in the packed words, −1 if d is not asked for.
        sums: int64[words], the packed sums.
    """

    signs: NDArray[np.int64]
    links: NDArray[np.int64]
    sums: NDArray[np.int64]


class Block(NamedTuple):
    """The places that change most often, and what their Gray sequence changes.

    Attributes:
        places: int64[block], positions in the signs.
        sequence: int64[2^block], row of the contribution table at each Gray step.
        deltas: int64[2^block · words], packed change of the sums by block places alone.
    """

    places: NDArray[np.int64]
    sequence: NDArray[np.int64]
    deltas: NDArray[np.int64]
