"""Counts, remarks and durations as text for a terminal and as JSON."""

from __future__ import annotations

import json
import sys

from langford.cli.terminal import plain
from langford.methods import METHODS, Count
from langford.problem import Problem
from langford.provenance import kernel_hash
from langford.reference import published


def print_json(document: object) -> None:
    """Print one JSON document on standard output."""
    print(json.dumps(document, indent=2))


def say(message: str) -> None:
    """Print a remark on standard error."""
    print(plain(message), file=sys.stderr)


def duration(seconds: float) -> str:
    """A duration in seconds as a short text, like "3.5 hours"."""
    for size, unit in ((31_557_600.0, "years"), (86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:,.{0 if seconds > 20 * size else 1}f} {unit}"
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"


def count_document(problem: Problem, method: str, count: Count, seconds: float) -> dict[str, object]:
    """A count as an object of JSON; the numbers that can exceed 2^53 are decimal text."""
    published_value = published(problem)
    return {
        "problem": problem.name,
        "method": method,
        "count": str(count.published),
        "arrangements": str(count.arrangements),
        "tasks": count.tasks,
        METHODS[method].unit: str(count.evaluated),
        "seconds": round(seconds, 3),
        "checks": list(count.checks),
        "published": None if published_value is None else str(published_value),
        "kernels": kernel_hash(),
    }


def print_count(problem: Problem, method: str, count: Count, seconds: float, used: str) -> None:
    """Print a count, how it was found and how it was checked.

    Args:
        problem: what was counted.
        method: name of the method.
        count: the outcome.
        seconds: the time that it took.
        used: text after the time, like "on 2 cores".
    """
    print(f"{problem} = {count.published:,}")
    up_to = " up to reversal" if problem.mirrored else ""
    rate = f", {count.evaluated / seconds:.2g} {METHODS[method].unit}/s" if seconds > 0 else ""
    print(f"  arrangements{up_to}, {problem.n} colours of {problem.copies} on {problem.places} places")
    print(
        f"  found by  {method}: {count.evaluated:,} {METHODS[method].unit} evaluated in "
        f"{duration(seconds)} {used}{rate}"
    )
    for check in count.checks:
        print(f"  checked   {check}")
    published_value = published(problem)
    if problem.obstruction:
        print(f"  agrees    none can exist: {problem.obstruction}")
    elif published_value is not None:
        verdict = "agrees    with" if published_value == count.published else "DIFFERS   from"
        print(f"  {verdict} the published value {published_value:,} ({problem.oeis})")
