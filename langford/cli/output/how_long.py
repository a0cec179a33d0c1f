"""How long a count will take, in words, before it begins; what would make it shorter, or be possible instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jobs.tuning import forecast
from langford.cli.output.display import require_yes, say
from langford.devices import Device
from langford.errors import BadInput, TooExpensive
from langford.methods import Method, fastest_method
from langford.problem import Problem
from langford.variants import DIFFERENCES
from langford.words import DAY_SECONDS, YEAR_SECONDS, duration, several

SECONDS_WORTH_SAYING = 3.0
SECONDS_WORTH_ADVICE = 1800.0
SPREAD_WORTH_SAYING = 1.5
SECONDS_WORTH_A_QUESTION = 3600.0
MAX_SECONDS = float(YEAR_SECONDS)
"""Seconds after which nothing starts without --anyway."""
WORK_OF_A_GPU = 4.0**8
"""How many times the work that a core does in moments a GPU does in seconds."""
GROWTH_OF_A_SUM = 4.0
"""Factor in the work of a sum from n to n + 1."""
CORES_OF_A_GPU = 700
"""How many cores are as fast as a GPU, roughly: L(2,28) on an H100, and on two cores."""
MAX_CORE_YEARS = 10_000.0
"""What the largest clusters could finish: a hundred thousand cores for a month."""
SMALLER = 12
"""How many smaller n are looked at for a count that is possible instead."""
LARGEST_ALTERNATIVE = 28
POWERS = ((1e15, "quadrillion"), (1e12, "trillion"), (1e9, "billion"), (1e6, "million"))


def seconds_on(problem: Problem, method: Method, devices: Sequence[Device]) -> float:
    """Expected seconds of a count on these devices; 0 for a short one."""
    if devices[0].on_cores:
        return forecast.core_seconds(problem, method) / len(devices)
    start = method.speeds.forecast(problem.copies)
    if (start.growth or GROWTH_OF_A_SUM) ** (problem.n - start.instant) < WORK_OF_A_GPU:
        return 0.0
    return forecast.expected_seconds([(problem, method)], devices)[problem]


def say_how_long(
    what: str,
    seconds: float,
    problem: Problem,
    devices: Sequence[Device],
    why: str = "",
    shorter: Callable[[], str] | None = None,
    spread: float = 1.0,
) -> None:
    """Say how long a computation takes that is about to begin, where that is long, and what would make it shorter.

    Args:
        why: the method was chosen; empty: not said.
        shorter: returns what would make it shorter, in words; None: the advice for the whole count.
        spread: the factor by which the seconds may be wrong.
    """
    if seconds > SECONDS_WORTH_SAYING:
        say(f"{what}: {length(seconds, devices, spread)}{f' ({why})' if why else ''}")
    if seconds > SECONDS_WORTH_ADVICE:
        say(shorter() if shorter is not None else advice(problem, seconds, devices))


def require_consent(
    what: str,
    seconds: float,
    devices: Sequence[Device],
    yes: bool,
    anyway: bool,
    instead: Callable[[], str],
    limit: float | None = None,
) -> None:
    """Ask before a computation of over an hour; one of over a year needs --anyway.

    Args:
        instead: returns what else is possible, in words.
        limit: seconds after which it stops; None: it does not.

    Raises TooExpensive or BadInput.
    """
    words = f"{what}: {length(seconds, devices)}"
    if seconds > MAX_SECONDS and not anyway:
        raise TooExpensive(f"{words}: {instead()} (--anyway starts it nevertheless)")
    if min(seconds, limit or seconds) > SECONDS_WORTH_A_QUESTION:
        require_yes(words, "Start", yes or anyway, instead)


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


def length(seconds: float, devices: Sequence[Device], spread: float = 1.0) -> str:
    """How long a count takes, with the devices: "about 46 min on 2 cores".

    ``spread``: the factor by which that may be wrong; from SPREAD_WORTH_SAYING on both ends are said.
    """
    if spread >= SPREAD_WORTH_SAYING:
        ends = " to ".join(long_duration(seconds * factor) for factor in (1 / spread, spread))
        return f"{ends} on {several(len(devices), devices[0].unit)}"
    number, unit = len(devices), devices[0].unit
    total, time = long_duration(seconds * number), long_duration(seconds)
    all_of_it = f" ({total.removesuffix(' years')} {unit} years)" if total.endswith(" years") and number > 1 else ""
    return f"{'' if time.startswith('over') else 'about '}{time} on {several(number, unit)}{all_of_it}"


def advice(problem: Problem, seconds: float, devices: Sequence[Device]) -> str:
    estimate = f"`langford estimate {' '.join(problem.arguments)}` approximates it now"
    cores = len(devices) * (1 if devices[0].on_cores else CORES_OF_A_GPU)
    if seconds * cores / YEAR_SECONDS <= MAX_CORE_YEARS:
        farm = "(`langford create`, then `langford serve`)"
        share = f"more GPUs {farm} make it shorter"
        if devices[0].on_cores:
            share = f"GPUs make it shorter (--device cuda), and more machines {farm}"
        return f"{share}; {estimate}" if seconds > DAY_SECONDS else share
    instead = _possible(problem, devices)
    return f"no cluster can finish it; {estimate}{f', and {instead}' if instead else ''}"


def _possible(problem: Problem, devices: Sequence[Device]) -> str:
    """Empty: there is none."""
    if problem.variant == DIFFERENCES:
        return ""
    choices = []
    for n in range(min(problem.order - 1, LARGEST_ALTERNATIVE), 0, -1)[:SMALLER]:
        try:
            smaller = problem.resized(n)
            if not smaller.obstruction:
                choices.append((smaller, fastest_method(smaller, devices[0]).method))
        except BadInput:
            break
    expected = forecast.expected_seconds(choices, devices) if choices else {}
    found = next((each for each in expected if expected[each] <= DAY_SECONDS), None)
    if found is None:
        return ""
    time = f"takes about {duration(expected[found])}" if expected[found] else "takes moments"
    return f"{found} {time} here"
