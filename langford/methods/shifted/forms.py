"""The shifted factors f_d = S_d + ℓ_d + c_d, every one a multiple of 4.

S_d = Σ x_k x_{k+d} is Godfrey's sum, ℓ_d = Σ ±x_k over B_d, the places that occur in exactly one of its
terms, c_d a constant with |c_d| ≤ 2.  Every −1 among the terms of S_d and of ℓ_d lowers the sum by 2, and
there is always an even number of them: flipping x_k changes the sign of two terms of S_d, or of one of S_d
and one of ℓ_d.  So f_d is constant modulo 4 and c_d makes it 0.  (docs/shifted.md has the proof that the
sum over all points stays the same.)

:mod:`langford.methods.shifted.factors` has the two families of such factors.

Where one more place is empty, wherever it is, the sum has one more factor, 2 Σ x_k + c over the places of its
parity, a multiple of 4 (:func:`hole_form`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

import numpy as np

from langford.kernels.symmetries import Integers
from langford.methods.shifted.components import ShiftedComponents
from langford.problem import Problem

BEYOND = 125
"""The difference of the factor of a hole: odd, and longer than any row."""


@dataclass(frozen=True)
class Form:
    """One shifted factor, place by place.

    Attributes:
        difference: d, or BEYOND.
        pairs: the terms x_i x_j of S_d.
        signs: the sign of x_k in ℓ_d, by place; 2 in the factor of a hole.
        constant: c_d, −1, 0, 1 or 2.
        opposed: whether the terms of S_d on even places count with the opposite sign (d is even then).
    """

    difference: int
    pairs: tuple[tuple[int, int], ...]
    signs: dict[int, int]
    constant: int
    opposed: bool = False

    @classmethod
    def of(
        cls, difference: int, pairs: tuple[tuple[int, int], ...], signs: dict[int, int], opposed: bool = False
    ) -> Form:
        """The form with these terms, and the constant that makes it a multiple of 4."""
        terms = sum(sign_of_term(i, opposed) for i, _ in pairs)
        rest = -(terms + sum(signs.values())) % 4
        return cls(difference, pairs, signs, -1 if rest == 3 else rest, opposed)

    @property
    def bound(self) -> int:
        """No |f_d / 4| exceeds it, with any signs."""
        return (len(self.pairs) + sum(map(abs, self.signs.values())) + 2) // 4

    def sign_of_term(self, place: int) -> int:
        return sign_of_term(place, self.opposed)

    def value(self, x: dict[int, int]) -> int:
        """f_d at a point, given as signs by place."""
        linear = sum(sign * x[place] for place, sign in self.signs.items())
        return sum(self.sign_of_term(i) * x[i] * x[j] for i, j in self.pairs) + linear + self.constant


def sign_of_term(place: int, opposed: bool) -> int:
    """With which sign a term that begins at a place counts: −1 on even places of a form that is opposed."""
    return -1 if opposed and place % 2 == 0 else 1


def terms_of(problem: Problem, difference: int) -> tuple[tuple[tuple[int, int], ...], tuple[int, ...]]:
    """The terms of S_d, and B_d: the places that occur in exactly one of them."""
    filled, d = set(problem.filled), difference
    pairs = tuple((place, place + d) for place in problem.filled if place + d in filled)
    once = tuple(place for place in problem.filled if (place + d in filled) != (place - d in filled))
    return pairs, once


def hole_form(problem: Problem) -> Form:
    """The factor of the hole of a row that has one anywhere, on even places (see :func:`with_even_hole`)."""
    return Form.of(BEYOND, (), {place: 2 for place in problem.filled if place % 2 == 0})


def with_even_hole(problem: Problem) -> Problem:
    """The row as it is, or moved by one place, so that its hole is on an even place in every arrangement.

    An odd difference takes an odd and an even place, an even one two places of one parity: so only places of one
    parity can be left over.
    """
    of_v = sum(place % 2 == 0 for place in problem.filled)
    if not problem.loose or (of_v - sum(d % 2 for d in problem.differences)) % 2:
        return problem
    empty = (1, *(hole + 1 for hole in problem.empty))
    return replace(problem, places=problem.places + 1, empty=empty)


def random_sign(seed: int, difference: int, place: int, again: int = 0) -> int:
    """+1 or −1, the same on every machine; other ones for each further factor of a difference."""
    words = f"{seed} {difference} {place}" + (f" {again}" if again else "")
    return 1 - 2 * (sha256(words.encode()).digest()[0] & 1)


@dataclass(frozen=True)
class Forms(ABC):
    """All shifted factors of a problem for one seed.

    Attributes:
        problem: the problem, its row as :func:`with_even_hole` moves it.
        seed: the signs of the linear forms are derived from it.
    """

    problem: Problem
    seed: int

    @classmethod
    @abstractmethod
    def outline(cls, problem: Problem) -> Forms:
        """Forms of the same terms as those of any seed, found at once."""

    @property
    @abstractmethod
    def pairs(self) -> tuple[Form, ...]:
        """One form for each colour, by ascending differences."""

    @cached_property
    def all(self) -> tuple[Form, ...]:
        """Those of the colours, then that of a hole."""
        return *self.pairs, *[hole_form(self.problem)] * self.problem.loose

    @property
    def fixed(self) -> int | None:
        """A place that has sign +1 throughout, or None."""
        return None

    @property
    def sign(self) -> int:
        """The sum over all points is this times the number of arrangements: 1 or −1."""
        return 1

    @cached_property
    def components(self) -> ShiftedComponents:
        return ShiftedComponents.of(self.problem, self.fixed)

    @property
    def even(self) -> list[Form]:
        return [form for form in self.all if form.difference % 2 == 0]

    @property
    def odd(self) -> list[Form]:
        return [form for form in self.all if form.difference % 2]

    @property
    def factors(self) -> Iterator[tuple[int, int]]:
        """The difference of each factor, and how many factors before it have the same one."""
        return ((d, k % self.problem.fold) for k, d in enumerate(self.problem.differences))

    def images(self, difference: int, place: int) -> set[int]:
        """The places that share the sign of a place in ℓ_d: those that symmetries of the row map it to."""
        images = {place}
        if self.components.reversible and difference % 2 == 0:
            images |= {self._reversed(image) for image in images}
        if self.components.exchanged:
            images |= {self.problem.places + 1 - image for image in images}
        return images

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
        opposed: those of them whose term counts with the opposite sign: all or none.
        once: elements in exactly one term.
        negative: those of them with a sign −1 in ℓ_d.
        constant: added before the division by 4.
    """

    lag: int
    terms: int
    opposed: int
    once: int
    negative: int
    constant: int

    @property
    def bound(self) -> int:
        """No |q| exceeds it, with any signs."""
        return (self.terms.bit_count() + self.once.bit_count() + 4) // 4

    def __call__(self, components: Integers) -> Integers:
        """q of natural components, int64[·]."""
        differing = (components ^ components >> self.lag ^ self.opposed) & self.terms
        opposite = (components ^ self.negative) & self.once
        most = self.terms.bit_count() + self.once.bit_count() + self.constant
        minus: Integers = (np.bitwise_count(differing) + np.bitwise_count(opposite)).astype(np.int64)
        return (most - 2 * minus) // 4


def half_forms(form: Form) -> tuple[HalfForm, HalfForm]:
    """The parts of an even form that u and v decide; together they have its constant."""
    u, v = (_half_form(form, parity) for parity in (1, 0))
    return u, replace(v, constant=form.constant - u.constant)


def _half_form(form: Form, parity: int) -> HalfForm:
    """The part of an even form on the places of one parity; its constant makes it a multiple of 4 alone."""
    terms = sum(1 << element(i) for i, _ in form.pairs if i % 2 == parity)
    signs = {place: sign for place, sign in form.signs.items() if place % 2 == parity}
    once = sum(1 << element(place) for place in signs)
    negative = sum(1 << element(place) for place, sign in signs.items() if sign < 0)
    sign = form.sign_of_term(parity)
    rest = -(sign * terms.bit_count() + sum(signs.values())) % 4
    constant = rest if rest < 2 else rest - 4
    return HalfForm(form.difference // 2, terms, terms if sign < 0 else 0, once, negative, constant)


def element(place: int) -> int:
    """The number of a place within its component."""
    return (place - 1) // 2
