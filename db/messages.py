"""The forms of messages and files that strangers may have written: each is declared once, for reading and writing.

A form is a subclass of :class:`Message` whose fields have types and bounds.  :func:`decoded` and :func:`converted`
read it, and :func:`document` writes it.  Missing fields, values of another type and values out of bounds are
refused in one line that names the field.  Unknown fields are ignored, since a later version may say more.

The bounds and types that several forms share are here.  Integers may have any size in JSON; the sums of tasks are
decimal text (:data:`Digits`), which every reader of JSON keeps exactly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from threading import Lock
from typing import Annotated, Any, ClassVar, Protocol, Self, TypeVar

import msgspec
from msgspec import Meta, Struct

from langford.devices import KINDS
from langford.errors import LangfordError
from langford.problem import Problem
from langford.result import MAX_NUMBER
from langford.words import LATEST_SECONDS

MAX_TEXT = 4_000
MAX_REASON, MAX_FIELD = 200, 100
"""How many characters of an error and of the place of a field a message quotes."""
MIN_SECONDS, MAX_SECONDS = 1e-9, 1e10
"""A nanosecond and three centuries.  Speeds are quotients by times, which have to stay finite."""
MAX_PLACES = 256
"""Places of a problem; twice as many as any method takes."""
MAX_PROBLEM = 1_000
LARGE_NUMBER = re.compile(r"[0-9]{5}|[^ -~]")
"""What the name of a problem does not contain: numbers over 9999, and characters other than ASCII."""
M = TypeVar("M")

# -- types of fields --------------------------------------------------------------------------

STORABLE = "\\A[\1-\ud7ff\ue000-\U0010ffff]*\\Z"
"""Text that every database accepts: JSON can also spell NUL and halves of surrogate pairs.

In these words a body of 4 MiB takes a third of the time that the negated set takes, in which no other thread runs.
"""
DECIMAL, NATURAL = r"\A-?[0-9]+\Z", r"\A[0-9]+\Z"
UUID = r"\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"
ASCII = r"\A[\x00-\x7f]*\Z"
ALPHANUMERIC = r"\A[0-9A-Za-z]+\Z"
PROCESS = r"\A[0-9]{1,9}(@[0-9]{1,20}@[0-9a-f-]{1,36})?\Z"
DIGEST = r"\A[0-9a-f]{64}\Z"
DEVICE_KIND = rf"\A({'|'.join(KINDS)})\Z"
FORMS = {
    STORABLE: "text without NUL and unpaired surrogates",
    DECIMAL: "an integer as decimal text",
    NATURAL: "a natural number as decimal text",
    UUID: "a UUID",
    ASCII: "text in ASCII",
    ALPHANUMERIC: "letters and digits",
    PROCESS: "a process as number@start@boot",
    DIGEST: "64 hexadecimal digits",
    DEVICE_KIND: f"a device of kind {' or '.join(KINDS)}",
}
"""What an error message calls the pattern of a text."""
KINDS_OF_VALUES = {
    "int": "an integer",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
}
"""What an error message calls a type."""

Count = Annotated[int, Meta(ge=0, le=2**62)]
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Real = Annotated[float, Meta(ge=0, lt=1e30)]
Moment = Annotated[float, Meta(gt=-1e30, lt=1e30)]
"""Seconds since 1970 by a clock that may be wrong: before 1970, too."""
Seconds = Annotated[float, Meta(ge=0, le=MAX_SECONDS)]
"""How long a computation took, see :func:`measurable`."""
Share = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str, Meta(max_length=MAX_TEXT, pattern=STORABLE)]
Digits = Annotated[str, Meta(max_length=MAX_NUMBER, pattern=DECIMAL)]
Natural = Annotated[str, Meta(max_length=MAX_NUMBER, pattern=NATURAL)]
Uuid = Annotated[str, Meta(pattern=UUID)]
"""A UUID, which may become the name of a folder."""
DeviceKind = Annotated[str, Meta(pattern=DEVICE_KIND)]
ProblemName = Annotated[str, Meta(max_length=MAX_PROBLEM, pattern=STORABLE)]
"""The name of a problem, see :func:`problem`."""


class Spelled(Protocol):
    """A type of fields that JSON spells as text."""

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Raises ValueError."""
        ...

    def to_text(self) -> str: ...


