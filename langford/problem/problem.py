"""What is counted: the problem, its places, its differences and its symmetries.

A problem asks for the number of ways to fill a row of places with n colours of
``copies`` equal cubes each, such that consecutive cubes of the colour with
difference d are exactly d places apart.  Langford's problem L(s, n) has the
differences 2..n+1 (OEIS A014552 for s = 2), Skolem's 1..n (A059106); the hooked
forms have 2n+1 places and leave place 2n empty (A004076).  The other named variants are
in :mod:`langford.problem.variants`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf

from langford.errors import BadProblem, whole
from langford.problem.bounds import require_circle, require_lengths, require_sizes
from langford.problem.existence import obstruction
from langford.problem.grammar import listed, number, read
from langford.problem.pattern import Pattern
from langford.problem.variants import COPIES, CYCLIC, DIFFERENCES, EMPTY, OVER, SETS, VARIANTS, Parameter
from langford.words import several


@dataclass(frozen=True)
class Problem:
    """An immutable counting problem; build one with the class methods.

    Attributes:
        variant: a name in ``VARIANTS``, or ``DIFFERENCES``.
        differences: distances in places between consecutive cubes, ascending, distinct.
        places: length of the row.
        copies: cubes per colour (s), at least 2.
        empty: places (numbered from 1) that stay empty.
        order: n as the variant counts it, which is one more than the number of colours where a difference is
            missing; 0 without a named variant.
        values: of the variant's parameters, in their order.
        circle: whether the row is a circle: after the last place comes the first one, so that two cubes with
            difference d are also places − d apart.
    """

    variant: str
    differences: tuple[int, ...]
    places: int
    copies: int = 2
    empty: tuple[int, ...] = ()
    order: int = 0
    values: tuple[int, ...] = ()
    circle: bool = False

    # -- construction ---------------------------------------------------------------

    @classmethod
    def named(cls, variant: str, n: int, copies: int = 2, **values: int | None) -> Problem:
        """The problem of a named variant of order n.

        Args:
            variant: a name in ``VARIANTS``.
            n: the order: the number of colours, where no difference is missing.
            copies: cubes per colour.
            values: the parameters of the variant by name, with ``_`` for a dash; None: not given.

        Raises BadProblem.

        >>> problem = Problem.named("hooked-skolem", 3)
        >>> problem.differences, problem.places, problem.empty
        ((1, 2, 3), 7, (6,))
        >>> Problem.named("near-skolem", 5, missing=3).differences
        (1, 2, 4, 5)
        """
        if variant not in VARIANTS:
            raise BadProblem(f"unknown variant {variant!r}: choose one of {', '.join(VARIANTS)}")
        chosen = VARIANTS[variant]
        n, copies = whole("n", n, BadProblem), whole("the number of copies", copies, BadProblem)
        if copies != 2 and chosen.pairs_only:
            raise BadProblem(f"{variant} is defined for pairs only: leave copies out")
        require_sizes(n, copies)
        if n < chosen.least:
            raise BadProblem(f"{variant} starts at n = {chosen.least}, not {n}")
        by_name = chosen.values(n, values)
        differences, empty = tuple(chosen.differences(n, **by_name)), tuple(chosen.empty(n, **by_name))
        if not chosen.has(n, by_name):
            raise BadProblem(f"{variant} leaves two places empty: give the first one as hole")
        places = copies * len(differences) + len(empty)
        require_lengths(differences[-1], places)
        return cls(variant, differences, places, copies, empty, n, tuple(by_name.values()), chosen.circle)

    @classmethod
    def langford(cls, n: int, copies: int = 2, defect: int = 2) -> Problem:
        """L(copies, n): colour k has exactly k other cubes between its neighbours.

        Args:
            n: how many colours.
            copies: cubes of each.
            defect: the least difference: the differences are defect..defect+n−1.
        """
        return cls.named("langford", n, copies, defect=defect)

    @classmethod
    def skolem(cls, n: int, copies: int = 2) -> Problem:
        """Skolem's form: differences 1..n.

        Args:
            n: how many colours.
            copies: cubes of each; for 3 and more this is V(copies, n), A059108.
        """
        return cls.named("skolem", n, copies)

    @classmethod
    def hooked_langford(cls, n: int) -> Problem:
        """Langford differences over 2n+1 places with place 2n empty.

        Args:
            n: how many colours.
        """
        return cls.named("hooked-langford", n)

    @classmethod
    def hooked_skolem(cls, n: int) -> Problem:
        """Skolem differences over 2n+1 places with place 2n empty (A004076).

        Args:
            n: how many colours.
        """
        return cls.named("hooked-skolem", n)

    @classmethod
    def from_differences(
        cls,
        differences: Iterable[int],
        places: int | None = None,
        empty: Iterable[int] = (),
        copies: int = 2,
        circle: bool = False,
    ) -> Problem:
        """Any set of distinct positive differences, on a line or on a circle.

        Args:
            differences: one for each colour, in any order.
            places: of the row; None: just enough for all cubes and the ``empty`` places.
            empty: places without a cube, from 1.
            copies: cubes of each colour.
            circle: whether the last place is a neighbour of the first.

        >>> Problem.from_differences((1, 2, 4, 5, 7), empty=[2]).name
        'differences-1.2.4.5.7-over-11-empty-2'
        >>> Problem.from_differences((1, 2, 4), empty=[1, 4], circle=True).name
        'cyclic-1.2.4-over-8-empty-1.4'

        Raises:
            BadProblem: repeated, non-positive or too large differences, or a row of another length
                than the cubes and the empty places fill; on a circle also differences of more than half of it, and
                other copies than 2.
        """
        chosen = tuple(sorted(whole("a difference", d, BadProblem) for d in differences))
        holes = tuple(sorted(whole("an empty place", hole, BadProblem) for hole in empty))
        copies = whole("the number of copies", copies, BadProblem)
        require_sizes(len(chosen), copies)
        wrong = _first_wrong(chosen)
        if wrong is not None:
            raise BadProblem(f"differences must be distinct and at least 1: correct {wrong}")
        filled = copies * len(chosen)
        require_lengths(chosen[-1], filled + len(holes))
        row = filled + len(holes) if places is None else whole("the number of places", places, BadProblem)
        if row != filled + len(holes):
            raise BadProblem(
                f"{several(len(chosen), 'colour')} of {copies} fill {filled} places; with {len(holes)} empty "
                f"ones the row has {filled + len(holes)} places, not {row}"
            )
        wrong = _first_wrong(holes, row)
        if wrong is not None:
            raise BadProblem(f"empty places must be distinct and within 1..{row}: correct {wrong}")
        if circle:
            require_circle(chosen, row, copies)
        return cls(DIFFERENCES, chosen, row, copies, holes, circle=circle)

    @classmethod
    def parse(cls, text: str) -> Problem:
        """The problem that is named in words, by its :attr:`name`, or by a sequence of the OEIS and an index.

        ``langford families`` and docs/families.md list the words.

        Args:
            text: the words, the name, or the sequence and the index.

        Raises BadProblem, which names the nearest right word for a wrong one.

        >>> print(Problem.parse("near-skolem 12 missing 5"))
        near-Skolem(2,12) without 5
        >>> Problem.parse("17 defect 9") == Problem.langford(17, defect=9) == Problem.parse("langford-17-defect-9")
        True
        >>> print(Problem.parse("skolem 9 copies 3"), Problem.parse("A059106 9"))
        Skolem(3,9) Skolem(2,9)
        >>> Problem.parse("cyclic 1,2,4 empty 1,4").name
        'cyclic-1.2.4-over-8-empty-1.4'
        """
        words = read(text)
        if words.summed:
            raise BadProblem(f"{text} adds up several problems: `langford table {text}` counts it")
        if words.family in SETS:
            over, empty = words.more.get(OVER), words.more.get(EMPTY)
            return cls.from_differences(
                listed("differences", words.value),
                None if over is None else number(OVER, over),
                () if empty is None else listed(EMPTY, empty),
                number(COPIES, words.more.get(COPIES, "2")),
                words.family == CYCLIC,
            )
        values = {word.replace("-", "_"): number(word, value) for word, value in words.more.items()}
        return cls.named(words.family, number("n", words.value), values.pop(COPIES, 2), **values)

    def resized(self, n: int) -> Problem:
        """A problem of the same kind: for an experiment that is to be short.  Raises BadProblem.

        Parameters with a default have it; others have the nearest value that n allows.

        Args:
            n: its number of colours.
        """
        if self.variant == DIFFERENCES:
            return Problem.named("starter" if self.circle else "langford", n, self.copies)
        chosen = zip(VARIANTS[self.variant].parameters, self.values, strict=True)
        values = {
            each.keyword: value if each.most is None else min(value, each.most(n))
            for each, value in chosen
            if each.default is None
        }
        return Problem.named(self.variant, n, self.copies, **values)

    # -- description ----------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of colours."""
        return len(self.differences)

    @cached_property
    def name(self) -> str:
        """A short unique name, safe in file names: ``langford-16``, ``skolem-9-x3``."""
        copies = "" if self.copies == 2 else f"-x{self.copies}"
        if self.variant != DIFFERENCES:
            values = "".join(f"-{parameter.name}-{value}" for parameter, value in self.chosen)
            return f"{self.variant}-{self.order}{copies}{values}"
        listed = ".".join(map(str, self.differences))
        empty = "-empty-" + ".".join(map(str, self.empty)) if self.empty else ""
        return f"{CYCLIC if self.circle else DIFFERENCES}-{listed}-over-{self.places}{copies}{empty}"

    @property
    def chosen(self) -> tuple[tuple[Parameter, int], ...]:
        """The parameters of the variant that do not have their default, with their values."""
        if self.variant == DIFFERENCES:
            return ()
        values = zip(VARIANTS[self.variant].parameters, self.values, strict=True)
        return tuple((parameter, value) for parameter, value in values if value != parameter.default)

    @property
    def words(self) -> str:
        """The problem in words, as :meth:`parse` reads them.

        >>> Problem.named("skolem", 9, 3).words, Problem.langford(17, defect=9).words
        ('skolem 9 copies 3', '17 defect 9')
        """
        copies = "" if self.copies == 2 else f" {COPIES} {self.copies}"
        if self.variant != DIFFERENCES:
            family = "" if self.variant == "langford" else f"{self.variant} "
            values = "".join(f" {parameter.name} {value}" for parameter, value in self.chosen)
            return f"{family}{self.order}{copies}{values}"
        differences, holes = (",".join(map(str, each)) for each in (self.differences, self.empty))
        empty = f" {EMPTY} {holes}" if holes else ""
        return f"{CYCLIC if self.circle else DIFFERENCES} {differences} {OVER} {self.places}{copies}{empty}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The problem as arguments of a command like ``langford run``: its words."""
        return tuple(self.words.split())

    def __str__(self) -> str:
        if self.variant == DIFFERENCES:
            over = "on a circle of" if self.circle else "over"
            listed, holes = (", ".join(map(str, each)) for each in (self.differences, self.empty))
            empty = f", empty: {holes}" if holes else ""
            return f"differences {{{listed}}} {over} {self.places} places{empty}"
        words = "".join(f" {parameter.words.format(value)}" for parameter, value in self.chosen)
        return f"{VARIANTS[self.variant].title}({self.copies},{self.order}){words}"

    def label(self, difference: int) -> int:
        """The colour's customary name: the number of cubes between for Langford's, else the difference.

        Args:
            difference: of the colour.
        """
        return difference if self.variant == DIFFERENCES else difference - VARIANTS[self.variant].label_offset

    @cached_property
    def filled(self) -> tuple[int, ...]:
        """The places (from 1) that cubes must fill, ascending."""
        return tuple(place for place in range(1, self.places + 1) if place not in self.empty)

    @cached_property
    def free_mask(self) -> int:
        """Bit k−1 is set when place k must be filled."""
        return sum(1 << (place - 1) for place in self.filled)

    def shape(self, difference: int) -> int:
        """The cubes of one colour on a line, as a bit mask from bit 0.

        Args:
            difference: of the colour.
        """
        return sum(1 << difference * copy for copy in range(self.copies))

    def placements(self, difference: int) -> list[int]:
        """All ways to place one colour on the empty row, leftmost first, as bit masks: bit k is place k + 1.

        Args:
            difference: of the colour.
        """
        if self.circle:
            ends = ((k, (k + difference) % self.places) for k in range(self.places))
            pairs = dict.fromkeys(1 << first | 1 << second for first, second in ends)
            return [mask for mask in pairs if mask & ~self.free_mask == 0]
        span = difference * (self.copies - 1)
        if span >= self.places:
            return []
        shape = self.shape(difference)
        masks = (shape << start for start in range(self.places - span))
        return [mask for mask in masks if mask & ~self.free_mask == 0]

    @cached_property
    def terms(self) -> dict[int, int]:
        """Placements of each colour on the empty row, by difference: for pairs also the
        number of terms of Godfrey's sum S_d, which bounds |S_d|."""
        return {d: len(self.placements(d)) for d in self.differences}

    # -- identity, symmetry and existence -------------------------------------------

    @property
    def condition(self) -> str:
        """What else its arrangements have to be, see :attr:`Variant.condition`; empty: nothing."""
        return "" if self.variant == DIFFERENCES else VARIANTS[self.variant].condition

    @cached_property
    def pattern(self) -> Pattern:
        """The same for two problems that are the same.

        >>> Problem.named("near-skolem", 8, missing=1).pattern == Problem.langford(7).pattern
        True
        """
        return Pattern.of(self.circle, self.differences, self.copies, self.places, self.empty, self.condition)

    @cached_property
    def mirrored(self) -> bool:
        """Whether reading the row backwards maps arrangements to arrangements."""
        if self.circle or self.condition:
            return False
        return all(self.places + 1 - hole in self.empty for hole in self.empty)

    @property
    def images(self) -> int:
        """How many arrangements the literature counts as one: the images of an arrangement under reversal of a row,
        or under rotations and reflections of a circle without empty places.

        The differences of such a circle are 1 to half of its places; one pair alone is its own image.
        """
        if not self.up_to:
            return 1
        if self.circle:
            return 2 * self.places if self.n > 1 else 1
        return 2

    @cached_property
    def self_mirrored(self) -> int:
        """How many arrangements are their own mirror image: 1 if all colours nest around the
        centre and fill the row, else 0 (each colour has one centred placement at most)."""
        if not self.mirrored:
            return 0
        covered = 0
        for difference in self.differences:
            centred = [mask for mask in self.placements(difference) if mask == self.mirror(mask)]
            if not centred or covered & centred[0]:
                return 0
            covered |= centred[0]
        return int(covered == self.free_mask)

    def mirror(self, mask: int) -> int:
        """The mask of the mirrored row.

        Args:
            mask: of places of the row.
        """
        return int(f"{mask:0{self.places}b}"[::-1], 2)

    def published(self, arrangements: int) -> int:
        """The number as the literature counts it: :attr:`images` once.

        Args:
            arrangements: the number of all.
        """
        return (arrangements + self.self_mirrored) // self.images

    @property
    def up_to(self) -> str:
        """The symmetries whose images :meth:`published` counts once, in words; empty: there are none."""
        if self.circle:
            return "" if self.empty or self.condition else "rotation and reflection"
        return "reversal" if self.mirrored else ""

    @cached_property
    def obstruction(self) -> str | None:
        """Why there can be no arrangement, or None when there is no simple proof (existence.py)."""
        return obstruction(self)


def _first_wrong(numbers: Sequence[int], most: float = inf) -> int | None:
    """The first of ascending numbers that is repeated, below 1 or above ``most``; None: all are right."""
    return next((each for before, each in pairwise((0, *numbers)) if not before < each <= most), None)


def problem_of(problem: Problem | int | str) -> Problem:
    """A problem in any form that the library takes; raises BadProblem.

    Args:
        problem: itself, n for L(2, n), or words (:meth:`Problem.parse`).
    """
    if isinstance(problem, str):
        return Problem.parse(problem)
    if isinstance(problem, bool):
        raise BadProblem(f"n must be a whole number, not {problem}")
    return problem if isinstance(problem, Problem) else Problem.langford(problem)
