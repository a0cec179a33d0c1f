"""Types of options that click does not have: durations and lists of integers.  Each function is a click type."""

from __future__ import annotations

import click


def duration(text: str) -> float:
    """Seconds from "90", "1:30" or "0:01:30"; raises BadParameter."""
    seconds = 0.0
    try:
        for part in text.split(":"):
            seconds = 60 * seconds + float(part)
    except ValueError as error:
        raise click.BadParameter("write seconds, MM:SS or HH:MM:SS") from error
    return seconds


def integers(text: str) -> list[int]:
    """Integers from "1,2,5"; raises BadParameter."""
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError as error:
        raise click.BadParameter("give integers separated by commas, like 1,2,5") from error
