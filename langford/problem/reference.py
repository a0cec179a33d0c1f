"""Published counts, looked up by the pattern of a problem; no counting code reads this.

So near-Skolem rows without 1, or differences 2..12 given as such, have the published count of L(2,11).

The terms were looked up in November 2026 in the files of the OEIS (github.com/oeis/oeisdata), as of 2025; a(12) and
a(13) of A002047 are of 7 December 2025.  L(4,24), found by T. Saito and S. Hayasaka and by R. Noble, is from J. E.
Miller's pages: R. Molinari confirms it there in 2018, dialectrix.com/langford/RoryMolinari.html.
A390360 and A392247, by P. Sampson, are of 19 and 14 August 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from langford.problem.pattern import Pattern
from langford.problem.problem import Problem
from langford.problem.sequences import OEIS


@dataclass(frozen=True)
class Published:
    """A published sequence of counts."""

    name: str  # its number in the OEIS, or its source
    # first, last: the smallest and the largest index of a problem with a published term
    first: int
    last: int
    problem: Callable[[int], Problem]  # whose count is the term of an index
    terms: Mapping[int, int]
    mirror_images: bool  # whether they count separately
    # Other problems whose counts add up to it; none: there are no others
    parts: Callable[[int], Sequence[Problem]] = lambda index: ()

    def term(self, index: int) -> int:
        return self.terms.get(index, 0)

    def arrangements(self, index: int) -> int:
        """The number of all arrangements that the term states."""
        if self.mirror_images:
            return self.term(index)
        return self.problem(index).arrangements(self.term(index))


@dataclass(frozen=True)
class Known:
    """What is published of the count of some rows; mirror images count separately.

    ``sources``: the sequences that state it, each with the index of its term.
    """

    arrangements: int
    sources: tuple[tuple[Published, int], ...]

    def source(self, number: int, mirror_images: bool, n: int | None = None) -> str:
        """The sequence whose term is a number, or else half or twice of it, in words.

        Args:
            number: the count.
            mirror_images: whether it counts them separately.
            n: the index is named if it is another one.

        >>> known = known_of([Problem.langford(7)])
        >>> known.source(26, False, 7), known.source(52, True, 7)
        ('A014552', 'A176127')
        >>> known_of([Problem.langford(9, defect=5)]).source(122, False)
        'half of A002047(4)'
        """
        sources = sorted(self.sources, key=lambda source: source[0].mirror_images != mirror_images)
        for words, doubled, halved in (("", 1, 1), ("half of ", 2, 1), ("twice ", 1, 2)):
            for sequence, index in sources:
                if number * doubled == sequence.term(index) * halved:
                    return f"{words}{sequence.name}{'' if index == n else f'({index})'}"
        for sequence, index in sources:
            if number == sequence.arrangements(index):
                return f"{number // sequence.term(index)} times {sequence.name}({index})"
        raise ValueError(f"{number} is not the published count")


def _of(sequence: str) -> Callable[[int], Problem]:
    """The problem of an index of a sequence, by its words."""
    return lambda index: Problem.parse(OEIS[sequence].words(index))


def _every_hole(n: int) -> Sequence[Problem]:
    return tuple(Problem.named("extended-skolem", n, hole=hole) for hole in range(1, 2 * n + 2))


def _listed(*terms: int, first: int = 1) -> Mapping[int, int]:
    return dict(enumerate(terms, first))


_LANGFORD = {
    3: 1, 4: 1, 7: 26, 8: 150, 11: 17792, 12: 108144, 15: 39809640, 16: 326721800, 19: 256814891280,
    20: 2636337861200, 23: 3799455942515488, 24: 46845158056515936, 27: 111683611098764903232,
    28: 1607383260609382393152,
}  # fmt: skip
_SKOLEM = {
    1: 1, 4: 6, 5: 10, 8: 504, 9: 2656, 12: 455936, 13: 3040560, 16: 1400156768, 17: 12248982496,
    20: 11435578798976, 21: 123564928167168, 24: 204776117691241344, 25: 2634563519776965376,
    28: 7064747252076429464064, 29: 105435171495207196553472,
}  # fmt: skip
_SKOLEM_TRIPLES = {1: 1, 9: 18, 10: 40, 11: 66, 18: 400686, 19: 1738012, 20: 8495580}

SEQUENCES = {
    each.name: each
    for each in (
        Published("A014552", 1, 30, _of("A014552"), _LANGFORD, False),
        Published("A176127", 1, 30, _of("A176127"), {n: 2 * term for n, term in _LANGFORD.items()}, True),
        Published(
            "A059106", 1, 31, _of("A059106"), {n: (term + 1) // 2 for n, term in _SKOLEM.items()}, False
        ),
        Published("A004075", 1, 31, _of("A004075"), _SKOLEM, True),
        Published(
            "A004076", 1, 22, _of("A004076"),
            {
                2: 1, 3: 2, 6: 38, 7: 124, 10: 12808, 11: 72648, 14: 21878816, 15: 168870048, 18: 113071735648,
                19: 1105816948032, 22: 1395701792232832,
            },
            True,
        ),
        Published(
            "A004077", 1, 22, _of("A004077"),
            _listed(
                2, 2, 6, 22, 48, 160, 636, 3556, 19488, 95872, 594320, 4459888, 32131648, 227072544, 1875064880,
                17851780784, 165367171136, 1506506453568, 15540217445728, 179708231523680, 2034547787823488,
                22716589497430656,
            ),
            True,
            _every_hole,
        ),
        Published(
            "A059107", 1, 25, _of("A059107"), {9: 3, 10: 5, 17: 13440, 18: 54947, 19: 249280}, False
        ),
        Published(
            "A059108", 1, 26, _of("A059108"),
            {n: (term + 1) // 2 for n, term in _SKOLEM_TRIPLES.items()}, False,
        ),
        Published("A285527", 1, 26, _of("A285527"), _SKOLEM_TRIPLES, True),
        Published("A284757", 1, 31, _of("A284757"), {1: 1, 24: 10, 25: 55}, False),
        Published(
            "A002047", 0, 13, _of("A002047"),
            _listed(
                1, 2, 6, 28, 244, 2544, 35600, 659632, 15106128, 425802176, 14409526080, 577386122880,
                27029459961728, 1462450710036480, first=0,
            ),
            True,
        ),
        Published(
            "A006204", 1, 17, _of("A006204"),
            _listed(
                1, 1, 3, 9, 25, 133, 631, 3857, 25905, 188181, 1515283, 13376125, 128102625, 1317606101,
                14534145947, 170922533545, 2138089212789,
            ),
            True,
        ),
        Published(
            "A390360", 0, 4, _of("A390360"), _listed(1, 2, 1200, 4009024, 51487228672, first=0), False
        ),
        Published("A392247", 1, 4, _of("A392247"), _listed(1, 192, 456960, 4377344000), False),
        Published("J. E. Miller", 24, 24, lambda n: Problem.langford(n, 4), {24: 3}, False),
    )
}  # fmt: skip
"""By name; of two that state a count, the one that is cited comes first."""


def known_of(problems: Iterable[Problem]) -> Known | None:
    """What is published of the count of some problems together; None: nothing.  Those that cannot exist are 0."""
    return _by_patterns().get(_key(problems))


def published(problem: Problem) -> int | None:
    """The published count of a problem, as the literature counts it; 0 where it has an obstruction, else None."""
    if problem.obstruction:
        return 0
    known = known_of([problem])
    return None if known is None else problem.published(known.arrangements)


def cited(problem: Problem) -> str | None:
    """Where the published count of a problem is from; None: nothing is published, or it is 0 by a proof."""
    known = known_of([problem])
    if known is None:
        return None
    return known.source(problem.published(known.arrangements), not problem.up_to, problem.order)


def _key(problems: Iterable[Problem]) -> tuple[Pattern, ...]:
    return tuple(sorted(problem.pattern for problem in problems if not problem.obstruction))


@cache
def _by_patterns() -> Mapping[tuple[Pattern, ...], Known]:
    found: dict[tuple[Pattern, ...], Known] = {}
    for sequence in SEQUENCES.values():
        for index in range(sequence.first, sequence.last + 1):
            for key in {_key([sequence.problem(index)]), _key(sequence.parts(index))} - {()}:
                before = found[key].sources if key in found else ()
                found[key] = Known(sequence.arrangements(index), (*before, (sequence, index)))
    return found
