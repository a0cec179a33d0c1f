"""Tables for terminals and for pipes: no cell is broken or cut, and a table that is too wide loses columns."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from langford.cli.terminal import plain

GAP = "  "


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        heading: above it.
        cells: the texts in it; those of strangers, too.
        right: whether they stand at the right, as numbers do.
        rank: of two columns the one of the higher rank is left out first; those of rank 0 stay.
    """

    heading: str
    cells: Sequence[str]
    right: bool = False
    rank: int = 0


def width_of_output() -> int | None:
    """How many characters a line of standard output has; None: it goes into a file or a pipe."""
    # COLUMNS counts, wherever it goes.
    return shutil.get_terminal_size((0, 0)).columns or None


def table(columns: Sequence[Column], width: int | None) -> list[str]:
    """The lines of a table that is no wider than ``width``, as far as columns may be left out; None: all columns.

    A column without any text is left out, too.
    """
    shown = [column for column in columns if any(column.cells) or not column.rank]
    while width is not None and _width(shown) > width and any(column.rank for column in shown):
        shown.remove(max(shown, key=lambda column: column.rank))
    rows = zip(*([column.heading, *map(plain, column.cells)] for column in shown), strict=True)
    widths = [_column_width(column) for column in shown]
    return [
        GAP.join(
            _padded(cell, size, column.right) for cell, size, column in zip(row, widths, shown, strict=True)
        ).rstrip()
        for row in rows
    ]


def _column_width(column: Column) -> int:
    return max(cell_len(text) for text in [column.heading, *map(plain, column.cells)])


def _width(columns: Sequence[Column]) -> int:
    return sum(map(_column_width, columns)) + len(GAP) * (len(columns) - 1)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space
