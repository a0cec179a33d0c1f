"""Signs of the linear forms that let zeros of different factors coincide as little as possible.

A point is lost once however many of its factors vanish, so fewer points survive where factors vanish at different
points.  For two factors of mean 0 and variances σ², to the order that matters,

    P(f_d = f_e = 0) / (P(f_d = 0) P(f_e = 0)) − 1 = (E[f_d² f_e²] / (σ_d² σ_e²) − 1) / 4,

and E[f_d² f_e²] is a count: write a factor as a sum of *bonds*, the terms of S_d and the linear ones (a bond to
place 0).  The square is a constant plus twice the products of two bonds, each product is a monomial in the signs,
and the expectation is the sum over the monomials of the products of their coefficients in both squares.

:func:`chosen_signs` lowers the sum of all pairs of factors by annealing: the factors in turn, each against the
monomials of all others, where its own signs are the spins of a quadratic form.  Every number is an integer, so that
all machines find the same signs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray

from langford.methods.shifted.forms import Form, sign_of_term

ROUNDS = 300
"""How often each factor has its turn."""
SWEEPS = 3
"""How often each sign of a factor is tried in a turn."""
WEIGHT_BITS = 20
"""Weights of factors, 1 / σ², are counted in units of 2^−WEIGHT_BITS."""
HEAT_BITS = 8
"""Random heights are counted in units of 2^−HEAT_BITS."""
HOTTEST = 0.05
"""Temperature of the first round, in units of the sum; the last one is 0."""

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Draft:
    """A factor whose signs are not all chosen yet.

    Attributes:
        difference, pairs: as of a Form.
        orbits: the places that share a sign, each with its sign relative to the first.
        forced: signs that cannot be chosen, by place.
    """

    difference: int
    pairs: tuple[tuple[int, int], ...]
    orbits: tuple[dict[int, int], ...]
    forced: dict[int, int]

    @property
    def opposed(self) -> bool:
        return self.difference % 2 == 0

    def form(self, signs: Sequence[int]) -> Form:
        """The factor with a sign for each orbit."""
        orbits = zip(self.orbits, signs, strict=True)
        chosen = {place: relative * sign for orbit, sign in orbits for place, relative in orbit.items()}
        return Form.of(self.difference, self.pairs, self.forced | chosen, self.opposed)


class Square:
    """The square of a factor, by monomials.

    Attributes:
        signs: 1, then those of the orbits; int64.
        bonds: each, with the first sign as ±1, is that times one of the signs; int64.
        spins: which one, by bond; int64.
        weight: 1 / σ².
        monomials: bonds × bonds, int64, the number of the product of two bonds.
    """

    monomials: Integers

    def __init__(self, draft: Draft, signs: Sequence[int], keys_of: Mapping[int, int]) -> None:
        """
        Args:
            draft: the factor.
            signs: of its orbits.
            keys_of: a random number for each place; those of a bond, combined by exclusive or, name it.
        """
        bonds = [(i, j, 0, sign_of_term(i, draft.opposed)) for i, j in draft.pairs]
        bonds += [(0, place, 0, sign) for place, sign in draft.forced.items() if keys_of[place]]
        for number, orbit in enumerate(draft.orbits):
            bonds += [(0, place, 1 + number, sign) for place, sign in orbit.items()]
        self.signs = np.array([1, *signs], np.int64)
        self.bonds = np.array([sign for *_, sign in bonds], np.int64)
        self.spins = np.array([spin for _, _, spin, _ in bonds], np.int64)
        self.weight = (1 << WEIGHT_BITS) // max(1, len(bonds))
        keys = np.array([keys_of[i] ^ keys_of[j] for i, j, *_ in bonds], np.uint64)
        self.keys = keys[:, None] ^ keys

    @property
    def parts(self) -> tuple[Integers, Integers, Integers, Integers, int]:
        """What kernels take."""
        return self.monomials, self.bonds, self.spins, self.signs, self.weight


def chosen_signs(
    drafts: Sequence[Draft], signs: Sequence[Sequence[int]], fixed: int | None, seed: str
) -> list[list[int]]:
    """Signs for the orbits of each factor, the same on every machine.

    Args:
        drafts: the factors.
        signs: those to begin with.
        fixed: a place whose sign is +1 throughout, like that of place 0; None: there is none.
        seed: another text has other random numbers.
    """
    from langford.kernels.cpu.compiled import compiled_once
    from langford.methods.shifted.kernels.annealing import add_square, take_turn

    # The first sign of each factor stays as it is, so that other signs to begin with give other ones in the end.
    places = {place for draft in drafts for pair in draft.pairs for place in pair}
    places |= {place for draft in drafts for signs_of in (*draft.orbits, draft.forced) for place in signs_of}
    keys_of = {place: _random_key(place) for place in places} | {0: 0, fixed or 0: 0}
    squares = [Square(draft, own, keys_of) for draft, own in zip(drafts, signs, strict=True)]
    keys = np.unique(np.concatenate([square.keys.reshape(-1) for square in squares]))
    totals = np.zeros(len(keys), np.int64)
    with compiled_once("annealing", of="the shifted sums"):
        for square in squares:
            square.monomials = np.searchsorted(keys, square.keys)
            add_square(totals, *square.parts)
        turns = [(square, SWEEPS * (len(square.signs) - 2)) for square in squares if len(square.signs) > 2]
        for turn in range(ROUNDS + 1):
            # Falls as a parabola, to 0 in the last round.
            heat = int(HOTTEST * 2 ** (2 * WEIGHT_BITS - HEAT_BITS)) * (ROUNDS - turn) ** 2 // ROUNDS**2
            limits = heat * _heights(f"{seed} {turn}", sum(tries for _, tries in turns))
            for square, tries in turns:
                own, limits = limits[:tries], limits[tries:]
                take_turn(totals, *square.parts, own)
    return [square.signs[1:].tolist() for square in squares]


def _random_key(place: int) -> int:
    return int.from_bytes(shake_256(f"place {place}".encode()).digest(8), "little")


def _heights(seed: str, count: int) -> Integers:
    """Random numbers of about the exponential distribution with mean 1 / ln 2, in units of 2^−HEAT_BITS."""
    words = np.frombuffer(shake_256(seed.encode()).digest(4 * count), "<u4").astype(np.int64)
    # The binary logarithm, from the place of the leading bit and the ones below it.
    place = np.frexp(words.astype(np.float64))[1].astype(np.int64) - 1
    fraction = (words << HEAT_BITS >> np.maximum(place, 0)) & (1 << HEAT_BITS) - 1
    heights: Integers = (31 - place << HEAT_BITS) + (1 << HEAT_BITS) - fraction
    return heights
