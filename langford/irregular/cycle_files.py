"""Weighted edges as lines of text."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langford.irregular.arrays import Array
from langford.irregular.errors import BadFile, TooWide

MOST_DIGITS = 300
"""The largest number of digits.  A float can hold such a number, too: a column with one float becomes floats."""


@dataclass(frozen=True)
class CycleFile:
    """The edges of a file.

    Attributes:
        names: the numbers of the vertices as written, rising, int64[n].
        sources, targets: of each edge, as places in ``names``, int64[m].
        weights: int64 or float64[m].
        times: the same, or None when no line has one.
    """

    names: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    weights: Array
    times: Array | None


def read_cycle_file(file: Path) -> CycleFile:
    """Read lines ``u v weight`` or ``u v weight time``, with or without the mark of UTF-8 before them.

    Raises BadFile with the number of the line, or TooWide.
    """
    try:
        text = file.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise BadFile(f"{file} cannot be read ({error.strerror}): give a file of text") from error
    rows: list[list[int | float]] = []
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) not in (3, 4) or (rows and len(words) != len(rows[0])):
            wanted = "u v weight [time]" if not rows else f"{len(rows[0])} numbers, as the lines before it"
            several = "word" if len(words) == 1 else "words"
            raise BadFile(f"{file}, line {number}: {len(words)} {several}; write {wanted}")
        rows.append([_vertex(file, number, word) for word in words[:2]])
        rows[-1] += [_number(file, number, word) for word in words[2:]]
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    ends = np.array(columns[:2], np.int64).reshape(2, -1)
    names, places = np.unique(ends, return_inverse=True)
    sources, targets = places.reshape(2, -1)
    values = [_array(column) for column in columns[2:]]
    return CycleFile(names, sources, targets, values[0], values[1] if len(values) > 1 else None)


def _vertex(file: Path, number: int, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 18):
        raise BadFile(f"{file}, line {number}: {word[:40]!r} is no vertex: write a whole number from 0 on")
    return int(word)


def _number(file: Path, number: int, word: str) -> int | float:
    # Python also reads 1_000, and digits of any script.
    if not word.isascii() or "_" in word:
        raise BadFile(f"{file}, line {number}: {word[:40]!r} is no number: write it in digits")
    if word[word[0] in "+-" :].isdigit() and len(word) <= MOST_DIGITS:
        return int(word)
    try:
        value = float(word)
    except ValueError as error:
        raise BadFile(f"{file}, line {number}: {word[:40]!r} is no number: correct it") from error
    if not isfinite(value):
        raise BadFile(f"{file}, line {number}: {word[:40]!r} is {value}: give finite numbers only")
    return value


def _array(column: tuple[int | float, ...]) -> Array:
    if any(isinstance(value, float) for value in column):
        return np.array(column, np.float64)
    try:
        return np.array(column, np.int64)
    except OverflowError as error:
        raise TooWide("a number of the file needs more than 62 bits: write it with a decimal point") from error
