"""What a count costs, and whether it may start: one of over a year starts only if the caller insists."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from langford.devices import Device
from langford.errors import TooExpensive
from langford.words import YEAR_SECONDS, long_duration, several

MAX_SECONDS = float(YEAR_SECONDS)
"""Nothing that takes longer starts, unless the caller insists."""
MAX_CORE_YEARS = 10_000.0
"""What the largest clusters could finish: a hundred thousand cores for a month."""
CORES_OF_A_GPU = 700
"""How many cores are as fast as a GPU, roughly: L(2,28) on an H100, and on two cores."""


def on_idle(devices: Sequence[Device]) -> str:
    """The devices for which a forecast holds: "2 idle cores"."""
    return several(len(devices), f"idle {devices[0].unit}")


def roughly(time: str) -> str:
    """A time in words as an estimate; a bound stays as it is.

    >>> roughly("46 min"), roughly("<0.001 s"), roughly("over 10^300 years")
    ('about 46 min', '<0.001 s', 'over 10^300 years')
    """
    return time if time.startswith(("over", "<")) else f"about {time}"


def time_on(seconds: float, devices: Sequence[Device]) -> str:
    """How long something takes on all of some devices: "about 46 min on 2 idle cores"."""
    number, unit = len(devices), devices[0].unit
    total, time = long_duration(seconds * number), long_duration(seconds)
    all_of_it = f" ({total.removesuffix(' years')} {unit} years)" if total.endswith(" years") and number > 1 else ""
    return f"{roughly(time)} on {on_idle(devices)}{all_of_it}"


def within_reach(seconds: float, devices: Sequence[Device]) -> bool:
    """Whether any cluster could finish what takes this long on some devices."""
    cores = len(devices) * (1 if devices[0].on_cores else CORES_OF_A_GPU)
    return seconds * cores / YEAR_SECONDS <= MAX_CORE_YEARS


def require_affordable(
    what: str, seconds: float, devices: Sequence[Device], meant: bool, insist: str, instead: Callable[[], str]
) -> None:
    """Raises TooExpensive for what takes over a year, unless it is meant.

    Args:
        what, seconds, devices: what is to be started, and how long it takes on all of these devices.
        meant: whether to start it regardless.
        insist: how the caller says that, like "--yes".
        instead: returns what else is possible, in words.
    """
    if seconds > MAX_SECONDS and not meant:
        raise TooExpensive(f"{what}: {time_on(seconds, devices)}: {instead()} ({insist} starts it regardless)")
