"""The parts of a report, in the order in which they are read; pages of HTML and PDF are made of the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Paragraph:
    """Some sentences; ``source``: (words, address) of a statement of others."""

    text: str
    source: tuple[str, str] | None = None


@dataclass(frozen=True)
class Answers:
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Points:
    """Sentences, each a point of a list."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Grid:
    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0  # how many of the last columns are numbers, written to the right


@dataclass(frozen=True)
class Picture:
    """``caption`` also tells those who cannot see the figure what it shows."""

    name: str
    caption: str


@dataclass(frozen=True)
class Commands:
    lines: Sequence[str]


@dataclass(frozen=True)
class Remark:
    text: str
    bad: bool


Block = Paragraph | Answers | Points | Grid | Picture | Commands | Remark


@dataclass(frozen=True)
class Section:
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
