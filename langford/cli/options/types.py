"""Types of options that click does not have: durations and lists of integers.  Each function is a click type."""

from __future__ import annotations

import math
import re
from typing import Any

import click

from langford.devices import BadDevice, Device
from langford.words import DAY_SECONDS

MINUTE_SECONDS, HOUR_SECONDS = 60.0, 3600.0
UNIT_SECONDS = {"s": 1.0, "m": MINUTE_SECONDS, "h": HOUR_SECONDS, "d": DAY_SECONDS}
NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
FORMS = "MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS, or 90m, 2h, 1d"
"""The forms of a time, besides a bare number of seconds."""
MAX_SECONDS = 315_576_000.0
"""Ten years."""
MAX_INTEGER = 10**9
HOLES = (".", "·", "0")
"""How an empty place of an arrangement is written."""


def duration(text: str) -> float:
    """Seconds from one of the FORMS, or from a bare number of seconds; raises BadParameter."""
    bare, named = re.fullmatch(NUMBER, text, re.ASCII), re.fullmatch(f"({NUMBER})([smhd])", text, re.ASCII)
    of_days = re.fullmatch(r"(\d{1,6})-(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?", text, re.ASCII)
    if bare:
        seconds = float(text)
    elif named:
        seconds = float(named[1]) * UNIT_SECONDS[named[2]]
    elif of_days:
        days, hours, minutes, rest = (float(part or 0) for part in of_days.groups())
        seconds = days * DAY_SECONDS + hours * HOUR_SECONDS + minutes * MINUTE_SECONDS + rest
    elif re.fullmatch(rf"(\d{{1,9}}:){{1,2}}{NUMBER}", text, re.ASCII):
        seconds = 0.0
        for part in text.split(":"):
            seconds = 60 * seconds + float(part)
    else:
        raise click.BadParameter(f"write a time that is not negative: seconds, {FORMS}")
    if seconds > MAX_SECONDS:
        raise click.BadParameter("a time is at most ten years")
    return seconds


def task_duration(text: str) -> float:
    """The time that a task may take: a duration of more than 0; raises BadParameter."""
    seconds = duration(text)
    if not seconds:
        raise click.BadParameter("a task takes more than 0 seconds: give a longer time")
    return seconds


def job_duration(text: str) -> float:
    """The same without bare numbers: minutes for sbatch, seconds for other options.  Raises BadParameter."""
    if re.fullmatch(NUMBER, text, re.ASCII):
        raise click.BadParameter(f"write {text}m for minutes, or {text}s for seconds")
    return duration(text)


def device(text: str) -> str:
    """The name of a device or of a kind of devices, unchanged; raises BadParameter."""
    try:
        Device.parse(text)
    except BadDevice as error:
        raise click.BadParameter(str(error)) from error
    return text


class FiniteRange(click.FloatRange):
    """Like click's FloatRange, but NaN and the infinities are out of range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number", param, ctx)
        return number


def exact_number(text: str) -> int:
    """A count in exact digits, also in groups of three; raises BadParameter."""
    groups = re.fullmatch(r"\d{1,3}(?:([,. '_\u00a0\u2009\u202f])\d{3})?(?:\1\d{3}){0,132}", text.strip())
    if not groups and not re.fullmatch(r"\d{1,400}", text, re.ASCII):
        raise click.BadParameter("give a number in all its digits, like 2636337861200 or 2,636,337,861,200")
    return int("".join(re.findall(r"[0-9]", text)))


def labels(text: str) -> list[int]:
    """The labels of an arrangement as `langford list` prints it, or with commas; raises BadParameter."""
    found = integers(",".join("0" if part in HOLES else part for part in re.split(r"[,\s]+", text.strip())))
    if min(found) < 0:
        raise click.BadParameter("give one label per place, 0 for an empty one")
    return found


def integers(text: str) -> list[int]:
    """Integers from "1,2,5"; raises BadParameter."""
    try:
        numbers = [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise click.BadParameter("give integers separated by commas, like 1,2,5") from error
    if not numbers or any(abs(number) > MAX_INTEGER for number in numbers):
        raise click.BadParameter(f"give at least one integer, none above {MAX_INTEGER:,}")
    return numbers
