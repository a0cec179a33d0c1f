"""Rows for people: tables that fit their terminal, whose cells are never wrapped or cut, or one field per line."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, repeat
from tempfile import TemporaryFile
from typing import TypeVar, cast

import msgspec
from rich.cells import cell_len

from langford.cli.output.display import READABLE, say
from langford.words import plain

GAP = "  "
Row = Sequence[object]
Batches = Callable[[], Iterable[Sequence[Sequence[str]]]]
"""The texts of each column, for some rows at a time; read twice, the same each time."""
MAX_EXACT = 2**53
UUID, UUID_LENGTH = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), 36
MIN_WIDTH = 8
"""The first characters of a UUID that a terminal shows; more where those of two are equal."""
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z")
BATCH_ROWS = 5_000
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
    # The texts in it, including untrusted ones; none where they are read in batches
    cells: Sequence[str] = ()
    right: bool = False  # whether they are aligned right, as numbers are
    rank: int = 0  # of two columns the one of the higher rank is left out first; those of rank 0 stay


def width_of_output() -> int | None:
    # COLUMNS counts, wherever it goes.
    return shutil.get_terminal_size((0, 0)).columns or None


def table(columns: Sequence[Column], width: int | None = None) -> list[str]:
    """The lines of a table, see :class:`Layout`."""
    return list(Layout(columns, lambda: [[column.cells for column in columns]], width).lines())


class Layout:
    """A table up to ``width`` characters wide, as far as columns may be omitted; None: all columns.

    A column without any text is omitted too.

    Attributes:
        omitted: the headings of columns with text for which there is no room.
    """

    def __init__(self, columns: Sequence[Column], batches: Batches, width: int | None) -> None:
        self._batches = batches
        every = [_Shown(place, column) for place, column in enumerate(columns)]
        for batch in batches():
            for each, texts in zip(every, batch, strict=True):
                each.see(texts)
        self._shown = [each for each in every if each.has_text or not each.column.rank]
        left_out = []
        while width is not None and self._width > width and any(each.column.rank for each in self._shown):
            left_out.append(max(self._shown, key=lambda each: each.column.rank))
            self._shown.remove(left_out[-1])
        self.omitted = [each.column.heading for each in every if each in left_out]

    @property
    def _width(self) -> int:
        return sum(each.width for each in self._shown) + len(GAP) * (len(self._shown) - 1)

    def lines(self) -> Iterator[str]:
        yield GAP.join(each.padded([each.column.heading])[0] for each in self._shown).rstrip()
        for batch in self._batches():
            cells = [each.padded(batch[each.place]) for each in self._shown]
            yield from (GAP.join(row).rstrip() for row in zip(*cells, strict=True))


class _Shown:
    """A column at its place, its width, and whether it has any text."""

    def __init__(self, place: int, column: Column) -> None:
        self.place, self.column = place, column
        self.width, self.has_text, self._is_ascii = cell_len(column.heading), False, column.heading.isascii()

    def see(self, texts: Sequence[str]) -> None:
        whole = "".join(texts)
        self.has_text = self.has_text or bool(whole)
        self._is_ascii = self._is_ascii and whole.isascii() and whole.isprintable()
        self.width = max(self.width, *map(len if self._is_ascii else _length, texts), 0)

    def padded(self, texts: Sequence[str]) -> list[str]:
        if self._is_ascii:
            return list(map(str.rjust if self.column.right else str.ljust, texts, repeat(self.width)))
        spaced = [(text, " " * (self.width - cell_len(text))) for text in map(plain, texts)]
        return [space + text if self.column.right else text + space for text, space in spaced]


def _length(text: str) -> int:
    return cell_len(plain(text))


def aligned(sheet: Sheet) -> Iterator[bytes]:
    """A table; its rows wait in a temporary file until all widths are known.

    On a terminal UUIDs are as short as they can be, times have whole seconds, and of what does not fit the first
    two columns stay.
    """
    fits = sheet.on_terminal
    with TemporaryFile() as spool:
        seen = [_Seen() for _ in sheet.columns]
        lengths: list[int] = []
        for columns in by_column(sheet.rows):
            cells = [each.texts(values) for each, values in zip(seen, columns, strict=True)]
            lengths.append(spool.write(msgspec.msgpack.encode(cells)))

        def batches() -> Iterator[Sequence[Sequence[str]]]:
            spool.seek(0)
            for length in lengths:
                cells = msgspec.msgpack.decode(spool.read(length), type=list[list[str]])
                yield [each.short(texts) for each, texts in zip(seen, cells, strict=True)] if fits else cells

        named = [
            Column(plain(name), right=each.is_number, rank=max(0, place - 1) if fits else 0)
            for place, (name, each) in enumerate(zip(sheet.columns, seen, strict=True))
        ]
        layout = Layout(named, batches, width_of_output() if fits else None)
        for lines in batched(layout.lines()):
            yield _encoded("".join(f"{line}\n" for line in lines))
    if layout.omitted:
        say(f"omitted, since the terminal is too narrow: {', '.join(layout.omitted)} (--format expanded shows all)")


def batched(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH_ROWS)):
        yield batch


def by_column(rows: Iterable[Sequence[T]]) -> Iterator[list[tuple[T, ...]]]:
    """The rows, some at a time, as what is in each column."""
    return (list(zip(*batch, strict=True)) for batch in batched(rows))


class _Seen:
    """What is known of the cells of a column."""

    def __init__(self) -> None:
        self.is_number = True
        self._uuids, self._shown_characters = set[str](), 0

    def texts(self, values: Sequence[object]) -> Sequence[str]:
        kinds = set(map(type, values))
        texts = _texts(values, kinds)
        if not kinds <= {int, float}:
            different = set(texts)  # a column often repeats its texts
            self.is_number = self.is_number and all(map(_is_number, different))
            self._uuids.update(text for text in different if len(text) == UUID_LENGTH and UUID.fullmatch(text))
        return texts

    def short(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts with shorter UUIDs and times."""
        if self._uuids and not self._shown_characters:
            lengths = range(MIN_WIDTH, UUID_LENGTH + 1)
            self._shown_characters = next(
                n for n in lengths if len({text[:n] for text in self._uuids}) == len(self._uuids)
            )
        return [text[: self._shown_characters] if text in self._uuids else TIME.sub(r"\1Z", text) for text in texts]


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
    return plain(f"{value:.6g}" if isinstance(value, float) else str(exact(value)))


def _texts(values: Sequence[object], kinds: set[type]) -> Sequence[str]:
    if kinds == {float}:
        return [f"{value:.6g}" for value in values]
    if kinds == {int}:
        return list(map(str, values))
    if kinds == {str}:
        texts = cast(Sequence[str], values)
        return texts if "".join(texts).isprintable() else list(map(plain, texts))
    return list(map(_words, values))


def _is_number(text: str) -> bool:
    return not text or text.removeprefix("-").replace(".", "", 1).replace("e+", "").replace("e-", "").isdigit()


def _encoded(text: str) -> bytes:
    return text.encode(sys.stdout.encoding or "utf-8", READABLE)
