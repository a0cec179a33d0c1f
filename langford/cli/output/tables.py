"""Rows for people: tables that fit their terminal, whose cells are never wrapped or cut, or one field per line."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import cast

import msgspec
from rich.cells import cell_len

from langford.cli.output.display import READABLE, has_characters, say
from langford.words import plain

GAP = "  "
Row = Sequence[object]
MAX_EXACT = 2**53
UNBOUNDED = 1_000_000
"""The width in characters of a table that is not printed on a terminal."""
NARROWEST_WORDS = 20
"""Characters in which words are still readable, over several lines."""
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MIN_WIDTH = 8
"""The first characters of a UUID that a terminal shows; more where those of two are equal."""
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z")
BATCH_ROWS = 5_000
HEAVY, ASCII = ("┏━┳┓", "┃", "┡━╇┩", "│", "└─┴┘"), ("+-++", "|", "+-++", "|", "+-++")
"""The lines of a table: above and beside its heading, below it, beside and below its rows."""
SIDE = "\x1f"
"""Stands for the line beside a cell; no cell contains it."""


@dataclass(frozen=True)
class Sheet:
    """Rows with named columns, which every format writes."""

    columns: Sequence[str]
    rows: Iterable[Row]
    types: Mapping[str, type] = field(default_factory=dict)  # of columns, where they are known
    on_terminal: bool = False  # whether people see them there


@dataclass(frozen=True)
class Column:
    heading: str
    # The texts in it, including untrusted ones; none where they are read with streamed
    cells: Sequence[str] = ()
    right: bool = False  # whether they are aligned right, as numbers are
    rank: int = 0  # of two columns the one of the higher rank is left out first; those of rank 0 stay


def width_of_output() -> int | None:
    # COLUMNS counts, wherever it goes.
    return shutil.get_terminal_size((0, 0)).columns or None


def table(columns: Sequence[Column], width: int | None = None) -> list[str]:
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


def aligned(sheet: Sheet) -> Iterator[bytes]:
    """A table; its rows wait in a temporary file until all widths are known.

    On a terminal it fits: UUIDs are as short as they can be, times have whole seconds, the last column that
    does not fit is wrapped if it has words, and those after it are left out.
    """
    fits = sheet.on_terminal
    names = list(map(plain, sheet.columns))
    with TemporaryFile() as spool:
        seen = [_Seen(cell_len(name), fits) for name in names]
        lengths: list[int] = []
        for batch in batched(sheet.rows):
            cells = [each.texts(values) for each, values in zip(seen, zip(*batch, strict=True), strict=True)]
            lengths.append(spool.write(msgspec.msgpack.encode(cells)))

        def batches() -> Iterator[list[Sequence[str]]]:
            spool.seek(0)
            for length in lengths:
                cells = msgspec.msgpack.decode(spool.read(length), type=list[list[str]])
                yield [each.shown(texts) for each, texts in zip(seen, cells, strict=True)]

        for cells in batches() if fits else ():
            for each, texts in zip(seen, cells, strict=True):
                each.measure(texts)
        widths = [each.width for each in seen]
        room = shutil.get_terminal_size().columns if fits else UNBOUNDED
        shown = next((n for n in range(len(names), 1, -1) if 3 * n + sum(widths[:n]) < room), 1)
        rest = room - 3 * shown - sum(widths[:shown]) - 4
        if shown < len(names) and rest >= NARROWEST_WORDS and seen[shown].has_words:
            widths[shown], shown = rest, shown + 1
        widths[0] = min(widths[0], max(1, room - 4))
        lines = _TableLines(seen[:shown], widths[:shown])
        yield _encoded(lines.head(names[:shown]))
        for cells in batches():
            yield lines.body(cells[:shown])
        yield _encoded(lines.foot())
    if shown < len(names):
        say(f"omitted, since the terminal is too narrow: {', '.join(names[shown:])} (--format expanded shows all)")


def batched(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH_ROWS)):
        yield batch


class _Seen:
    """What is known of the cells of a column.

    Attributes:
        has_words: whether a cell has a space.
        is_ascii: whether all have; other characters may be wider or narrower than one column.
    """

    def __init__(self, width: int, shortens: bool) -> None:
        self.width, self.is_number, self.has_words = width, True, False
        self._shortens, self._uuids, self._length = shortens, set[str](), 0
        self.is_empty = self.is_ascii = True

    def texts(self, values: Sequence[object]) -> Sequence[str]:
        kinds = set(map(type, values))
        texts = _texts(values, kinds)
        self.is_empty = False
        numbers = kinds <= {int, float}
        self.is_number = self.is_number and (numbers or all(map(_is_number, texts)))
        if not self._shortens:
            self.measure(texts)
        elif not numbers:
            self._uuids.update(text for text in texts if UUID.fullmatch(text))
        return texts

    def shown(self, texts: Sequence[str]) -> Sequence[str]:
        """The texts, on a terminal with shorter UUIDs and times."""
        if not self._shortens:
            return texts
        if self._uuids and not self._length:
            lengths = range(MIN_WIDTH, 37)
            self._length = next(n for n in lengths if len({text[:n] for text in self._uuids}) == len(self._uuids))
        return [text[: self._length] if text in self._uuids else TIME.sub(r"\1Z", text) for text in texts]

    def measure(self, texts: Sequence[str]) -> None:
        whole = "".join(texts)
        self.is_ascii = self.is_ascii and whole.isascii()
        self.width = max(self.width, max(map(len if self.is_ascii else cell_len, texts)))
        self.has_words = self.has_words or " " in whole


class _TableLines:
    """The lines of a table whose widths are known."""

    def __init__(self, columns: Sequence[_Seen], widths: Sequence[int]) -> None:
        self._columns, self._widths = columns, widths
        self._box = HEAVY if has_characters("".join(HEAVY)) else ASCII

    def head(self, names: Sequence[str]) -> str:
        top, heading, below = self._box[:3]
        cells = [self._padded([name], place)[0] for place, name in enumerate(names)]
        return f"{self._rule(top)}{heading} {f' {heading} '.join(cells)} {heading}\n{self._rule(below)}"

    def body(self, cells: Sequence[Sequence[str]]) -> bytes:
        texts = self._wrapped(cells)
        widths = [self._width_of(place) for place in range(len(texts))]
        for place, column in enumerate(texts):
            if not self._columns[place].is_ascii:
                texts[place], widths[place] = self._padded(column, place), ""
        # Most cells are ASCII, which Python formats and encodes faster without the lines between them.
        line = f"{SIDE} {f' {SIDE} '.join(f'%{width}s' for width in widths)} {SIDE}\n"
        body = _encoded("".join([line % row for row in zip(*texts, strict=True)]))
        return body.replace(_encoded(SIDE), _encoded(self._box[3]))

    def foot(self) -> str:
        return self._rule(self._box[4])

    def _rule(self, characters: str) -> str:
        left, line, between, right = tuple(characters)
        return left + between.join(line * (width + 2) for width in self._widths) + right + "\n"

    def _wrapped(self, cells: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        """Cells; those of the last column over several lines where they are too wide."""
        *others, last = cells
        room = self._widths[-1]
        if self._columns[-1].width > room:
            parts = [textwrap.wrap(text, room, break_on_hyphens=False) or [""] for text in last]
            last = [line for lines in parts for line in lines]
            empty = [[""] * (len(lines) - 1) for lines in parts]
            others = [
                [line for text, more in zip(texts, empty, strict=True) for line in (text, *more)]
                for texts in others
            ]
        return [*others, last]

    def _padded(self, texts: Sequence[str], place: int) -> list[str]:
        right, width = self._is_right(place), self._widths[place]
        spaces = [" " * (width - cell_len(text)) for text in texts]
        return [space + text if right else text + space for text, space in zip(texts, spaces, strict=True)]

    def _width_of(self, place: int) -> str:
        """As Python's format of text with % has it."""
        return f"{'' if self._is_right(place) else '-'}{self._widths[place]}"

    def _is_right(self, place: int) -> bool:
        return self._columns[place].is_number and not self._columns[place].is_empty


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
