"""Carry-save accumulation on the CPU, in the layout of :mod:`langford.arithmetic.limbs`."""

from __future__ import annotations

import numpy as np

from langford.arithmetic.limbs import SPREAD_BOUND
from langford.kernels.cpu.compiled import kernel

_DIGIT = np.int64(0xFFFFFFFF)


@kernel
def spread_carries(limbs):
    """Move each limb's excess into the next; every limb but the top becomes a digit ≥ 0."""
    for i in range(limbs.size - 1):
        limbs[i + 1] += limbs[i] >> 32
        limbs[i] &= _DIGIT


@kernel
def add_words(limbs, words, first, count, weight):
    """limbs += weight · (wide integer ``words[first:first+count]``, top word signed).

    Spreads no carry: the caller keeps Σ |weight| within SPREAD_BOUND between spreads.
    ``limbs`` holds at least two limbs for each of the words.
    """
    last = count - 1
    for k in range(count):
        word = words[first + k]
        limbs[2 * k] += weight * (word & _DIGIT)
        high = word >> 32
        limbs[2 * k + 1] += weight * (high if k == last else high & _DIGIT)


@kernel
def make_room(limbs, residues, weight, pending):
    """Spread the carries of both numbers if terms of total ``weight`` could overflow a limb.

    ``pending`` is Σ |weight| added since the last spread; returns its new value.
    """
    if pending + weight > SPREAD_BOUND:
        spread_carries(limbs)
        spread_carries(residues)
        pending = 0
    return pending + weight
