"""Rows in every format, without the loss of a digit and without letters that move a cursor."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from langford.cli.output.formats import FORMATS
from langford.cli.output.tables import BATCH_ROWS, Sheet
from langford.errors import BadInput

COUNT = 2**80 + 1
COLUMNS = ("name", "value", "small", "share", "when")
ROWS: list[tuple[object, ...]] = [
    ('a,"b"\n', COUNT, 7, 0.1, datetime(2026, 1, 2, tzinfo=UTC)),
    ("\x1b[31m=1+1", Decimal(COUNT), -7, 1e300, None),
    (None, str(COUNT), 2**53 + 1, None, None),
]


def made(
    form: str,
    columns: Sequence[str] = COLUMNS,
    rows: Sequence[Sequence[object]] = ROWS,
    on_terminal: bool = False,
) -> bytes:
    return b"".join(FORMATS[form](Sheet(columns, iter(rows), on_terminal)))


def test_csv_keeps_every_digit() -> None:
    head, *rows = csv.reader(io.StringIO(made("csv").decode(), newline=""))
    assert head == list(COLUMNS)
    assert [row[1] for row in rows] == [str(COUNT)] * 3
    assert rows[0] == ['a,"b"\n', str(COUNT), "7", "0.1", "2026-01-02T00:00:00+00:00"]
    assert rows[2] == ["", str(COUNT), "9007199254740993", "", ""]


def test_json_keeps_every_digit_as_text() -> None:
    text = made("json").decode()
    rows = json.loads(text)
    assert [row["value"] for row in rows] == [str(COUNT)] * 3
    assert [row["small"] for row in rows] == [7, -7, str(2**53 + 1)]
    assert [row["share"] for row in rows] == [0.1, 1e300, None]
    assert rows[1]["name"] == "\x1b[31m=1+1"
    assert text.isascii()


def test_what_json_lacks_is_null() -> None:
    text = made("json", ("a", "b", "c"), [(float("inf"), [float("nan"), 1.5], {"d": float("-inf")})])
    assert json.loads(text, parse_constant=pytest.fail) == [{"a": None, "b": [None, 1.5], "c": {"d": None}}]


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_loses_a_column(form: str) -> None:
    columns, rows = ("a", "b", "a"), [(11, 12, 13)]
    if form in ("table", "expanded", "csv"):
        assert all(number in made(form, columns, rows) for number in (b"11", b"12", b"13"))
        return
    with pytest.raises(BadInput, match="2 columns are called a: give them different names"):
        made(form, columns, rows)


def test_a_table_shows_no_letter_that_acts() -> None:
    shown = made("table").decode()
    assert "\x1b" not in shown
    assert "\\x1b[31m=1+1" in shown
    assert 'a,"b"\\n' in shown
    assert shown.count(str(COUNT)) == 3


def test_a_terminal_gets_what_it_can_show() -> None:
    assert b"\x1b" in made("csv")
    assert b"\x1b" not in made("csv", on_terminal=True)


def test_a_narrow_terminal_loses_whole_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    rows = [(f"task-{number}", number, "x" * 20, "y" * 20) for number in range(3)]
    columns = ("task", "number", "long", "last")
    assert "y" in made("table", columns, rows).decode()  # in a file
    shown = made("table", columns, rows, on_terminal=True).decode()
    assert max(map(len, shown.splitlines())) <= 40
    assert "task-2" in shown
    assert "y" not in shown
    assert "omitted, since the terminal is too narrow: last (--format expanded" in capsys.readouterr().err


def test_a_terminal_shows_short_uuids_and_times(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    uuids = [f"0123456{digit}-89ab-4cde-8f01-23456789abcd" for digit in "78"]
    at = "2026-01-31T12:30:05.123Z"
    rows = [(number, uuid, at) for number, uuid in enumerate([uuids[0], *uuids])]
    columns = ("task", "worker", "at")
    assert at in made("table", columns, rows).decode()
    assert uuids[0] in made("table", columns, rows).decode()
    for name, value in {"COLUMNS": "72", "FORCE_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = made("table", columns, rows, on_terminal=True).decode()
    assert "   0  01234567  2026-01-31T12:30:05Z\n" in shown
    assert capsys.readouterr().err == ""


def test_a_long_table_repeats_its_headings() -> None:
    shown = made("table", ("n", "name"), [(n, "x" * (1 + n // BATCH_ROWS)) for n in range(BATCH_ROWS + 1)])
    first, *others = shown.decode().splitlines()
    assert first == "   n  name"
    assert others[BATCH_ROWS - 1 :] == ["4999  x", "   n  name", "5000  xx"]


def test_characters_that_a_terminal_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    for form in ("table", "expanded"):
        assert b"\\u4eac" in made(form, ("city",), [("\u4eac",)])
    assert made("table", ("a",), [(1,)]).isascii()


def test_expanded_rows_have_a_line_for_each_field() -> None:
    assert made("expanded", ("a", "long"), [("x\n", COUNT), (None, 0.25)]).decode() == (
        f"a     x\\n\nlong  {COUNT}\n\na\nlong  0.25\n"
    )
