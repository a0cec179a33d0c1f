"""Rows of places inside numba kernels: one word for up to 64 places, a pair of words up to 128.

Bit k of a row is place k + 1; a pair is (low, high).  Kernels written with these functions are
compiled once for each kind.  Arrays of rows are uint64[·] or uint64[·, 2].

On a circle, of at most 64 places, places a and b > a are b − a apart and circle − (b − a), the other way around: a
difference is one of both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from langford.kernels.cpu.compiled import part
from langford.kernels.cpu.ir import set_bits, trailing_zero_bits

_ZERO, _ONE, _WORD = np.uint64(0), np.uint64(1), np.uint64(64)
_ONE = np.uint64(1)


def _for_words_and_pairs(word: Callable[..., Any], pair: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a row, or of an array of rows, that numba compiles for the kind that it gets."""

    def choose(row: Any, *others: Any) -> Any:
        wide = isinstance(row, types.UniTuple) or (isinstance(row, types.Array) and row.ndim == 2)
        return pair if wide else word

    def function(row: Any, *others: Any) -> Any:
        raise NotImplementedError("for numba kernels only")

    overload(function, strict=False)(choose)
    return function


def _down_pair(row: Any, by: Any) -> Any:
    low, high = row
    places = np.uint64(by)
    if places == _ZERO:
        return low, high
    if places >= _WORD:
        return (high >> (places - _WORD) if places < np.uint64(128) else _ZERO), _ZERO
    return low >> places | high << (_WORD - places), high >> places


def _up_pair(row: Any, by: Any) -> Any:
    low, high = row
    places = np.uint64(by)
    if places == _ZERO:
        return low, high
    if places >= _WORD:
        return _ZERO, (low << (places - _WORD) if places < np.uint64(128) else _ZERO)
    return low << places, high << places | low >> (_WORD - places)


def _without_lowest_pair(row: Any) -> Any:
    low, high = row
    if low:
        return low & (low - _ONE), high
    return low, high & (high - _ONE)


def _lowest_pair(row: Any) -> Any:
    low, high = row
    return np.uint64(trailing_zero_bits(low)) if low else _WORD + np.uint64(trailing_zero_bits(high))


def _store_pair(rows: Any, index: Any, row: Any) -> Any:
    rows[index, 0] = row[0]
    rows[index, 1] = row[1]


def _store_word(rows: Any, index: Any, row: Any) -> Any:
    rows[index] = row


down = _for_words_and_pairs(lambda row, by: row >> np.uint64(by), _down_pair)
"""A row moved towards place 1; what passes it is lost."""

up = _for_words_and_pairs(lambda row, by: row << np.uint64(by), _up_pair)
"""A row moved away from place 1; what passes the last bit is lost."""

both = _for_words_and_pairs(
    lambda row, other: row & other, lambda row, other: (row[0] & other[0], row[1] & other[1])
)
"""The places in both rows."""

either = _for_words_and_pairs(
    lambda row, other: row ^ other, lambda row, other: (row[0] ^ other[0], row[1] ^ other[1])
)
"""The places in one of the rows but not in the other."""

same = _for_words_and_pairs(
    lambda row, other: row == other, lambda row, other: row[0] == other[0] and row[1] == other[1]
)
"""Whether the rows are equal."""

some = _for_words_and_pairs(lambda row: row != _ZERO, lambda row: (row[0] | row[1]) != _ZERO)
"""Whether the row has any place."""

size = _for_words_and_pairs(lambda row: set_bits(row), lambda row: set_bits(row[0]) + set_bits(row[1]))
"""Number of places in the row."""

lowest = _for_words_and_pairs(lambda row: np.uint64(trailing_zero_bits(row)), _lowest_pair)
"""The first place of a row that has some, from 0."""

without_lowest = _for_words_and_pairs(lambda row: row & (row - _ONE), _without_lowest_pair)
"""The row without its first place."""

first_word = _for_words_and_pairs(lambda row: row, lambda row: row[0])
"""Places 1 to 64."""

load = _for_words_and_pairs(lambda rows, index: rows[index], lambda rows, index: (rows[index, 0], rows[index, 1]))
"""A row of an array."""

store = _for_words_and_pairs(_store_word, _store_pair)
"""Put a row into an array."""

empty_rows = _for_words_and_pairs(
    lambda rows, count: np.empty(count, np.uint64), lambda rows, count: np.empty((count, 2), np.uint64)
)
"""A new array of ``count`` rows of the same kind."""


@part
def circular_starts(free, difference, circle):
    """Bit k set where the places k and k + difference are free; of opposite places, the first one."""
    d = np.uint64(difference)
    fits = free & (free >> d | free << (np.uint64(circle) - d))
    return fits & ((_ONE << d) - _ONE) if 2 * difference == circle else fits


@part
def circular_pair(first, difference, circle):
    """The places ``first`` and first + difference."""
    first = np.int64(first)
    return _ONE << np.uint64(first) | _ONE << np.uint64((first + difference) % circle)


@part
def fill_circle(free, unused, circle, rows, words):
    """Ways to fill ``free`` exactly with the colours whose differences are bits of ``unused``; as ``fill``.

    Covers the lowest free place, which is at bit 0: a colour goes to the bit of its difference, or of what is left
    of the circle.
    """
    ways = nodes = level = 0
    apart = unused
    for difference in range(1, circle):
        if unused >> np.uint64(difference) & _ONE:
            apart |= _ONE << np.uint64(circle - difference)
    free >>= np.uint64(trailing_zero_bits(free))
    fitting = free & apart
    while True:
        if not fitting:
            if level == 0:
                return ways, nodes
            level -= 1
            free, apart, fitting = rows[level], words[0, level], words[1, level]
        chosen = fitting & (~fitting + _ONE)
        fitting ^= chosen
        nodes += 1
        rest = free ^ _ONE ^ chosen
        left = apart & ~(chosen | _ONE << np.uint64(circle - trailing_zero_bits(chosen)))
        if not left:
            ways += rest == 0
            continue
        rest >>= np.uint64(trailing_zero_bits(rest))
        next_fitting = rest & left
        if next_fitting:
            if fitting:
                rows[level], words[0, level], words[1, level] = free, apart, fitting
                level += 1
            free, apart, fitting = rest, left, next_fitting
