"""Rows for people: a table that fits its terminal, or one field per line."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from langford.cli.output.characters import READABLE, has_characters
from langford.cli.output.display import say
from langford.cli.output.terminal import plain

Row = Sequence[object]
LARGEST_EXACT = 2**53
UNBOUNDED = 1_000_000
"""The width in characters of a table that is not printed on a terminal."""
NARROWEST_WORDS = 20
"""Characters in which words are still readable, over several lines."""
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHORTEST = 8
"""The first characters of a UUID that a terminal shows; more where those of two are equal."""
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z")
DRAWN = "┏━┃│└"


def table(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[bytes]:
    """A table.

    Printed on a terminal it fits: UUIDs are as short as they can be, times have whole seconds, the last column that
    does not fit is wrapped if it has words, and those after it are left out.
    """
    cells = [[_words(value) for value in row] for row in rows]
    terminal = Console(file=sys.stdout)
    room = terminal.width if terminal.is_terminal else UNBOUNDED
    if terminal.is_terminal:
        cells = [list(row) for row in zip(*map(_short, zip(*cells, strict=True)), strict=True)]
    widths = [max([len(name), *(len(row[place]) for row in cells)]) + 3 for place, name in enumerate(columns)]
    shown = next((place for place in range(len(columns), 1, -1) if sum(widths[:place]) < room), 1)
    wraps = shown < len(columns) and _can_wrap([row[shown] for row in cells], room - sum(widths[:shown]) - 4)
    shown += wraps
    drawn = Table(header_style="", box=box.HEAVY_HEAD if has_characters(DRAWN) else box.ASCII2)
    for place, name in enumerate(columns[:shown]):
        numbers = bool(cells) and all(_is_number(row[place]) for row in cells)
        drawn.add_column(
            Text(plain(name)),
            justify="right" if numbers else "left",
            no_wrap=not (wraps and place == shown - 1),
            overflow="fold" if wraps and place == shown - 1 else "ellipsis",
        )
    for row in cells:
        drawn.add_row(*map(Text, row[:shown]))
    text = io.StringIO()
    Console(file=text, width=max(room, 20), force_terminal=False).print(drawn, crop=False)
    yield _encoded(text.getvalue())
    if shown < len(columns):
        left_out = ", ".join(map(plain, columns[shown:]))
        say(f"omitted, since the terminal is too narrow: {left_out} (--format expanded shows all)")


def expanded(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[bytes]:
    """One field per line, with its name; an empty line between two rows."""
    names = [plain(name) for name in columns]
    widest = max(map(len, names), default=0)
    for number, row in enumerate(rows):
        lines = [f"{name:{widest}}  {_words(value)}".rstrip() for name, value in zip(names, row, strict=True)]
        yield _encoded("\n" * bool(number) + "".join(f"{line}\n" for line in lines))


def exact(value: object) -> object:
    """The value as a type that all formats have, without the loss of a digit."""
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= LARGEST_EXACT else str(value)
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


def _is_number(text: str) -> bool:
    return not text or text.removeprefix("-").replace(".", "", 1).replace("e+", "").replace("e-", "").isdigit()


def _short(column: Sequence[str]) -> list[str]:
    """The cells of a column with shorter UUIDs and times."""
    known = {cell for cell in column if UUID.fullmatch(cell)}
    lengths = range(SHORTEST, 37)
    length = next((length for length in lengths if len({cell[:length] for cell in known}) == len(known)), 36)
    return [cell[:length] if cell in known else TIME.sub(r"\1Z", cell) for cell in column]


def _can_wrap(cells: Sequence[str], room: int) -> bool:
    """Whether a column has words, and room enough for them."""
    return room >= NARROWEST_WORDS and any(" " in cell for cell in cells)


def _encoded(text: str) -> bytes:
    return text.encode(sys.stdout.encoding or "utf-8", READABLE)
