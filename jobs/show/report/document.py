"""The parts of a report, in the order in which they are read; the page is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_ROWS = 24
"""The maximum number of rows of a table; one more row sums up the rest."""


@dataclass(frozen=True)
class Paragraph:
    """Some sentences; ``source``: (words, address) of a statement of others."""

    text: str
    source: tuple[str, str] | None = None


@dataclass(frozen=True)
class Answers:
    """Short questions or names, each with its answer."""

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Points:
    """Sentences, each a point of a list."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Grid:
    """A table."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0  # how many of the last columns are numbers, written to the right


def capped(rows: list[list[str]]) -> list[list[str]]:
    """The first rows of a table, and how many more there are."""
    if len(rows) <= MAX_ROWS:
        return rows
    rest = [f"and {len(rows) - MAX_ROWS:,} more", *([""] * (len(rows[0]) - 1))]
    return [*rows[:MAX_ROWS], rest]


@dataclass(frozen=True)
class Picture:
    """``caption`` also tells those who cannot see the figure what it shows."""

    name: str
    caption: str


@dataclass(frozen=True)
class Commands:
    """Lines for a shell."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Remark:
    """A sentence that stands out; ``bad``: it warns."""

    text: str
    bad: bool


Block = Paragraph | Answers | Points | Grid | Picture | Commands | Remark


@dataclass(frozen=True)
class Section:
    """A titled part of a report."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        return self.title.lower().replace(" ", "-")


@dataclass(frozen=True)
class Document:
    """``made``: when, where from and by what it was made."""

    title: str
    subtitle: str
    answer: str
    sections: Sequence[Section]
    made: str
