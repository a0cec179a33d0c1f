"""Numbers, times and shares as a report writes them."""

from __future__ import annotations

from datetime import UTC, datetime

from db.files.messages import LATEST

LONGEST_CELL = 240
"""Characters of a text in a table."""


def number(value: int | float) -> str:
    """A whole number with its groups of digits, another one with three digits.

    >>> number(131072), number(0.01234), number(181.23), number(1.5e15)
    ('131,072', '0.0123', '181', '1.5e+15')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"


def share(part: float) -> str:
    """A share in percent, with as many digits as it needs.

    >>> share(0.019), share(0.697), share(0), share(0.00004), share(21.91)
    ('1.9 %', '69.7 %', '0 %', '0.004 %', '2,191 %')
    """
    percent = 100 * part
    if percent > 100:
        return f"{percent:,.0f} %"
    return f"{percent:.1f} %" if percent >= 1 else f"{percent:.2g} %" if percent else "0 %"


def duration(seconds: float) -> str:
    """A duration in the unit that suits it, and in two units where one would hide much.

    >>> duration(0.0123), duration(59.4), duration(911), duration(164_700), duration(86_400 * 345.4)
    ('0.012 s', '59 s', '15 min 11 s', '1 d 22 h', '345 d')
    """
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    for size, unit, smaller_size, smaller in (
        (86_400, "d", 3_600, "h"),
        (3_600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if seconds >= size:
            whole, rest = divmod(round(seconds / smaller_size), size // smaller_size)
            return f"{whole:,} {unit}" if whole >= 100 or not rest else f"{whole} {unit} {rest} {smaller}"
    raise AssertionError(seconds)


def instant(seconds: float | None) -> str:
    """A time, in UTC; empty when it is not known, and the last second of the year 9999 for every later one.

    >>> instant(1_700_000_000.0), instant(1e30)
    ('2023-11-14 22:13:20', '9999-12-31 23:59:59')
    """
    return "" if seconds is None else f"{datetime.fromtimestamp(min(seconds, LATEST), UTC):%Y-%m-%d %H:%M:%S}"


def several(count: int, noun: str, plural: str | None = None) -> str:
    """A number of things.

    >>> several(1, "task"), several(1200, "task"), several(2, "host")
    ('1 task', '1,200 tasks', '2 hosts')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def shortened(text: str) -> str:
    """The beginning of a text that is too long for a table.

    >>> len(shortened("x" * 5000))
    241
    """
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"
