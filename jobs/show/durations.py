"""Durations in words."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A duration in seconds as a short text, like "3.5 hours"."""
    for size, unit in ((31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:,.{0 if seconds > 20 * size else 1}f} {unit}"
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"
