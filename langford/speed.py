"""Speed: work per second.  It is computed here only, and its words say which seconds are meant.

Work is what a plan says before anything is computed: points, or estimated nodes.  The products that were evaluated
are fewer than the points, and no measure of a speed.  The seconds are those in which devices computed, each for
itself (*of computation*), those from the first computing of a campaign to its last result (*since the start*), or
the last ones (*now*).
"""

from __future__ import annotations

from langford.words import duration, rate

MIN_SHARE = 0.02
"""The time that is left can be said from this share of the work on."""


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


def of_computation(value: float | None, unit: str) -> str:
    """The speed of a device: work by the computing time of its tasks; empty: there is none.

    >>> of_computation(5.2e9, "points")
    '5.2 G points/s of computation'
    """
    return "" if value is None else f"{rate(value, unit)} of computation"


def since_the_start(value: float | None, unit: str) -> str:
    """The speed of all devices together, from the first computing to the last result; empty: there is none.

    >>> since_the_start(5.2e9, "points")
    '5.2 G points/s since the start'
    """
    return "" if value is None else f"{rate(value, unit)} since the start"


def now(value: float | None, unit: str, seconds: float | None = None) -> str:
    """The speed of all devices together, by the results of the last seconds; empty: there is none.

    >>> now(5.2e9, "points"), now(5.2e9, "points", 60.0)
    ('5.2 G points/s now', '5.2 G points/s in the last 60 s')
    """
    when = "now" if seconds is None else f"in the last {duration(seconds)}"
    return "" if value is None else f"{rate(value, unit)} {when}"
