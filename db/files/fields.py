"""Checks of documents that strangers wrote: each function returns the value, or raises BadMessage.

Messages of workers (:mod:`jobs.farm.api.wire`) and files of results (:mod:`db.files.exports`) are read with the
same checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields as fields_of
from typing import Any, TypeVar

from db.records import Equipment
from langford.devices import KINDS
from langford.errors import LangfordError
from langford.problem import Problem

LONGEST_TEXT = 4_000
SHORTEST_SECONDS, LONGEST_SECONDS = 1e-9, 1e10
"""A nanosecond and three centuries.  Speeds are quotients by times, which have to stay finite."""
LONGEST_HOST, LONGEST_MODEL, LONGEST_JOB, LARGEST_NUMBER = 255, 200, 40, 2**31 - 1
EQUIPMENT = tuple(field.name for field in fields_of(Equipment))
T = TypeVar("T")
NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""Characters that JSON can spell and that databases refuse: NUL and halves of surrogate pairs."""
LARGEST_ROW = 256
"""Places of a problem; twice as many as any method takes."""
LONGEST_PROBLEM = 1_000
LARGE_NUMBER = re.compile(r"[0-9]{5}|[^ -~]")
"""What the name of a problem does not contain: numbers over 9999, and characters other than ASCII."""


class BadMessage(LangfordError):
    """A message or a file has a field too many, too few, too long or of another type."""


def exactly(document: Any, *names: str, optional: Collection[str] = ()) -> dict[str, Any]:
    """The document, if it has these fields and no others but optional ones; raises BadMessage."""
    if not isinstance(document, dict) or document.keys() - set(optional) != set(names):
        raise BadMessage(f"expected an object with {', '.join(names)}")
    return document


def integer(value: Any, least: int = 0, most: int = 2**62) -> int:
    """An integer within bounds; raises BadMessage."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadMessage(f"expected an integer from {least} to {most}, not {value!r:.60}")
    return value


def real(value: Any) -> float:
    """A number from 0 to below 1e30; raises BadMessage."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e30:
        raise BadMessage(f"expected a number from 0 to below 1e30, not {value!r:.60}")
    return float(value)


def seconds(value: Any) -> float:
    """A time that a computation may have taken, 0 if it is less than a nanosecond; raises BadMessage."""
    taken = real(value)
    if taken > LONGEST_SECONDS:
        raise BadMessage(f"expected a time of at most {LONGEST_SECONDS:g} seconds, not {taken:g}")
    return taken if taken >= SHORTEST_SECONDS else 0.0


def text(value: Any, longest: int = LONGEST_TEXT) -> str:
    """A short text that every database accepts; raises BadMessage."""
    if not isinstance(value, str) or len(value) > longest or NO_TEXT.search(value):
        raise BadMessage(f"expected a text of at most {longest} characters")
    return value


def printable(value: Any, longest: int) -> str:
    """A short text without control characters; raises BadMessage."""
    checked = text(value, longest)
    if not checked.isprintable():
        raise BadMessage("expected printable characters")
    return checked


def or_none(value: Any, check: Callable[[Any], T]) -> T | None:
    """None, or a value that passes a check."""
    return None if value is None else check(value)


def device_kind(value: Any) -> str:
    """The name of a kind of device; raises BadMessage."""
    if not isinstance(value, str) or value not in KINDS:
        raise BadMessage(f"expected a device of kind {' or '.join(KINDS)}")
    return value


def equipment(fields: Mapping[str, Any]) -> Equipment:
    """What a worker computes with, in the fields :data:`EQUIPMENT` of a document; raises BadMessage."""
    return Equipment(
        or_none(fields["cores"], _number),
        or_none(fields["processes"], _number),
        or_none(fields["device_model"], lambda model: printable(model, LONGEST_MODEL)),
        or_none(fields["slurm_job"], lambda job: printable(job, LONGEST_JOB)),
        or_none(fields["slurm_index"], _number),
    )


def _number(value: Any) -> int:
    return integer(value, 0, LARGEST_NUMBER)


def problem(value: Any) -> Problem:
    """A problem of a size that a method could take, from its name; raises BadMessage or BadProblem.

    No work is done for a large one.
    """
    name = text(value, LONGEST_PROBLEM)
    if LARGE_NUMBER.search(name):
        raise BadMessage(f"expected the name of a problem with numbers below 10,000, not {name!r:.60}")
    parsed = Problem.parse(name)
    if parsed.places > LARGEST_ROW:
        raise BadMessage(f"{name:.60} has {parsed.places} places: expected at most {LARGEST_ROW}")
    if parsed.name != name:
        raise BadMessage(f"expected the name {parsed.name:.60}, not {name:.60}")
    return parsed
