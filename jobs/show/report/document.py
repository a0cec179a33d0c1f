"""The parts of a report, in the order in which they are read; pages of HTML and PDF are made of the same parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Paragraph:
    """Some sentences.

    Attributes:
        text: the sentences.
        source: where a statement of others stands: (words, address); None when they are all of this report.
    """

    text: str
    source: tuple[str, str] | None = None


@dataclass(frozen=True)
class Facts:
    """Names with what they stand for.

    Attributes:
        rows: (name, value).
    """

    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Points:
    """Sentences, each a point of a list."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: what it shows.
        head: of the columns; the first column names the row.
        rows: their cells.
        numbers: how many of the last columns are numbers, written to the right.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 0


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes:
        name: of the figure, see :mod:`jobs.show.report.formats.figures`.
        caption: what it shows, and what is seen in it: also for those who cannot see it.
    """

    name: str
    caption: str


@dataclass(frozen=True)
class Commands:
    """What to type."""

    lines: Sequence[str]


@dataclass(frozen=True)
class Remark:
    """A sentence that must not be overlooked.

    Attributes:
        text: the sentence.
        bad: whether something is wrong.
    """

    text: str
    bad: bool


Block = Paragraph | Facts | Points | Table | Picture | Commands | Remark


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes:
        title: of the section.
        blocks: what it consists of.
    """

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """The name under which links find it."""
        return self.title.lower().replace(" ", "-")


@dataclass(frozen=True)
class Document:
    """A report.

    Attributes:
        title: what was counted.
        subtitle: of which campaign.
        answer: the count, or how far it is.
        sections: its parts.
        made: when, where from and by what it was made.
    """

    title: str
    subtitle: str
    answer: str
    sections: Sequence[Section]
    made: str
