"""The measured speeds of the methods: ``speeds.toml``, which is read when the first figure is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Annotated

from msgspec import Meta, Struct, toml

from langford.errors import LangfordError

FILE = Path(__file__).with_name("speeds.toml")
_READING = Lock()
Number = Annotated[int, Meta(gt=0)]
Factor = Annotated[float, Meta(gt=0)]
Text = Annotated[str, Meta(min_length=1)]


class BadSpeeds(LangfordError):
    """A figure that is needed was not measured."""


class Growth(Struct, frozen=True, forbid_unknown_fields=True):
    """How the time of a count grows with n, and where to begin a measurement."""

    instant: Number  # up to this n a count takes less time than a measurement would
    probe: Number  # the largest n whose small tasks take a core a fraction of a second
    growth: Factor | None = None  # factor in the time from n to n + 1; None where the work is known in points
    # Work of a task that shows the speed; None: that of a task of half the largest depth
    points: Factor | None = None
    # By kind of device, names of problems and the seconds that one device takes to count them
    counted: Mapping[str, Sequence[tuple[Text, Factor]]] = {}


class Speeds(Struct, frozen=True, forbid_unknown_fields=True):
    """The measured figures of a method."""

    pairs: Growth | None = None  # for forecasts of problems with two copies of each colour; None: as others
    # For forecasts of problems with another number of copies; None: the method counts pairs only
    others: Growth | None = None
    # By kind of device, the n from which the method is faster than those before it in METHODS; a kind that is
    # missing: it never is
    fastest_from: Mapping[str, Number] = {}
    # The same for rows without a mirror, such as hooked ones, and those with a difference several times, where that
    # is another n
    fastest_otherwise: Mapping[str, Number] = {}
    # Of each figure, the command that measures it and the hardware that it is from
    sources: Mapping[str, tuple[Text, Text]] = {}

    def first(self, device_kind: str, usual: bool) -> int | None:
        """The number of colours from which the method is faster; None: it never is.

        ``usual``: whether the row has a mirror and each difference once.
        """
        first = self.fastest_from.get(device_kind)
        return first if usual else self.fastest_otherwise.get(device_kind, first)

    def forecast(self, copies: int) -> Growth:
        """How the time grows for this number of copies; raises BadSpeeds when it was not measured."""
        chosen = self.pairs if copies == 2 and self.pairs is not None else self.others
        if chosen is None:
            raise BadSpeeds(f"no times for {copies} copies of each colour: add some to {FILE.name}")
        return chosen


def speeds_of(method: str) -> Speeds:
    """The figures of a method, by its name; raises BadSpeeds."""
    if method not in tables():
        raise BadSpeeds(f"{FILE.name} has no table [{method}]: add one, with what its commands measure")
    return tables()[method]


@cache
def tables() -> dict[str, Speeds]:
    """Those of all methods, by name."""
    # Two threads that look at the same new types crash the process.
    with _READING:
        return toml.decode(FILE.read_text(), type=dict[str, Speeds])
