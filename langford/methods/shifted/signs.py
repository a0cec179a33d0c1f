"""Signs of the linear forms that let zeros of different factors coincide as little as possible.

A point is lost once however many of its factors vanish, so fewer points survive where factors vanish at different
points.  For two factors of mean 0 and variances σ², to the order that matters,

    P(f_d = f_e = 0) / (P(f_d = 0) P(f_e = 0)) − 1 = (E[f_d² f_e²] / (σ_d² σ_e²) − 1) / 4,

and E[f_d² f_e²] is a count: write a factor as a sum of *bonds*, the terms of S_d and the linear ones (a bond to
place 0).  The square is a constant plus twice the products of two bonds, each product is a monomial in the signs,
and the expectation is the sum over the monomials of the products of their coefficients in both squares.

:func:`chosen_signs` lowers the sum of all pairs of factors by annealing: the factors in turn, each against the
monomials of all others, where its own signs are the spins of a quadratic form.  Every number is an integer, so that
all machines find the same signs.  Floating-point numbers hold them exactly: a factor of b ≤ 96 bonds has at most
b / 2 pairs with the same product, so a total over 32 factors stays below 2^24 units, and a field below
2^20 · b · 2^24 < 2^51.

It takes seconds, so :func:`kept_signs` keeps signs in the folder of the compiled kernels of this version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256, shake_256

import numpy as np
from numpy.typing import NDArray

from langford.kernels.cache import kept_in
from langford.machine.kept import kept
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

Numbers = NDArray[np.float64]
Signs = list[list[int]]


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
        weight: 1 / σ².
        spins: bonds × (1 + orbits), ±1 or 0: a bond is that times (1, signs of the orbits).
        monomials: bonds × bonds, the number of the product of two bonds.
        own: the numbers of its monomials, each once.
    """

    def __init__(self, draft: Draft, keys_of: Mapping[int, int]) -> None:
        """``keys_of``: a random number for each place; those of a bond, combined by exclusive or, name it."""
        bonds = [(i, j, 0, sign_of_term(i, draft.opposed)) for i, j in draft.pairs]
        bonds += [(0, place, 0, sign) for place, sign in draft.forced.items() if keys_of[place]]
        for number, orbit in enumerate(draft.orbits):
            bonds += [(0, place, 1 + number, sign) for place, sign in orbit.items()]
        self.weight = (1 << WEIGHT_BITS) // max(1, len(bonds))
        self.spins = np.zeros((len(bonds), 1 + len(draft.orbits)))
        keys = np.zeros(len(bonds), np.uint64)
        for k, (i, j, spin, sign) in enumerate(bonds):
            self.spins[k, spin] = sign
            keys[k] = keys_of[i] ^ keys_of[j]
        self.keys = keys[:, None] ^ keys

    def numbered(self, monomials: NDArray[np.int64]) -> None:
        self.monomials = monomials
        self.own, within = np.unique(monomials, return_inverse=True)
        self._within = within.reshape(-1)

    def coefficients(self, signs: Numbers) -> Numbers:
        """Those of the square with these signs, 1 the first of them, weighted; their numbers are ``own``."""
        bonds = self.spins @ signs
        products = (bonds[:, None] * bonds).reshape(-1)
        sums: Numbers = np.bincount(self._within, products, len(self.own)).astype(np.float64)
        return sums * self.weight

    def couplings(self, totals: Numbers) -> Numbers:
        """The quadratic form of the signs that the expectation with all other squares is, without its diagonal."""
        couplings: Numbers = self.spins.T @ totals[self.monomials] @ self.spins * self.weight
        couplings.flat[:: len(couplings) + 1] = 0
        return couplings


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
    # The first sign of each factor stays as it is, so that other signs to begin with give other ones in the end.
    places = {place for draft in drafts for pair in draft.pairs for place in pair}
    places |= {place for draft in drafts for signs_of in (*draft.orbits, draft.forced) for place in signs_of}
    keys_of = {place: _random_key(place) for place in places} | {0: 0, fixed or 0: 0}
    squares = [Square(draft, keys_of) for draft in drafts]
    keys = np.unique(np.concatenate([square.keys.reshape(-1) for square in squares]))
    for square in squares:
        square.numbered(np.searchsorted(keys, square.keys))
    totals = np.zeros(len(keys))
    found = [[1, *own] for own in signs]
    parts = [square.coefficients(np.array(own, np.float64)) for square, own in zip(squares, found, strict=True)]
    for square, part in zip(squares, parts, strict=True):
        totals[square.own] += part
    free = [number for number, own in enumerate(found) if len(own) > 2]
    tries = SWEEPS * sum(len(found[number]) - 2 for number in free)
    for turn in range(ROUNDS + 1):
        # Falls as a parabola, to 0 in the last round.
        heat = int(HOTTEST * 2 ** (2 * WEIGHT_BITS - HEAT_BITS)) * (ROUNDS - turn) ** 2 // ROUNDS**2
        heights = iter(_heights(f"{seed} {turn}", tries))
        for number in free:
            square, own = squares[number], found[number]
            totals[square.own] -= parts[number]
            if _tried(square.couplings(totals), own, heat, heights):
                parts[number] = square.coefficients(np.array(own, np.float64))
            totals[square.own] += parts[number]
    return [own[1:] for own in found]


def _tried(couplings: Numbers, signs: list[int], heat: int, heights: Iterator[int]) -> bool:
    """Try each sign of a factor but the first one SWEEPS times; returns whether one was changed."""
    fields: list[float] = (couplings @ np.array(signs, np.float64)).tolist()
    rows: list[list[float]] = couplings.tolist()
    changed = False
    for _ in range(SWEEPS):
        for k in range(2, len(signs)):
            if -2 * signs[k] * fields[k] <= heat * next(heights):
                changed, signs[k] = True, -signs[k]
                step = 2 * signs[k]
                fields = [field + step * coupling for field, coupling in zip(fields, rows[k], strict=True)]
    return changed


def _random_key(place: int) -> int:
    return int.from_bytes(shake_256(f"place {place}".encode()).digest(8), "little")


def _heights(seed: str, count: int) -> list[int]:
    """Random numbers of about the exponential distribution with mean 1 / ln 2, in units of 2^−HEAT_BITS."""
    words = np.frombuffer(shake_256(seed.encode()).digest(4 * count), "<u4").astype(np.int64)
    # The binary logarithm, from the place of the leading bit and the ones below it.
    place = np.frexp(words.astype(np.float64))[1].astype(np.int64) - 1
    fraction = (words << HEAT_BITS >> np.maximum(place, 0)) & (1 << HEAT_BITS) - 1
    heights: list[int] = ((31 - place << HEAT_BITS) + (1 << HEAT_BITS) - fraction).tolist()
    return heights


def kept_signs(name: str, find: Callable[[], Signs]) -> Signs:
    """The signs of that name as they were kept, or found now."""
    file = kept_in(f"signs-{sha256(name.encode()).hexdigest()[:32]}")
    signs: Signs = json.loads(kept(file, lambda: json.dumps(find()).encode()))
    return signs
