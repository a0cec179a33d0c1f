"""The measured speeds of the methods: ``speeds.toml``, which is read when the first figure is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from langford.devices import KINDS
from langford.errors import LangfordError
from langford.loading import load

FILE = Path(__file__).with_name("speeds.toml")
SOURCE = ("command", "hardware")
"""What each table of figures names besides: the command that measures them, and where it ran."""
Table = TypeVar("Table")


class BadSpeeds(LangfordError):
    """``speeds.toml`` has a table that does not have the form of the others."""


@dataclass(frozen=True)
class Forecast:
    """The start of a forecast of the time of a count.

    Attributes:
        instant: up to this n a count takes less time than a measurement would.
        probe: the largest n whose small tasks take a core a fraction of a second.
        growth: factor in the time from n to n + 1; None where the work is known in points.
        points: work of a task that shows the speed; None: that of a task of half the largest depth.
        widening: a point takes (n / m)^widening as long with n colours as with m.
    """

    instant: int
    probe: int
    growth: float | None = None
    points: float | None = None
    widening: float = 2.0


@dataclass(frozen=True)
class Speeds:
    """The measured figures of a method.

    Attributes:
        pairs: for forecasts of problems with two copies of each colour; None: as ``others``.
        others: for forecasts of problems with another number of copies; None: the method counts pairs only.
        probe_depth: a depth whose tasks take seconds at most, or a minute for the largest problems; None when only
            the suggested depth of each problem is known to be deep enough.
        fastest_from: by kind of device, the n from which the method is faster than those before it in METHODS; a
            kind that is missing: it never is.
        fastest_unmirrored: the same for rows without a mirror, such as hooked ones, where that is another n.
    """

    pairs: Forecast | None = None
    others: Forecast | None = None
    probe_depth: int | None = None
    fastest_from: Mapping[str, int] = field(default_factory=dict)
    fastest_unmirrored: Mapping[str, int] = field(default_factory=dict)

    def first(self, device_kind: str, mirrored: bool) -> int | None:
        """The n from which the method is faster, for rows with a mirror or for others; None: it never is."""
        usual = self.fastest_from.get(device_kind)
        return usual if mirrored else self.fastest_unmirrored.get(device_kind, usual)

    def forecast(self, copies: int) -> Forecast:
        """The start of a forecast for this number of copies; raises BadSpeeds when there is none."""
        chosen = self.pairs if copies == 2 and self.pairs is not None else self.others
        if chosen is None:
            raise BadSpeeds(f"no forecast for {copies} copies of each colour: add one to {FILE.name}")
        return chosen


def speeds_of(method: str) -> Speeds:
    """The figures of a method, by its name; raises BadSpeeds."""
    if method not in measured():
        raise BadSpeeds(f"{FILE.name} has no table [{method}]: add one, with what its commands measure")
    return measured()[method]


@cache
def measured() -> dict[str, Speeds]:
    """The figures of all methods, by name; raises BadSpeeds."""
    return read(FILE.read_text())


def read(text: str) -> dict[str, Speeds]:
    """The figures of a text in the form of ``speeds.toml``; raises BadSpeeds, or ValueError when it is no TOML."""
    return {name: _speeds(name, table) for name, table in load("tomllib:loads")(text).items()}


def _speeds(name: str, table: Any) -> Speeds:
    chosen = {**_tables(name, table, "pairs", "others", "probe_depth", "fastest_from")}
    for copies in chosen.keys() & {"pairs", "others"}:
        chosen[copies] = _figures(Forecast, f"{name}.{copies}", chosen[copies])
    if "probe_depth" in chosen:
        chosen["probe_depth"] = _figures(_Depth, f"{name}.probe_depth", chosen["probe_depth"]).depth
    kinds = _tables(f"{name}.fastest_from", chosen.get("fastest_from", {}), *KINDS)
    firsts = {kind: _figures(_First, f"{name}.fastest_from.{kind}", each) for kind, each in kinds.items()}
    unmirrored = {kind: first.unmirrored for kind, first in firsts.items() if first.unmirrored is not None}
    return Speeds(
        **{
            **chosen,
            "fastest_from": {kind: first.n for kind, first in firsts.items()},
            "fastest_unmirrored": unmirrored,
        }
    )


@dataclass(frozen=True)
class _Depth:
    depth: int


@dataclass(frozen=True)
class _First:
    n: int
    unmirrored: int | None = None


def _tables(where: str, table: Any, *names: str) -> dict[str, Any]:
    """A table whose keys are among these; raises BadSpeeds."""
    unknown = sorted(set(_table(where, table)) - set(names))
    if unknown:
        raise BadSpeeds(f"{FILE.name}, [{where}]: unknown key {unknown[0]!r}; it takes {', '.join(names)}")
    return {**table}


def _figures(kind: type[Table], where: str, table: Any) -> Table:
    """A table of figures and their source; raises BadSpeeds."""
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    figures = _tables(where, table, *known, *SOURCE)
    needed = [*(name for name, each in known.items() if each.default is MISSING), *SOURCE]
    for name in needed:
        if name not in figures:
            raise BadSpeeds(f"{FILE.name}, [{where}]: {name!r} is missing; add it")
    for name, value in figures.items():
        fits = isinstance(value, str) and value if name in SOURCE else type(value) in (int, float) and value > 0
        if not fits:
            raise BadSpeeds(f"{FILE.name}, [{where}]: {name!r} is {value!r}; write a number above 0, or a text")
    return kind(**{name: value for name, value in figures.items() if name not in SOURCE})


def _table(where: str, table: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise BadSpeeds(f"{FILE.name}: {where} is {table!r}; write a table")
    return table
