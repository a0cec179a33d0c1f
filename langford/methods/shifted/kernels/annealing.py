"""The turn of one factor in the annealing of :mod:`langford.methods.shifted.signs`.

All numbers are exact in 64 bits: a factor of b ≤ 96 bonds has at most b / 2 pairs with the same product, so a total
over 32 factors stays below 2^24 units, and a field below 2^20 · b · 2^24 < 2^51.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from langford.kernels.cpu.compiled import kernel


@kernel
def add_square(totals: Any, monomials: Any, bonds: Any, spins: Any, signs: Any, weight: Any) -> None:
    """Add ``weight`` times the square of a factor to the coefficients of all monomials, ``totals``."""
    for i in range(len(bonds)):
        bond = weight * bonds[i] * signs[spins[i]]
        totals[monomials[i, i]] += weight
        for j in range(i):
            totals[monomials[i, j]] += 2 * bond * bonds[j] * signs[spins[j]]


@kernel
def take_turn(totals: Any, monomials: Any, bonds: Any, spins: Any, signs: Any, weight: Any, limits: Any) -> None:
    """Try each sign of a factor but the first one.

    Args:
        totals: coefficients of the weighted sum of all squares, by monomial; changed.
        monomials, bonds, spins, weight: of its square (see :class:`langford.methods.shifted.signs.Square`).
        signs: of its orbits, after a 1; changed.
        limits: for each try in turn, how much it may raise the sum.
    """
    add_square(totals, monomials, bonds, spins, signs, -weight)
    couplings = np.zeros((len(signs), len(signs)), np.int64)
    for i in range(len(bonds)):
        for j in range(i):
            coupling = weight * bonds[i] * bonds[j] * totals[monomials[i, j]]
            couplings[spins[i], spins[j]] += coupling
            couplings[spins[j], spins[i]] += coupling
    fields = np.zeros(len(signs), np.int64)
    for i in range(len(signs)):
        couplings[i, i] = 0
        for j in range(len(signs)):
            fields[i] += couplings[i, j] * signs[j]
    for number in range(len(limits)):
        k = 2 + number % (len(signs) - 2)
        if -2 * signs[k] * fields[k] <= limits[number]:
            signs[k] = -signs[k]
            for i in range(len(signs)):
                fields[i] += 2 * signs[k] * couplings[k, i]
    add_square(totals, monomials, bonds, spins, signs, weight)
