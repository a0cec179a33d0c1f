"""The weighted edges of a file, as arrays."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langford.errors import BadInput
from langford.irregular.arrays import Array
from langford.irregular.errors import TooWide
from langford.words import several

MAX_DIGITS_OF_A_VERTEX = 18
MAX_DIGITS = 300
"""The largest number of digits.  A float can hold such a number, too: a column with one float becomes floats."""


@dataclass(frozen=True)
class CycleFile:
    """The edges of a file.

    Attributes:
        names: the numbers of the vertices as written, rising, int64[n].
        sources, targets: of each edge, as places in ``names``, int32[m].
        weights: int64 or float64[m].
        times: the same, or None when no line has one.
    """

    names: NDArray[np.int64]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: Array
    times: Array | None


def read_cycle_file(file: Path) -> CycleFile:
    """Read a list of edges, each a line of the words ``u v weight [time]`` with spaces or commas between them.

    Lines that begin with # are remarks, and a first line of words with commas may be names.  The file may begin
    with the mark of UTF-8; ``-`` is standard input.

    Raises BadInput with the number of the line, or TooWide.
    """
    values: list[list[int | float]] = []
    for place, words in _rows(str(file), _text(file)):
        values.append([_vertex(place, word) for word in words[:2]])
        values[-1] += [_number(place, word) for word in words[2:]]
        if len(words) > 3 and values[-1][3] < 0:
            raise BadInput(f"{place}: the time {words[3]:.40} is negative: times must be 0 or more")
    columns = list(zip(*values, strict=True)) or [(), (), ()]
    ends = np.array(columns[:2], np.int64).reshape(2, -1)
    names, places = np.unique(ends, return_inverse=True)
    sources, targets = places.reshape(2, -1).astype(np.int32)
    numbers = [_array(column) for column in columns[2:]]
    return CycleFile(names, sources, targets, numbers[0], numbers[1] if len(numbers) > 1 else None)


def _text(file: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read ({error.strerror or error}): give a file of text") from error
    return content.decode("utf-8-sig", errors="replace")


def _rows(name: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """(place, words) of each edge; the place is file and line number.  Raises BadInput."""
    columns = 0
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if not line or line.startswith("#"):
            continue
        words = [word.strip() for word in line.split(",")] if "," in line else line.split()
        if not columns and "," in line and not any(word[:1].isdigit() for word in words):
            continue  # the names of the columns
        place = f"{name}, line {number}"
        if len(words) not in (3, 4) or (columns and len(words) != columns):
            wanted = f"{columns} numbers, as the lines before it" if columns else "u v weight [time]"
            raise BadInput(f"{place}: {several(len(words), 'word')}; write {wanted}")
        columns = len(words)
        yield place, words


def _vertex(place: str, word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise BadInput(f"{place}: {word[:40]!r} is not a vertex: write a whole number, 0 or more")
    if len(word) > MAX_DIGITS_OF_A_VERTEX:
        raise BadInput(
            f"{place}: the vertex {word[:40]} has more than {MAX_DIGITS_OF_A_VERTEX} digits: renumber the vertices"
        )
    return int(word)


def _number(place: str, word: str) -> int | float:
    # Python also reads 1_000, and digits of any script.
    if not word.isascii() or "_" in word:
        raise BadInput(f"{place}: {word[:40]!r} is not a number: write it in digits")
    if word[word[:1] in ("+", "-") :].isdigit() and len(word) <= MAX_DIGITS:
        return int(word)
    try:
        value = float(word)
    except ValueError as error:
        raise BadInput(f"{place}: {word[:40]!r} is not a number: correct it") from error
    if not isfinite(value):
        raise BadInput(f"{place}: {word[:40]!r} is {value}: give finite numbers only")
    return value


def _array(column: tuple[int | float, ...]) -> Array:
    if any(isinstance(value, float) for value in column):
        return np.array(column, np.float64)
    try:
        return np.array(column, np.int64)
    except OverflowError as error:
        raise TooWide("a number of the file needs more than 62 bits: write it with a decimal point") from error
