"""The weighted edges of a file, as arrays."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langford.errors import BadInput
from langford.irregular.arrays import Array
from langford.words import several

WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
"""A number that 62 bits hold."""


@dataclass(frozen=True)
class CycleFile:
    """The edges of a file.

    Attributes:
        names: the numbers of the vertices as written, rising, int64[n].
        sources, targets: of each edge, as places in ``names``, int32[m].
        weights: int64[m].
        times: the same, or None when no line has one.
    """

    names: NDArray[np.int64]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: Array
    times: Array | None


def read_cycle_file(file: Path) -> CycleFile:
    """Read a list of edges, each a line ``u v weight [time]`` of whole numbers, with spaces or commas between them.

    What follows a # is a remark.  The file may begin with the mark of UTF-8; ``-`` is standard input.

    Raises BadInput with the number of the line.
    """
    rows: list[list[int]] = []
    for number, line in enumerate(_text(file).split("\n"), 1):
        words, place = line.partition("#")[0].replace(",", " ").split(), f"{file}, line {number}"
        if not words:
            continue
        if len(words) not in ((3, 4) if not rows else (len(rows[0]),)):
            wanted = f"{len(rows[0])} numbers, as the lines before it" if rows else "u v weight [time]"
            raise BadInput(f"{place}: {several(len(words), 'word')}; write {wanted}")
        rows.append([_whole(place, word) for word in words])
        for name, value in zip(("vertex", "vertex", "", "time"), rows[-1], strict=False):
            if name and value < 0:
                raise BadInput(f"{place}: the {name} {value} is negative: it must be 0 or more")
    columns = np.array(rows, np.int64).reshape(len(rows), -1 if rows else 3).T
    names, places = np.unique(columns[:2], return_inverse=True)
    sources, targets = places.reshape(2, -1).astype(np.int32)
    return CycleFile(names, sources, targets, columns[2], columns[3] if len(columns) > 3 else None)


def _text(file: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read ({error.strerror or error}): give a file of text") from error
    return content.decode("utf-8-sig", errors="replace")


def _whole(place: str, word: str) -> int:
    if WHOLE.fullmatch(word) is None:
        raise BadInput(
            f"{place}: {word[:40]!r} is not a whole number of up to 18 digits: multiply all by a factor, and round"
        )
    return int(word)
