"""Tables for terminals and pipes: cells are never wrapped or cut; a table that is too wide omits columns."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from rich.cells import cell_len

from langford.cli.output.terminal import plain

GAP = "  "


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    heading: str
    # The texts in it, including untrusted ones; none where they are read with streamed
    cells: Sequence[str] = ()
    right: bool = False  # whether they stand at the right, as numbers do
    rank: int = 0  # of two columns the one of the higher rank is left out first; those of rank 0 stay


def width_of_output() -> int | None:
    # COLUMNS counts, wherever it goes.
    return shutil.get_terminal_size((0, 0)).columns or None


def table(columns: Sequence[Column], width: int | None) -> list[str]:
    """The lines of a table up to ``width`` characters wide, as far as columns may be omitted; None: all columns.

    A column without any text is omitted too.
    """
    return list(streamed(columns, lambda: zip(*(column.cells for column in columns), strict=True), width))


def streamed(
    columns: Sequence[Column], rows: Callable[[], Iterable[Sequence[str]]], width: int | None
) -> Iterator[str]:
    """The same for rows that are read twice, the same each time: once for the widths, and once for the lines."""
    every = [_Shown(place, column) for place, column in enumerate(columns)]
    for row in rows():
        for each, text in zip(every, row, strict=True):
            each.see(text)
    shown = [each for each in every if each.has_text or not each.column.rank]
    while width is not None and _width(shown) > width and any(each.column.rank for each in shown):
        shown.remove(max(shown, key=lambda each: each.column.rank))
    for row in chain([[column.heading for column in columns]], rows()):
        texts = (_padded(plain(row[each.place]), each.width, each.column.right) for each in shown)
        yield GAP.join(texts).rstrip()


class _Shown:
    """A column at its place, its width, and whether it has any text."""

    def __init__(self, place: int, column: Column) -> None:
        self.place, self.column = place, column
        self.width, self.has_text = cell_len(column.heading), False

    def see(self, text: str) -> None:
        self.has_text = self.has_text or bool(text)
        if len(text) > self.width or not text.isascii() or not text.isprintable():
            self.width = max(self.width, cell_len(plain(text)))


def _width(columns: Sequence[_Shown]) -> int:
    return sum(each.width for each in columns) + len(GAP) * (len(columns) - 1)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space