class Printable(str):
    """Text without control characters."""

    LONGEST: ClassVar[int] = MAX_TEXT

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Raises ValueError unless it is short and printable."""
        if len(text) > cls.LONGEST or not text.isprintable():
            raise ValueError(f"expected at most {cls.LONGEST} printable characters")
        return cls(text)

    def to_text(self) -> str:
        return str(self)


class Time(float):
    """A time in seconds since 1970; in JSON a text in UTC, to the second."""

    @classmethod
    def of_text(cls, text: str) -> Self:
        try:
            return cls(datetime.fromisoformat(text).timestamp())
        except (ValueError, OverflowError) as error:
            raise ValueError(f"expected a time, got {text!r:.60}") from error

    def to_text(self) -> str:
        return iso(self)


def iso(at: float, milliseconds: bool = False) -> str:
    """A time in seconds since 1970 as text in UTC; ``milliseconds``: as the views have it.

    >>> iso(0.0), iso(1_700_000_000.25, milliseconds=True)
    ('1970-01-01T00:00:00Z', '2023-11-14T22:13:20.250Z')
    """
    there = datetime.fromtimestamp(min(max(at, 0.0), LATEST_SECONDS), UTC).replace(tzinfo=None)
    return f"{there.isoformat(timespec='milliseconds' if milliseconds else 'seconds')}Z"


# -- messages ---------------------------------------------------------------------------------


class BadMessage(LangfordError):
    """A message or a file has an unknown field, lacks one, or has one of another type or out of bounds."""


class Message(Struct, frozen=True, kw_only=True):
    """A form of JSON objects."""


# -- reading and writing ----------------------------------------------------------------------


_LOOKING = Lock()
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def _decoder(kind: type[M]) -> msgspec.json.Decoder[M]:
    # One thread looks at a new type: until msgspec knows its fields, a thread that reads it crashes the process.
    with _LOOKING:
        if kind not in _decoders:
            _decoders[kind] = msgspec.json.Decoder(kind, dec_hook=_of_text)
        return _decoders[kind]


def decoded(text: bytes, kind: type[M]) -> M:
    """Raises BadMessage.  Threads may read at once."""
    try:
        return _decoder(kind).decode(text)
    except msgspec.ValidationError as error:
        raise BadMessage(in_words(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"not JSON: {in_words(error)}") from error


def converted(value: Any, kind: type[M]) -> M:
    """``value``: JSON as Python's objects; raises BadMessage.  Threads may read at once."""
    _decoder(kind)
    try:
        return msgspec.convert(value, kind, dec_hook=_of_text)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadMessage(in_words(error)) from error


def document(message: Struct) -> dict[str, Any]:
    """Its fields in the order in which they are declared."""
    fields = msgspec.to_builtins(message, enc_hook=_to_text)
    assert isinstance(fields, dict)
    return fields


def encoded(message: Struct | Sequence[Struct]) -> bytes:
    return msgspec.json.encode(message, enc_hook=_to_text)


def in_words(error: Exception) -> str:
    """Why a message was refused, in one line: the field comes first, where the error names one.

    >>> in_words(msgspec.ValidationError("Expected `int` <= 4 - at `$.tasks[0]`"))
    'tasks[0]: expected an integer <= 4'
    """
    # The name of an unknown field is a stranger's: it may contain anything, also what separates the path.
    said = "".join(letter if letter.isprintable() else "?" for letter in str(error))
    reason, _, path = said.partition(" - at `$")
    for pattern, form in FORMS.items():
        reason = reason.replace(f"`str` matching regex {pattern!r}", form)
    reason = reason.replace(" | null`", "` or null")
    for kind, name in KINDS_OF_VALUES.items():
        reason = reason.replace(f"`{kind}`", name)
    reason = reason.replace("`", "")
    if not reason.startswith("JSON"):
        reason = f"{reason[:1].lower()}{reason[1:]}"
    reason, field = reason[:MAX_REASON], path.rstrip("`").removeprefix(".")[:MAX_FIELD]
    return f"{field}: {reason}" if field else reason


def _of_text(kind: type[Spelled], value: Any) -> Spelled:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise ValueError("expected a short text")
    return kind.of_text(value)


def _to_text(value: Spelled) -> str:
    return value.to_text()


# -- what bounds alone do not say -------------------------------------------------------------


def measurable(seconds: float) -> float:
    """A time that a computation took: 0 if it is less than a nanosecond."""
    return seconds if seconds >= MIN_SECONDS else 0.0


def problem(name: str) -> Problem:
    """A problem of a size that a method could take, from its name; raises BadMessage or BadProblem.

    No work is done for a large one.
    """
    if LARGE_NUMBER.search(name):
        raise BadMessage(f"expected the name of a problem with numbers below 10,000, got {name!r:.60}")
    parsed = Problem.parse(name)
    if parsed.places > MAX_PLACES:
        raise BadMessage(f"{name:.60} has {parsed.places} places: expected at most {MAX_PLACES}")
    if parsed.name != name:
        raise BadMessage(f"expected the name {parsed.name:.60}, got {name:.60}")
    return parsed
