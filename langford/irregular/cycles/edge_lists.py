"""Lists of weighted edges in the usual formats: each one's lines as rows of words ``u v weight [time]``.

- Words with spaces between them; lines that begin with # are remarks.
- CSV: the same with commas, and a first line of names if there is one.
- DIMACS (shortest paths): ``c`` remarks, one ``p sp N M``, and M lines ``a u v weight``.
- Matrix Market: ``%%MatrixMarket matrix coordinate …`` of integers, reals or a pattern, whose weights are 1; a
  symmetric matrix has an edge in both directions for each entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langford.errors import BadInput
from langford.words import several

MATRIX_MARKET = "%%MatrixMarket"
FIELDS = ("integer", "real", "double", "pattern")
SYMMETRIES = ("general", "symmetric")


Lines = Sequence[tuple[str, str]]
"""(place, line) of the lines of a file that are not empty; the place is file and line number, for messages."""
EdgeRow = tuple[str, list[str]]
"""(place, words) of an edge; the words are ``u v weight``, or ``u v weight time``."""


def rows(name: str, text: str) -> Iterator[EdgeRow]:
    """The edges of a list in any of the formats; raises BadInput with the number of the line."""
    numbered = enumerate(map(str.strip, text.split("\n")), 1)
    lines = [(f"{name}, line {number}", line) for number, line in numbered if line]
    first = lines[0][1] if lines else ""
    if first.startswith(MATRIX_MARKET):
        return _of_matrix_market(name, lines)
    if first.split()[:1] in (["c"], ["p"]):
        return _of_dimacs(name, lines)
    return _of_words(lines)


def _of_words(lines: Lines) -> Iterator[EdgeRow]:
    columns = 0
    for place, line in lines:
        if line.startswith("#"):
            continue
        words = [word.strip() for word in line.split(",")] if "," in line else line.split()
        if not columns and "," in line and not any(word[:1].isdigit() for word in words):
            continue  # the names of the columns
        if len(words) not in (3, 4) or (columns and len(words) != columns):
            wanted = f"{columns} numbers, as the lines before it" if columns else "u v weight [time]"
            raise BadInput(f"{place}: {several(len(words), 'word')}; write {wanted}")
        columns = len(words)
        yield place, words


def _of_dimacs(name: str, lines: Lines) -> Iterator[EdgeRow]:
    announced, seen = None, 0
    for place, line in lines:
        kind, *words = line.split()
        if kind == "c":
            continue
        if kind == "p" and announced is None and len(words) == 3 and words[2].isdecimal():
            announced = int(words[2])
        elif kind == "a" and announced is not None and len(words) in (3, 4):
            seen += 1
            yield place, words
        else:
            raise BadInput(f"{place}: write one line `p sp N M`, then M lines `a u v weight`")
    _require_number(name, announced or 0, seen)


def _of_matrix_market(name: str, lines: Lines) -> Iterator[EdgeRow]:
    (place, header), *entries = lines
    words = header.lower().split()
    if words[1:3] != ["matrix", "coordinate"] or not words[3:4] or words[3] not in FIELDS:
        raise BadInput(f"{place}: only matrices in coordinates, of {', '.join(FIELDS)}, are lists of edges")
    field, symmetry = words[3], "".join(words[4:])
    if symmetry not in SYMMETRIES:
        raise BadInput(f"{place}: the matrix must be {' or '.join(SYMMETRIES)}")
    announced, seen = None, 0
    columns = 2 if field == "pattern" else 3
    for place, line in entries:
        if line.startswith("%"):
            continue
        words = line.split()
        if announced is None:
            if len(words) != 3 or not words[2].isdecimal():
                raise BadInput(f"{place}: write the number of rows, of columns and of entries")
            announced = int(words[2])
            continue
        if len(words) != columns:
            raise BadInput(f"{place}: {several(len(words), 'word')}; write {columns}")
        seen += 1
        weight = words[2] if columns == 3 else "1"
        yield place, [*words[:2], weight]
        if symmetry == "symmetric" and words[0] != words[1]:
            yield place, [words[1], words[0], weight]
    _require_number(name, announced or 0, seen)


def _require_number(name: str, announced: int, seen: int) -> None:
    if announced != seen:
        raise BadInput(f"{name} declares {announced:,} edges but has {seen:,}: get the complete file")
