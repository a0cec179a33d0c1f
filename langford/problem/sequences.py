"""The sequences of the OEIS that count problems, and the problem of each index, in words.

``reference.py`` has their published terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

NO_COLOUR = "the row without a colour"


@dataclass(frozen=True)
class Sequence:
    name: str  # its number in the OEIS
    title: str  # what it counts
    words: Callable[[int], str]  # the problem of an index, in words; empty: NO_COLOUR
    images: bool  # whether its terms count mirror images separately
    first: int = 1  # the first index


@dataclass(frozen=True)
class Term:
    """The term of a sequence at an index.

    >>> print(Term(OEIS["A176127"], 8), "counts", Term(OEIS["A176127"], 8).words)
    A176127(8) counts langford 8
    """

    sequence: Sequence
    index: int

    def __str__(self) -> str:
        return f"{self.sequence.name}({self.index})"

    @property
    def words(self) -> str:
        return self.sequence.words(self.index)

    def value(self, published: int, arrangements: int) -> int:
        """Of a count of its problem, up to the symmetries of the row and of all arrangements."""
        return arrangements if self.sequence.images else published

    def document(self, value: int) -> dict[str, object]:
        return {"sequence": self.sequence.name, "index": self.index, "term": str(value)}


def _of(family: str, more: str = "") -> Callable[[int], str]:
    return lambda n: f"{family} {n}{more}" if n else ""


OEIS: Mapping[str, Sequence] = {
    each.name: each
    for each in (
        Sequence("A014552", "Langford rows, up to reversal", _of("langford"), False),
        Sequence("A176127", "Langford rows", _of("langford"), True),
        Sequence("A059106", "Skolem sequences, up to reversal", _of("skolem"), False),
        Sequence("A004075", "Skolem sequences", _of("skolem"), True),
        Sequence("A004076", "hooked Skolem sequences", _of("hooked-skolem"), True),
        Sequence("A004077", "Skolem sequences with one hole anywhere", _of("skolem", " holes 1"), True),
        Sequence("A059107", "Langford rows of triples, up to reversal", _of("langford", " copies 3"), False),
        Sequence("A059108", "Skolem sequences of triples, up to reversal", _of("skolem", " copies 3"), False, 0),
        Sequence("A285527", "Skolem sequences of triples", _of("skolem", " copies 3"), True, 0),
        Sequence("A284757", "Skolem sequences of quadruples, up to reversal", _of("skolem", " copies 4"), False),
        Sequence(
            "A002047",
            "Langford rows of defect d = i + 1 with as few differences as there can be, 2d − 1",
            lambda index: f"langford {2 * index + 1} defect {index + 1}" if index else "skolem 1",
            True,
            0,
        ),
        Sequence("A006204", "starters of cyclic groups of order 2i + 1", _of("starter"), True),
        Sequence(
            "A390360",
            "cyclic Skolem sequences of order 4i + 1, up to rotation and reflection",
            lambda index: f"cyclic-skolem {4 * index + 1}",
            False,
            0,
        ),
        Sequence(
            "A392247",
            "cyclic Skolem sequences of order 4i, up to rotation and reflection",
            lambda index: f"cyclic-skolem {4 * index}",
            False,
        ),
    )
}
"""By name."""
