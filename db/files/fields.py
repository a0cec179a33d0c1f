"""Checks of documents that strangers wrote: each function returns the value, or raises BadMessage.

Messages of workers (:mod:`jobs.farm.api.wire`) and files of results (:mod:`db.files.exports`) are read with the
same checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields as fields_of
from typing import Any, TypeVar

from db.files import messages
from db.files.messages import (
    LONGEST_HOST,
    LONGEST_JOB,
    LONGEST_MODEL,
    LONGEST_PROBLEM,
    LONGEST_SECONDS,
    LONGEST_TEXT,
    SHORTEST_SECONDS,
    BadMessage,
)
from db.records import Equipment
from langford.devices import KINDS
from langford.problem import Problem

__all__ = [
    "LONGEST_HOST",
    "LONGEST_JOB",
    "LONGEST_MODEL",
    "LONGEST_SECONDS",
    "LONGEST_TEXT",
    "SHORTEST_SECONDS",
    "BadMessage",
]

LARGEST_NUMBER = 2**31 - 1
EQUIPMENT = tuple(field.name for field in fields_of(Equipment))
T = TypeVar("T")
NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""Characters that JSON can spell and that databases refuse: NUL and halves of surrogate pairs."""


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
    return messages.problem(text(value, LONGEST_PROBLEM))
