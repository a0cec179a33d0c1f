"""Rows as text or bytes, and their output: for people as a table or expanded, for programs as CSV or JSON.

No number loses a digit: integers beyond 2^53, which readers of JSON round, and exact decimal numbers are text.
Infinities, which JSON lacks, are null there.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import click

from langford.cli.output.display import say
from langford.cli.output.tables import Row, Sheet, aligned, batched, exact, expanded
from langford.errors import BadInput
from langford.machine.durable import replace_file
from langford.machine.outputs import OutputForm, require_replaceable
from langford.words import plain

WITH_COLUMNS = "a table with these columns"


def comma_separated(sheet: Sheet) -> Iterator[bytes]:
    """CSV with the names of the columns in its first line; null is empty.

    A terminal gets control characters escaped.
    """
    text, shown = io.StringIO(), _escaped if sheet.on_terminal else exact
    writer = csv.writer(text, lineterminator="\n")
    heading: list[Row] = [sheet.columns]
    for batch in chain([heading], batched(sheet.rows)):
        writer.writerows([["" if value is None else shown(value) for value in row] for row in batch])
        yield text.getvalue().encode("utf-8", "backslashreplace")
        text.seek(0)
        text.truncate()


def json_array(sheet: Sheet) -> Iterator[bytes]:
    """One JSON array of objects; raises BadInput."""
    _require_own_names(sheet.columns)
    separator = "[\n  "
    for row in sheet.rows:
        yield f"{separator}{json.dumps(_object(sheet.columns, row))}".encode()
        separator = ",\n  "
    yield b"[]\n" if separator == "[\n  " else b"\n]\n"


FORMATS: Mapping[str, Callable[[Sheet], Iterator[bytes]]] = {
    "table": aligned,
    "expanded": expanded,
    "csv": comma_separated,
    "json": json_array,
}


def form_of(name: str, columns: Sequence[str]) -> OutputForm:
    """The form of a file with these columns, in the format of this name: it begins with them."""
    [heading] = comma_separated(Sheet(columns, ()))
    first = re.escape(json.dumps(columns[0]).encode())
    patterns = {
        "table": rb"\W*" + rb"\W+".join(re.findall(rb"\w+", heading)) + rb"\W",
        "expanded": re.escape(columns[0].encode()) + b"  ",
        "csv": re.escape(heading),
        "json": rb"\[\]\n\Z|\[\n  \{" + first + b": ",
    }
    return OutputForm(WITH_COLUMNS, patterns[name])


def chosen_format(form: str | None, as_json: bool) -> str | None:
    """The name of the format; None: none is chosen.  Raises UsageError for --json and another."""
    if as_json and form is not None:
        raise click.UsageError(f"--json is a format too: leave it out, or --format {form}")
    return "json" if as_json else form


def write(parts: Iterable[bytes], out: Path | None, form: OutputForm) -> None:
    """Print the parts of a format, or write them into a file once they are complete.

    ``form``: that of the file.  Raises NotReplaceable or OSError.
    """
    if out is None:
        print_parts(parts)
        return
    require_replaceable(out, form)
    content = b"".join(parts)
    replace_file(out, content, form)
    say(f"{out}: {len(content):,} bytes")


def print_parts(parts: Iterable[bytes]) -> None:
    """As they are made."""
    sys.stdout.flush()
    for part in parts:
        sys.stdout.buffer.write(part)
    sys.stdout.buffer.flush()


def _escaped(value: object) -> object:
    known = exact(value)
    return plain(known) if isinstance(known, str) else known


def _require_own_names(columns: Sequence[str]) -> None:
    name, number = max(Counter(columns).items(), key=lambda item: item[1], default=("", 0))
    if number > 1:
        raise BadInput(
            f"{number} columns are called {name}: give them different names with AS, or choose --format csv"
        )


def _object(columns: Sequence[str], row: Row) -> dict[str, object]:
    return {name: _finite(exact(value)) for name, value in zip(columns, row, strict=True)}


def _finite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_finite(part) for part in value]
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return value
