"""Rows for people: tables that fit their terminal, whose cells are never wrapped or cut, or one field per line."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import chain, islice, repeat
from typing import TypeVar

from rich.cells import cell_len

from langford.cli.output.display import READABLE, say
from langford.words import plain

GAP = "  "
Row = Sequence[object]
MAX_EXACT = 2**53
UUID = re.compile("([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(?=Z)")
"""On a terminal only the groups of both are shown."""
NUMBERS = {int, float, type(None)}
BATCH_ROWS = 5_000
"""After so many rows a table starts anew, with headings and widths of its own: it is never in memory as a whole."""
T = TypeVar("T")


@dataclass(frozen=True)
class Sheet:
    """Rows with named columns, which every format writes."""

    columns: Sequence[str]
    rows: Iterable[Row]
    on_terminal: bool = False  # whether people see them there


@dataclass(frozen=True)
class Column:
    heading: str
    cells: Sequence[str]  # the texts in it, including untrusted ones
    right: bool = False  # whether they are aligned right, as numbers are
    rank: int = 0  # of two columns the one of the higher rank is left out first; those of rank 0 stay

    @cached_property
    def _texts(self) -> list[str]:
        return list(map(plain, (self.heading, *self.cells)))

    @cached_property
    def _length(self) -> Callable[[str], int]:
        # Where each letter has one cell, which holds for most columns, its number is known at once.
        return len if "".join(self._texts).isascii() else cell_len

    @cached_property
    def width(self) -> int:
        return max(map(self._length, self._texts))

    def padded(self) -> Iterator[str]:
        if self._length is len:
            return map(str.rjust if self.right else str.ljust, self._texts, repeat(self.width))
        spaced = [(text, " " * (self.width - cell_len(text))) for text in self._texts]
        return (space + text if self.right else text + space for text, space in spaced)


def width_of_output() -> int | None:
    # COLUMNS counts, wherever it goes.
    return shutil.get_terminal_size((0, 0)).columns or None


def table(columns: Sequence[Column], width: int | None = None) -> list[str]:
    """The lines of a table, with the columns that :func:`fitting` leaves."""
    padded = [column.padded() for column in fitting(columns, width)]
    return [GAP.join(row).rstrip() for row in zip(*padded, strict=True)]


def fitting(columns: Sequence[Column], width: int | None) -> list[Column]:
    """The columns with text whose table is up to ``width`` characters wide, as far as some may be omitted.

    ``width``: None: all columns.
    """
    shown = [column for column in columns if not column.rank or any(column.cells)]
    while width is not None and sum(column.width + len(GAP) for column in shown) > width + len(GAP):
        last = max(shown, key=lambda column: column.rank)
        if not last.rank:
            break
        shown.remove(last)
    return shown


def aligned(sheet: Sheet) -> Iterator[bytes]:
    """A table; on a terminal UUIDs and times are short, and of what does not fit the first two columns stay."""
    width, omitted = width_of_output() if sheet.on_terminal else None, dict[str, None]()
    rows = iter(sheet.rows)
    for batch in chain([list(islice(rows, BATCH_ROWS))], batched(rows)):
        cells = zip(*batch, strict=True) if batch else [()] * len(sheet.columns)
        columns = [
            _column(name, values, place, sheet.on_terminal)
            for place, (name, values) in enumerate(zip(sheet.columns, cells, strict=True))
        ]
        yield _encoded("".join(f"{line}\n" for line in table(columns, width)))
        shown = fitting(columns, width)
        omitted |= dict.fromkeys(column.heading for column in columns if column not in shown and any(column.cells))
    if omitted:
        say(f"omitted, since the terminal is too narrow: {', '.join(omitted)} (--format expanded shows all)")


def _column(name: str, values: Sequence[object], place: int, on_terminal: bool) -> Column:
    texts = list(map(_words, values))
    right = set(map(type, values)) <= NUMBERS or all(map(_is_number, texts))
    if not on_terminal:
        return Column(plain(name), texts, right)
    short = [TIME.sub(r"\1", UUID.sub(r"\1", text)) for text in texts]
    return Column(plain(name), short, right, max(0, place - 1))


def batched(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH_ROWS)):
        yield batch


def expanded(sheet: Sheet) -> Iterator[bytes]:
    """One field per line, with its name; an empty line between two rows."""
    names = [plain(name) for name in sheet.columns]
    widest = max(map(len, names), default=0)
    for number, row in enumerate(sheet.rows):
        lines = [f"{name:{widest}}  {_words(value)}".rstrip() for name, value in zip(names, row, strict=True)]
        yield _encoded("\n" * bool(number) + "".join(f"{line}\n" for line in lines))


def exact(value: object) -> object:
    """The value as a type that all formats have, without the loss of a digit."""
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= MAX_EXACT else str(value)
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, list | tuple):
        return [exact(part) for part in value]
    if isinstance(value, dict):
        return {str(name): exact(part) for name, part in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain(value if isinstance(value, str) else str(exact(value)))


def _is_number(text: str) -> bool:
    return not text or text.removeprefix("-").replace(".", "", 1).replace("e+", "").replace("e-", "").isdigit()


def _encoded(text: str) -> bytes:
    return text.encode(sys.stdout.encoding or "utf-8", READABLE)
