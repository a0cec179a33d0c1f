"""Rows as text or bytes, and their output: for people as a table or expanded, for programs as CSV, JSON or Parquet.

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
from datetime import datetime
from itertools import chain
from pathlib import Path

import click

from langford.cli.output.display import say
from langford.cli.output.tables import Row, Sheet, aligned, batched, exact, expanded
from langford.errors import BadInput, NotInstalled
from langford.machine.durable import replace_file
from langford.machine.outputs import OutputForm, mark, marked, require_replaceable
from langford.version import install
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


def json_lines(sheet: Sheet) -> Iterator[bytes]:
    """One JSON object per line; raises BadInput."""
    _require_own_names(sheet.columns)
    for row in sheet.rows:
        yield f"{json.dumps(_object(sheet.columns, row))}\n".encode()


def json_array(sheet: Sheet) -> Iterator[bytes]:
    """One JSON array of objects; raises BadInput."""
    _require_own_names(sheet.columns)
    separator = "[\n  "
    for row in sheet.rows:
        yield f"{separator}{json.dumps(_object(sheet.columns, row))}".encode()
        separator = ",\n  "
    yield b"[]\n" if separator == "[\n  " else b"\n]\n"


def parquet(sheet: Sheet) -> Iterator[bytes]:
    """One Parquet file; raises BadInput, and what :func:`require` raises.

    Texts in ISO 8601 are timestamps in a column of times.  Other columns have the type of their values; those
    without any value have the type that is known of them, else they are text.
    """
    _require_own_names(sheet.columns)
    require("parquet", sheet.on_terminal)
    import pyarrow
    from pyarrow.parquet import write_table

    by_column: list[list[object]] = [[] for _ in sheet.columns]
    for row in sheet.rows:
        for values, value in zip(by_column, row, strict=True):
            values.append(exact(value))
    types = {datetime: pyarrow.timestamp("us", tz="UTC"), int: pyarrow.int64(), float: pyarrow.float64()}
    arrays = {}
    for name, values in zip(sheet.columns, by_column, strict=True):
        known = sheet.types.get(name, str)
        found = list(map(_instant, values)) if known is datetime else _of_one_type(values)
        is_declared = known is datetime or all(value is None for value in found)
        arrays[name] = pyarrow.array(found, types.get(known, pyarrow.string()) if is_declared else None)
    content = io.BytesIO()
    write_table(pyarrow.table(arrays).replace_schema_metadata({"origin": mark("query")}), content)
    yield content.getvalue()


FORMATS: Mapping[str, Callable[[Sheet], Iterator[bytes]]] = {
    "table": aligned,
    "expanded": expanded,
    "csv": comma_separated,
    "json": json_array,
    "jsonl": json_lines,
    "parquet": parquet,
}


def form_of(name: str, columns: Sequence[str]) -> OutputForm:
    """The form of a file with these columns, in the format of this name: it begins with them."""
    if name == "parquet":
        return marked(WITH_COLUMNS, "query")
    [heading] = comma_separated(Sheet(columns, ()))
    first = re.escape(json.dumps(columns[0]).encode())
    patterns = {
        "table": rb"\W*" + rb"\W+".join(re.findall(rb"\w+", heading)) + rb"\W",
        "expanded": re.escape(columns[0].encode()) + b"  ",
        "csv": re.escape(heading),
        "json": rb"\[\]\n\Z|\[\n  \{" + first + b": ",
        "jsonl": rb"\{" + first + b": ",
    }
    return OutputForm(WITH_COLUMNS, patterns[name])


def require(form: str, on_terminal: bool) -> None:
    """Raises NotInstalled, or UsageError on a terminal, if this format cannot be written."""
    if form != "parquet":
        return
    if on_terminal:
        raise click.UsageError("Parquet is not readable on a terminal: give --out FILE")
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as error:
        raise NotInstalled(f"Parquet needs pyarrow: {install('parquet')}, or choose another --format") from error


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


def _instant(text: object) -> datetime | None:
    return None if text is None else datetime.fromisoformat(str(text))


def _of_one_type(values: list[object]) -> list[object]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        return values
    return [None if value is None else str(value) for value in values]
