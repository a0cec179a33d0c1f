"""Tables for terminals and pipes: cells are never wrapped or cut; a table that is too wide omits columns."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from langford.cli.output.terminal import plain

GAP = "  "


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        heading: above it.
        cells: the texts in it, including untrusted ones.
        right: whether they stand at the right, as numbers do.
        rank: of two columns the one of the higher rank is left out first; those of rank 0 stay.
    """

    heading: str
    cells: Sequence[str]
    right: bool = False
    rank: int = 0


def width_of_output() -> int | None:
    """The width of standard output in characters; None for a file or a pipe."""
    # COLUMNS counts, wherever it goes.
    return shutil.get_terminal_size((0, 0)).columns or None


def table(columns: Sequence[Column], width: int | None) -> list[str]:
    """The lines of a table up to ``width`` characters wide, as far as columns may be omitted; None: all columns.

    A column without any text is omitted too.
    """
    shown = [_Shown(column) for column in columns if any(column.cells) or not column.rank]
    while width is not None and _width(shown) > width and any(each.column.rank for each in shown):
        shown.remove(max(shown, key=lambda each: each.column.rank))
    return [
        GAP.join(
            _padded(text, each.width, each.column.right) for text, each in zip(row, shown, strict=True)
        ).rstrip()
        for row in zip(*(each.texts for each in shown), strict=True)
    ]


class _Shown:
    """A column with its texts as they are printed, and its width."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.texts = [column.heading, *map(plain, column.cells)]
        self.width = max(map(cell_len, self.texts))


def _width(columns: Sequence[_Shown]) -> int:
    return sum(each.width for each in columns) + len(GAP) * (len(columns) - 1)


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - cell_len(text))
    return space + text if right else text + space
