"""Numbers, rates, shares and times as people read them: on a terminal, in logs, in messages and in reports.

``jobs/farm/dashboard/static/words.js`` has the same for a browser; ``tests/cli/test_words.py`` compares the two.
Halves are rounded up, as there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
DAY_SECONDS = 86_400
UNITS = ((DAY_SECONDS, "d"), (3_600, "h"), (60, "min"), (1, "s"))
"""Units of time, each with its length in seconds."""
YEAR_SECONDS = 31_557_600
POWERS = ((1e15, "quadrillion"), (1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
LATEST_SECONDS = 253_402_300_799.0
"""The last second of the year 9999, since 1970: no later time can be written."""
MIN_SHARE = 0.02
"""The time that is left can be said from this share of the work on."""


def several(count: int, noun: str, plural: str | None = None) -> str:
    """A number of things.

    >>> several(1, "task"), several(1200, "task"), several(2, "process", "processes")
    ('1 task', '1,200 tasks', '2 processes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def portion(part: int, whole: int, noun: str) -> str:
    """Some of a number of things, and the verb.

    >>> portion(1, 6, "task"), portion(1200, 2400, "task")
    ('1 of 6 tasks has', '1,200 of 2,400 tasks have')
    """
    return f"{part:,} of {several(whole, noun)} {'has' if part == 1 else 'have'}"


def number(value: int | float) -> str:
    """A whole number with its groups of digits, another one with three digits.

    >>> number(131072), number(0.01234), number(181.23), number(1.5e15)
    ('131,072', '0.0123', '181', '1.5e+15')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"


def quantity(value: float) -> str:
    """A number that is not negative, with up to three digits and a prefix.

    >>> quantity(5), quantity(0.0123), quantity(60.5), quantity(12_345_678), quantity(0)
    ('5', '0.0123', '60.5', '12.3 M', '0')
    """
    if value >= 999.5 * 1000 ** (len(PREFIXES) - 1):
        return f"{value:.2e}"
    if value < 0.001:
        return "<0.001" if value else "0"
    power = 0
    while value >= 999.5:
        value, power = value / 1000, power + 1
    return f"{_significant(value, 3)} {PREFIXES[power]}".rstrip()


def rate(value: float, unit: str) -> str:
    """A number of things per second.

    >>> rate(5.2e9, "points"), rate(7.0, "nodes")
    ('5.2 G points/s', '7 nodes/s')
    """
    return f"{quantity(value)} {unit}/s"


def percent(part: float, digits: int = 1) -> str:
    """A share in percent, rounded down: 100% means all.

    >>> percent(0.99999), percent(1.0), percent(0.4), percent(0.505, 0)
    ('99.9%', '100.0%', '40.0%', '50%')
    """
    scale = 100 * 10**digits
    return f"{_fixed(math.floor(part * scale + 1e-9) / (scale / 100), digits)}%"


def share(part: float) -> str:
    """A share in percent, with as many digits as it needs.

    >>> share(0.019), share(0.697), share(0), share(0.00004), share(21.91)
    ('1.9%', '69.7%', '0%', '0.004%', '2,191%')
    """
    percents = 100 * part
    if percents > 100:
        return f"{percents:,.0f}%"
    return f"{percents:.1f}%" if percents >= 1 else f"{percents:.2g}%" if percents else "0%"


def duration(seconds: float) -> str:
    """A duration in the unit that suits it, and in two units where one would hide much.

    >>> duration(0.0123), duration(59.4), duration(911), duration(164_700), duration(86_400 * 345.4), duration(1e11)
    ('0.012 s', '59 s', '15 min 11 s', '1 d 22 h', '345 d', '3,169 years')
    """
    if seconds < 9.5:
        return "0 s" if seconds <= 0 else f"{'<0.001' if seconds < 0.001 else _significant(seconds, 2)} s"
    if seconds < 99.5:
        return f"{_whole(seconds)} s"
    if seconds >= 3 * YEAR_SECONDS:
        years = seconds / YEAR_SECONDS
        return f"{_whole(years):,} years" if years < 1e15 else f"{years:.2e} years"
    for (size, unit), (smaller_size, smaller) in pairwise(UNITS):
        number, rest = divmod(_whole(seconds / smaller_size), size // smaller_size)
        if number >= 100:
            return f"{_whole(seconds / size):,} {unit}"
        if number:
            return f"{number} {unit} {rest} {smaller}" if rest else f"{number} {unit}"
    raise AssertionError(seconds)


def long_duration(seconds: float) -> str:
    """A duration, in which many years are words that can be grasped.

    >>> long_duration(60), long_duration(3.3e7 * YEAR_SECONDS), long_duration(3.3e19 * YEAR_SECONDS)
    ('60 s', '33 million years', 'over 1,000 quadrillion years')
    """
    years = seconds / YEAR_SECONDS
    if years >= 1e18:
        return "over 1,000 quadrillion years"
    for size, name in POWERS:
        if years >= size:
            return f"{years / size:,.0f} {name} years"
    return duration(seconds)


def time_left(seconds: float) -> str:
    """How long something still takes, to the second: it is an estimate.

    >>> time_left(0.066), time_left(4.4), time_left(84)
    ('less than 1 s', '4 s', '84 s')
    """
    return "less than 1 s" if seconds < 1 else duration(max(1.0, _whole(seconds)))


def about(seconds: float) -> str:
    """As :func:`time_left`, in a sentence.

    >>> about(0.066), about(4.4)
    ('less than 1 s', 'about 4 s')
    """
    return time_left(seconds) if seconds < 1 else f"about {time_left(seconds)}"


def instant(seconds: float | None) -> str:
    """A time in UTC, from seconds since 1970; empty when it is not known.  A later year than 9999 is cut there.

    >>> instant(1_700_000_000.0), instant(1e30)
    ('2023-11-14 22:13:20', '9999-12-31 23:59:59')
    """
    return (
        "" if seconds is None else f"{datetime.fromtimestamp(min(seconds, LATEST_SECONDS), UTC):%Y-%m-%d %H:%M:%S}"
    )


def clock(seconds: float) -> str:
    """A time in the time zone of this machine, from seconds since 1970, to the minute, cut as by :func:`instant`.

    >>> clock(1e30)[:7]
    '9999-12'
    """
    latest = LATEST_SECONDS - 2 * DAY_SECONDS  # in every time zone of this year
    return f"{datetime.fromtimestamp(min(seconds, latest)).astimezone():%Y-%m-%d %H:%M}"


def _whole(value: float) -> int:
    return math.floor(value + 0.5)


def _fixed(value: float, digits: int) -> str:
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def _significant(value: float, digits: int) -> str:
    """A positive number with at most this many digits that count."""
    exact = Decimal(value)
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_HALF_UP)
    return f"{rounded.normalize():f}"


def plain(text: str) -> str:
    r"""The text with every character that is not printed written as an escape.

    Those are control characters, line breaks, what turns the direction of text, what has no width, and halves of
    characters.

    >>> print(plain("red: \x1b[31m, a new line:\n, half a character: \ud800"))
    red: \x1b[31m, a new line:\n, half a character: \ud800
    >>> print(plain("left\u202eright"))
    left\u202eright
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def shortened(text: str, longest: int = 240) -> str:
    """The beginning of a text that is longer than this number of characters.

    >>> shortened("x" * 5000, 3)
    'xxx…'
    """
    return text if len(text) <= longest else f"{text[:longest]}…"


def some(values: Sequence[object], most: int, noun: str = "", between: str = ", ") -> str:
    """The first of some values, and how many more there are.

    >>> some([3, 5, 8], 2), some(["one", "two"], 2), some(range(3000), 1, "task"), some([3, 5], 1, "task")
    ('3, 5 and 1 more', 'one, two', '0 and 2,999 more tasks', '3 and 1 more task')
    """
    left = len(values) - most
    more = f" and {several(left, f'more {noun}') if noun else f'{left:,} more'}" if left > 0 else ""
    return between.join(map(str, values[:most])) + more


def speed(work: float, seconds: float) -> float | None:
    """Work per second; None: no time has passed.

    >>> speed(60, 4.0), speed(60, 0.0)
    (15.0, None)
    """
    return work / seconds if seconds > 0 else None


def seconds_left(whole: float, done: float, seconds: float) -> float | None:
    """How long the rest of some work takes at the speed so far; None while too little is done to tell.

    >>> seconds_left(100.0, 1.0, 6.0), seconds_left(100.0, 25.0, 60.0)
    (None, 180.0)
    """
    return None if done < max(MIN_SHARE * whole, 1e-300) else (whole - done) * seconds / done


def now(value: float | None, unit: str, seconds: float | None = None) -> str:
    """The speed of all devices together, by the results of the last seconds; empty: there is none.

    >>> now(5.2e9, "points"), now(5.2e9, "points", 60.0)
    ('5.2 G points/s now', '5.2 G points/s in the last 60 s')
    """
    when = "now" if seconds is None else f"in the last {duration(seconds)}"
    return "" if value is None else f"{rate(value, unit)} {when}"
