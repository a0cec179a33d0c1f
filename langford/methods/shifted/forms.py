"""The shifted factors f_d = S_d + ℓ_d + c_d, every one a multiple of 4.

S_d = Σ x_k x_{k+d} is Godfrey's sum, ℓ_d = Σ ±x_k over B_d, the places that occur in exactly one of its
terms, c_d a constant with |c_d| ≤ 2.  Every −1 among the terms of S_d and of ℓ_d lowers the sum by 2, and
there is always an even number of them: flipping x_k changes the sign of two terms of S_d, or of one of S_d
and one of ℓ_d.  So f_d is constant modulo 4 and c_d makes it 0.  (docs/shifted.md has the proof that the
sum over all points stays the same.)

The signs of ℓ_d come from a seed.  They are the same at a place and its mirror image where the row has a
mirror, and for even d, where u and v can be read backwards, also at an element and its image in u or v.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from langford.methods.shifted.components import Components, Integers
from langford.problem import Problem


@dataclass(frozen=True)
class Form:
    """One shifted factor, place by place.

    Attributes:
        difference: d.
        pairs: the terms x_i x_j of S_d.
        signs: the sign of x_k in ℓ_d, by place.
        constant: c_d, −1, 0, 1 or 2.
    """

    difference: int
    pairs: tuple[tuple[int, int], ...]
    signs: dict[int, int]
    constant: int

    @property
    def bound(self) -> int:
        """No |f_d / 4| exceeds it, with any seed."""
        return (len(self.pairs) + len(self.signs) + 2) // 4

    def value(self, x: dict[int, int]) -> int:
        """f_d at a point, given as signs by place."""
        linear = sum(sign * x[place] for place, sign in self.signs.items())
        return sum(x[i] * x[j] for i, j in self.pairs) + linear + self.constant


def random_sign(seed: int, difference: int, place: int) -> int:
    """+1 or −1, the same on every machine."""
    return 1 - 2 * (sha256(f"{seed} {difference} {place}".encode()).digest()[0] & 1)


@dataclass(frozen=True)
class Forms:
    """All shifted factors of a problem for one seed.

    Attributes:
        problem: the problem.
        seed: the signs are derived from it.
    """

    problem: Problem
    seed: int

    @cached_property
    def components(self) -> Components:
        """The split into u and v."""
        return Components.of(self.problem)

    @cached_property
    def all(self) -> tuple[Form, ...]:
        """One form for each difference, ascending."""
        return tuple(self._form(d) for d in self.problem.differences)

    @property
    def even(self) -> list[Form]:
        """Those of even differences."""
        return [form for form in self.all if form.difference % 2 == 0]

    @property
    def odd(self) -> list[Form]:
        """Those of odd differences."""
        return [form for form in self.all if form.difference % 2]

    def _form(self, d: int) -> Form:
        filled = set(self.problem.filled)
        pairs = tuple((place, place + d) for place in self.problem.filled if place + d in filled)
        once = [place for place in self.problem.filled if (place + d in filled) != (place - d in filled)]
        signs = {place: random_sign(self.seed, d, self._representative(d, place)) for place in once}
        rest = -(len(pairs) + sum(signs.values())) % 4
        return Form(d, pairs, signs, -1 if rest == 3 else rest)

    def _representative(self, d: int, place: int) -> int:
        """The first of the places that share a sign."""
        images = {place}
        if self.components.reversible and d % 2 == 0:
            images |= {self._reversed(image) for image in images}
        if self.components.exchanged:
            images |= {self.problem.places + 1 - image for image in images}
        return min(images)

    def _reversed(self, place: int) -> int:
        """The image of a place when the elements of its component are read backwards."""
        run = self.components.u if place % 2 else self.components.v
        ends = (run[0] + run[-1]) * 2 + (2 if place % 2 else 4)
        return ends - place


@dataclass(frozen=True)
class HalfForm:
    """The part of an even form that one component decides, as masks over elements: f_d / 4 = q(u) + q(v).

    Attributes:
        lag: e, for d = 2e.
        terms: elements k such that k and k+e are filled.
        once: elements in exactly one term.
        negative: those of them with a sign −1 in ℓ_d.
        constant: added before the division by 4.
    """

    lag: int
    terms: int
    once: int
    negative: int
    constant: int

    @property
    def bound(self) -> int:
        """No |q| exceeds it, with any seed."""
        return (self.terms.bit_count() + self.once.bit_count() + 4) // 4

    def __call__(self, components: Integers) -> Integers:
        """q of natural components, int64[·]."""
        differing = (components ^ components >> self.lag) & self.terms
        opposite = (components ^ self.negative) & self.once
        most = self.terms.bit_count() + self.once.bit_count() + self.constant
        minus: Integers = (np.bitwise_count(differing) + np.bitwise_count(opposite)).astype(np.int64)
        return (most - 2 * minus) // 4


def half_forms(form: Form) -> tuple[HalfForm, HalfForm]:
    """The parts of an even form that u and v decide; together they have its constant."""
    u, v = (_half_form(form, parity) for parity in (1, 0))
    return u, HalfForm(v.lag, v.terms, v.once, v.negative, form.constant - u.constant)


def _half_form(form: Form, parity: int) -> HalfForm:
    """The part of an even form on the places of one parity; its constant makes it a multiple of 4 alone."""
    terms = sum(1 << element(i) for i, _ in form.pairs if i % 2 == parity)
    signs = {place: sign for place, sign in form.signs.items() if place % 2 == parity}
    once = sum(1 << element(place) for place in signs)
    negative = sum(1 << element(place) for place, sign in signs.items() if sign < 0)
    rest = -(terms.bit_count() + sum(signs.values())) % 4
    return HalfForm(form.difference // 2, terms, once, negative, rest if rest < 2 else rest - 4)


def element(place: int) -> int:
    """The number of a place within its component."""
    return (place - 1) // 2
