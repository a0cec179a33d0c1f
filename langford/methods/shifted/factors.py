"""The two families of factors.

:class:`Sums` has S_d as it is, and signs of the linear forms that a seed draws.  They are the same at a place and
its mirror image where the row has a mirror, and for even d, where u and v can be read backwards, also at an element
and its image in u or v.

:class:`Differences` has even S_d as the part of u minus the part of v, and signs chosen by a count.  Three things
set it apart (docs/shifted.md has the proofs):

- For even d the terms of S_d on even places count with the opposite sign, and so do those of ℓ_d where the row has
  a mirror.  That changes the sign of the sum over all points once for each even factor that takes its pair from v,
  of which there are (|v| − odd factors) / 2 in each arrangement.
- Where the filled places but the first or the last are a row with a mirror (hooked rows), that place, p, has sign
  +1 throughout.  The signs of ℓ_d are then opposite at mirrored places of the others, but where p has a neighbour.
- The signs are not random: :mod:`langford.methods.shifted.signs` makes zeros of different factors coincide less.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from langford.methods.shifted.forms import Form, Forms, random_sign, sign_of_term, terms_of, with_even_hole
from langford.methods.shifted.signs import Draft, chosen_signs
from langford.problem import Problem


@dataclass(frozen=True)
class Sums(Forms):
    """S_d + ℓ_d + c_d, with random signs in ℓ_d."""

    @classmethod
    def outline(cls, problem: Problem) -> Sums:
        return cls(with_even_hole(problem), 0)

    @cached_property
    def pairs(self) -> tuple[Form, ...]:
        return tuple(self._form(d, again) for d, again in self.factors)

    def _form(self, d: int, again: int) -> Form:
        pairs, once = terms_of(self.problem, d)
        signs = {place: random_sign(self.seed, d, min(self.images(d, place)), again) for place in once}
        return Form.of(d, pairs, signs)


@dataclass(frozen=True)
class Differences(Forms):
    """The factors with differences.

    Attributes:
        chosen: whether the signs are chosen by the count; otherwise they are random.
    """

    chosen: bool = True

    @classmethod
    def outline(cls, problem: Problem) -> Differences:
        return cls(with_even_hole(problem), 0, chosen=False)

    @cached_property
    def fixed(self) -> int | None:
        if self.problem.mirrored or self.problem.loose:
            return None
        filled = self.problem.filled
        rests = ((filled[-1], filled[:-1]), (filled[0], filled[1:]))
        return next((place for place, rest in rests if rest and _is_mirrored(rest)), None)

    @cached_property
    def sign(self) -> int:
        odd = sum(d % 2 for d in self.problem.differences)
        of_v = sum(place % 2 == 0 for place in self.problem.filled)
        return -1 if (of_v - odd) // 2 % 2 else 1

    @cached_property
    def pairs(self) -> tuple[Form, ...]:
        drafts = [self._draft(d) for d in self.problem.differences]
        signs = [
            [random_sign(self.seed, d, min(orbit), again) for orbit in draft.orbits]
            for (d, again), draft in zip(self.factors, drafts, strict=True)
        ]
        if self.chosen:
            signs = chosen_signs(drafts, signs, self.fixed, f"{self.problem.name} {self.seed}")
        return tuple(draft.form(own) for draft, own in zip(drafts, signs, strict=True))

    def _draft(self, d: int) -> Draft:
        """The form of a difference, as far as the symmetries decide it."""
        pairs, once = terms_of(self.problem, d)
        if self.fixed is not None:
            return self._draft_beside(self.fixed, d, pairs, once)
        firsts = [place for place in once if place == min(self.images(d, place))]
        return Draft(d, pairs, tuple(self._orbit(d, first) for first in firsts), {})

    def _orbit(self, d: int, first: int) -> dict[int, int]:
        """The places that share a sign, each with its own sign relative to that of the first."""
        images = self.images(d, first)
        against = self.components.exchanged and d % 2 == 0
        return {image: -1 if against and (image - first) % 2 else 1 for image in sorted(images)}

    def _draft_beside(self, fixed: int, d: int, pairs: tuple[tuple[int, int], ...], once: Iterable[int]) -> Draft:
        """The same where a place is fixed: ℓ_d is antisymmetric under the mirror of the others.

        The neighbour q of the fixed place must have twice the coefficient of that term, up to an antisymmetric
        part.  The term itself is there.  Where q is in another term, too, the antisymmetric part has the opposite
        sign at q and so takes the second one away, and the mirror image of q gets it.  Otherwise q is in B_d.
        """
        rest = [place for place in self.problem.filled if place != fixed]
        forced = {place: 1 for place in once if place == fixed}
        for i, j in pairs:
            if fixed in (i, j):
                neighbour = i + j - fixed
                place = neighbour if neighbour in once else rest[0] + rest[-1] - neighbour
                forced[place] = sign_of_term(neighbour, d % 2 == 0)
        free = [place for place in once if place not in forced and 2 * place < rest[0] + rest[-1]]
        orbits = tuple({place: 1, rest[0] + rest[-1] - place: -1} for place in free)
        return Draft(d, pairs, orbits, forced)


def _is_mirrored(places: tuple[int, ...]) -> bool:
    """Whether a set of places, ascending, is its own mirror image and has a central place."""
    ends = places[0] + places[-1]
    return len(places) % 2 == 1 and {ends - place for place in places} == set(places)
