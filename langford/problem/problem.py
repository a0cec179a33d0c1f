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
from math import factorial, inf, prod

from langford.errors import BadProblem, whole
from langford.problem.bounds import require_circle, require_lengths, require_sizes
from langford.problem.existence import obstruction
from langford.problem.grammar import listed, number, read
from langford.problem.pattern import Pattern
from langford.problem.variants import (
    COPIES,
    CYCLIC,
    DIFFERENCES,
    EMPTY,
    FOLD,
    HOLES,
    OVER,
    SETS,
    SIZES,
    VARIANTS,
    Parameter,
)
from langford.words import several


@dataclass(frozen=True)
class Problem:
    """An immutable counting problem; build one with the class methods.

    Attributes:
        variant: a name in ``VARIANTS``, or ``DIFFERENCES``.
        differences: distances in places between consecutive cubes, one for each colour, ascending.
        places: length of the row.
        copies: cubes per colour (s), at least 2.
        empty: places (numbered from 1) that stay empty.
        order: n as the variant counts it, which is one more than the number of colours where a difference is
            missing; 0 without a named variant.
        values: of the variant's parameters, in their order.
        circle: whether the row is a circle: after the last place comes the first one, so that two cubes with
            difference d are also places − d apart.
        loose: how many more places stay empty, wherever they are.
        fold: how often ``differences`` has each difference; colours with the same one are not told apart.
    """

    variant: str
    differences: tuple[int, ...]
    places: int
    copies: int = 2
    empty: tuple[int, ...] = ()
    order: int = 0
    values: tuple[int, ...] = ()
    circle: bool = False
    loose: int = 0
    fold: int = 1

    # -- construction ---------------------------------------------------------------

    @classmethod
    def named(
        cls, variant: str, n: int, copies: int = 2, fold: int = 1, holes: int = 0, **values: int | None
    ) -> Problem:
        """The problem of a named variant of order n.

        Args:
            variant: a name in ``VARIANTS``.
            n: the order: the number of colours, where no difference is missing.
            copies: cubes per colour.
            fold: how often the row has each difference.
            holes: how many places stay empty, wherever they are.
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
        fold, holes = whole("fold", fold, BadProblem), whole("the number of holes", holes, BadProblem)
        if copies != 2 and chosen.pairs_only:
            raise BadProblem(f"{variant} is defined for pairs only: leave copies out")
        if (fold, holes) != (1, 0) and chosen.pairs_only:
            raise BadProblem(
                f"{variant} is defined without fold and holes: leave them out, or list its differences"
            )
        require_sizes(n, copies, fold, holes)
        if n < chosen.least:
            raise BadProblem(f"{variant} starts at n = {chosen.least}, not {n}")
        by_name = chosen.values(n, values)
        differences, empty = chosen.differences(n, **by_name), tuple(chosen.empty(n, **by_name))
        if not chosen.has(n, by_name):
            raise BadProblem(f"{variant} leaves two places empty: give the first one as hole")
        folded, loose = _folded(differences, fold), chosen.loose + holes
        places = copies * len(folded) + len(empty) + loose
        require_lengths(folded[-1], places)
        return cls(variant, folded, places, copies, empty, n, tuple(by_name.values()), chosen.circle, loose, fold)

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
    def from_differences(
        cls,
        differences: Iterable[int],
        places: int | None = None,
        empty: Iterable[int] = (),
        copies: int = 2,
        circle: bool = False,
        fold: int = 1,
        holes: int = 0,
    ) -> Problem:
        """Any set of distinct positive differences, on a line or on a circle.

        Args:
            differences: one for each colour, in any order.
            places: of the row; None: just enough for all cubes and the ``empty`` places.
            empty: places without a cube, from 1.
            copies: cubes of each colour.
            circle: whether the last place is a neighbour of the first.
            fold: how often the row has each difference.
            holes: how many more places stay empty, wherever they are.

        >>> Problem.from_differences((1, 2, 4, 5, 7), empty=[2]).name
        'differences-1.2.4.5.7-over-11-empty-2'
        >>> Problem.from_differences((1, 2, 4), empty=[1, 4], circle=True).name
        'cyclic-1.2.4-over-8-empty-1.4'
        >>> Problem.from_differences((1, 3), fold=2, holes=1).name
        'differences-1.3-over-9-fold-2-holes-1'

        Raises:
            BadProblem: repeated, non-positive or too large differences, or a row of another length
                than the cubes and the empty places fill; on a circle also differences of more than half of it, and
                other copies than 2.
        """
        chosen = tuple(sorted(whole("a difference", d, BadProblem) for d in differences))
        given = tuple(sorted(whole("an empty place", hole, BadProblem) for hole in empty))
        copies = whole("the number of copies", copies, BadProblem)
        fold, holes = whole("fold", fold, BadProblem), whole("the number of holes", holes, BadProblem)
        require_sizes(len(chosen), copies, fold, holes)
        wrong = _first_wrong(chosen)
        if wrong is not None:
            raise BadProblem(f"differences are distinct and at least 1: {wrong}")
        folded, without_cubes = _folded(chosen, fold), len(given) + holes
        filled = copies * len(folded)
        require_lengths(chosen[-1], filled + without_cubes)
        row = filled + without_cubes if places is None else whole("the number of places", places, BadProblem)
        if row != filled + without_cubes:
            raise BadProblem(
                f"{several(len(folded), 'colour')} of {copies} fill {filled} places; with {without_cubes} empty "
                f"ones the row has {filled + without_cubes} places, not {row}"
            )
        wrong = _first_wrong(given, row)
        if wrong is not None:
            raise BadProblem(f"empty places are distinct and from 1 to {row}: {wrong}")
        if circle:
            require_circle(chosen, row, copies, fold, bool(holes) and not given)
        return cls(DIFFERENCES, folded, row, copies, given, circle=circle, loose=holes, fold=fold)

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
        if words.family in SETS:
            over, empty = words.more.get(OVER), words.more.get(EMPTY)
            return cls.from_differences(
                listed("differences", words.value),
                None if over is None else number(OVER, over),
                () if empty is None else listed(EMPTY, empty),
                circle=words.family == CYCLIC,
                **{word: number(word, words.more[word]) for word in SIZES if word in words.more},
            )
        values = {word.replace("-", "_"): number(word, value) for word, value in words.more.items()}
        return cls.named(words.family, number("n", words.value), **values)

    def resized(self, n: int) -> Problem:
        """A problem of the same kind: for an experiment that is to be short.  Raises BadProblem.

        Parameters with a default have it; others have the nearest value that n allows.

        Args:
            n: its number of colours, at least ``fold``.
        """
        n = max(1, n // self.fold)
        if self.variant == DIFFERENCES:
            return Problem.named("starter", n) if self.circle else Problem.named("langford", n, **self.sizes)
        chosen = zip(VARIANTS[self.variant].parameters, self.values, strict=True)
        values = {
            each.keyword: value if each.most is None else min(value, each.most(n))
            for each, value in chosen
            if each.default is None
        }
        return Problem.named(self.variant, n, **self.sizes, **values)

    # -- description ----------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of colours."""
        return len(self.differences)

    @property
    def different(self) -> tuple[int, ...]:
        """The differences, each once."""
        return self.differences[:: self.fold]

    @property
    def orders(self) -> int:
        """In how many ways the colours with the same difference can be exchanged."""
        return prod([factorial(self.fold)] * len(self.different))

    @property
    def sizes(self) -> dict[str, int]:
        """What may be chosen beside the parameters of a variant, by the words for it, where it was."""
        usual = 0 if self.variant == DIFFERENCES else VARIANTS[self.variant].loose
        chosen = {COPIES: self.copies, FOLD: self.fold, HOLES: self.loose - usual}
        return {word: value for word, value in chosen.items() if value != SIZES[word]}

    @cached_property
    def name(self) -> str:
        """A short unique name, safe in file names: ``langford-16``, ``skolem-9-x3``, ``skolem-4-fold-2``."""
        family = "langford " if self.variant == "langford" else ""
        return f"{family}{self.words}".replace(f" {COPIES} ", " x").replace(",", ".").replace(" ", "-")

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
        sizes = "".join(f" {word} {value}" for word, value in self.sizes.items())
        if self.variant != DIFFERENCES:
            family = "" if self.variant == "langford" else f"{self.variant} "
            values = "".join(f" {parameter.name} {value}" for parameter, value in self.chosen)
            return f"{family}{self.order}{sizes}{values}"
        differences, holes = (",".join(map(str, each)) for each in (self.different, self.empty))
        empty = f" {EMPTY} {holes}" if holes else ""
        return f"{CYCLIC if self.circle else DIFFERENCES} {differences} {OVER} {self.places}{sizes}{empty}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The problem as arguments of a command like ``langford run``: its words."""
        return tuple(self.words.split())

    def __str__(self) -> str:
        if self.variant == DIFFERENCES:
            over = "on a circle of" if self.circle else "over"
            listed, holes = (", ".join(map(str, each)) for each in (self.different, self.empty))
            empty = f", empty: {holes}" if holes else ""
            return f"differences {{{listed}}} {over} {self.places} places{empty}{self._further}"
        words = "".join(f" {parameter.words.format(value)}" for parameter, value in self.chosen)
        return f"{VARIANTS[self.variant].title}({self.copies},{self.order}){words}{self._further}"

    @property
    def _further(self) -> str:
        """``fold`` and loose holes in words."""
        holes = self.sizes.get(HOLES, 0)
        fold = "" if self.fold == 1 else f", each difference {self.fold} times"
        return fold + (f", {several(holes, 'hole')} anywhere" if holes else "")

    def label(self, difference: int) -> int:
        """The colour's customary name: the number of cubes between for Langford's, else the difference.

        Args:
            difference: of the colour.
        """
        return difference if self.variant == DIFFERENCES else difference - VARIANTS[self.variant].label_offset

    @cached_property
    def filled(self) -> tuple[int, ...]:
        """The places (from 1) that cubes fill, ascending; ``loose`` of them stay empty."""
        return tuple(place for place in range(1, self.places + 1) if place not in self.empty)

    @cached_property
    def free_mask(self) -> int:
        """Bit k−1 is set when place k is one of ``filled``."""
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
        if self.images != 2:
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

    def arrangements(self, published: int) -> int:
        """The number of all arrangements, of a number as :meth:`published` counts it.

        Args:
            published: the number of them up to their images.
        """
        return published * self.images - self.self_mirrored

    @property
    def up_to(self) -> str:
        """The symmetries whose images :meth:`published` counts once, in words; empty: there are none.

        None of rows with loose holes or several colours of one difference: many are their own mirror image.
        """
        if self.circle:
            return "" if self.empty or self.condition else "rotation and reflection"
        return "reversal" if self.mirrored and not self.loose and self.fold == 1 else ""

    @cached_property
    def obstruction(self) -> str | None:
        """Why there can be no arrangement, or None when there is no simple proof (existence.py)."""
        return obstruction(self)


def _folded(differences: Iterable[int], fold: int) -> tuple[int, ...]:
    return tuple(d for d in differences for _ in range(fold))


def _first_wrong(numbers: Sequence[int], most: float = inf) -> str | None:
    """The first of ascending numbers that is repeated, below 1 or above ``most``, in words; None: all are right."""
    for before, each in pairwise((0, *numbers)):
        if not 1 <= each <= most:
            return f"{each} is not"
        if each == before:
            return f"{each} is given twice"
    return None


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
