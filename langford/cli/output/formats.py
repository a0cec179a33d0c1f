"""Rows as text or bytes, and their output: for people as a table or expanded, for programs as CSV, JSON or Parquet.

No number loses a digit: integers beyond 2^53, which readers of JSON round, and exact decimal numbers are text.
Infinities, which JSON lacks, are null there.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path

import click

from langford.cli.output.display import say
from langford.cli.output.tables import Row, aligned, batched, exact, expanded
from langford.errors import BadInput, NotInstalled
from langford.machine.durable import replace_file
from langford.version import install
from langford.words import plain


def comma_separated(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[bytes]:
    """CSV with the names of the columns in its first line; null is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heading: list[Row] = [columns]
    for batch in chain([heading], batched(rows)):
        writer.writerows([["" if value is None else exact(value) for value in row] for row in batch])
        yield text.getvalue().encode("utf-8", "backslashreplace")
        text.seek(0)
        text.truncate()


def escaped(columns: Sequence[str], rows: Iterable[Row]) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Columns and rows with control characters escaped, for formats that would print them to a terminal."""
    return tuple(map(plain, columns)), (tuple(map(_escaped, row)) for row in rows)


def json_lines(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[bytes]:
    """One JSON object per line; raises BadInput."""
    _require_own_names(columns)
    for row in rows:
        yield f"{json.dumps(_object(columns, row))}\n".encode()


def json_array(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[bytes]:
    """One JSON array of objects; raises BadInput."""
    _require_own_names(columns)
    separator = "[\n  "
    for row in rows:
        yield f"{separator}{json.dumps(_object(columns, row))}".encode()
        separator = ",\n  "
    yield b"[]\n" if separator == "[\n  " else b"\n]\n"


def parquet(columns: Sequence[str], rows: Iterable[Row], times: Collection[str] = ()) -> Iterator[bytes]:
    """One Parquet file; the ISO 8601 texts of the columns ``times`` are timestamps in it.  Raises BadInput."""
    _require_own_names(columns)
    require_parquet()
    import pyarrow
    from pyarrow.parquet import write_table

    by_column: list[list[object]] = [[] for _ in columns]
    for row in rows:
        for values, value in zip(by_column, row, strict=True):
            values.append(exact(value))
    content = io.BytesIO()
    moment = pyarrow.timestamp("us", tz="UTC")
    arrays = {
        name: pyarrow.array(map(_instant, values), moment) if name in times else _of_one_type(values)
        for name, values in zip(columns, by_column, strict=True)
    }
    write_table(pyarrow.table(arrays), content)
    yield content.getvalue()


def require_parquet() -> None:
    try:
        import pyarrow  # noqa: F401
    except ModuleNotFoundError as error:
        raise NotInstalled(f"Parquet needs pyarrow: {install('parquet')}, or choose another --format") from error


FORMATS: Mapping[str, Callable[[Sequence[str], Iterable[Row]], Iterator[bytes]]] = {
    "table": aligned,
    "expanded": expanded,
    "csv": comma_separated,
    "json": json_array,
    "jsonl": json_lines,
    "parquet": parquet,
}


def require_json(form: str | None, as_json: bool) -> None:
    """Raises UsageError for --json with another --format."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json is --format json: leave it out, or --format {form}")


def write(parts: Iterable[bytes], out: Path | None) -> None:
    """Print the parts of a format as they are made, or write them into a file once they are complete.

    Raises NotReplaceable or OSError.
    """
    if out is not None:
        content = b"".join(parts)
        replace_file(out, content)
        say(f"{out}: {len(content):,} bytes")
        return
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
