"""CPU kernel of the sum over necklaces: words in ascending order, 32 at a time, and words without a chance skipped.

A word has the m places of the circle as bits.  The 32 words that differ in the last five places are tested
together: a table has the set of those whose factor for a difference is 0 (langford.methods.necklace.cpu).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from langford.kernels.cpu.carry_save import make_room
from langford.kernels.cpu.compiled import kernel, part
from langford.kernels.cpu.ir import literal, set_bits, split_words
from langford.methods.necklace.limits import NONE

FACTORS = 15
"""Factors of less than 18 whose product fits 64 bits."""
UNKNOWN, MIDDLE, ROWS = 6, 7, 16
_DIGIT = 0xFFFFFFFF
_ONE, _LANES, _UNKNOWN = np.uint64(1), np.uint64(31), np.uint64(63)


@intrinsic(prefer_literal=True)
def product(typingctx, parts, words):
    """The product of some uint64 numbers as a tuple of ``words`` int64 words."""
    wide = ir.IntType(64 * literal(words))

    def emit(context, builder, sig, args):
        total = None
        for number in cgutils.unpack_tuple(builder, args[0]):
            factor = builder.zext(number, wide) if wide.width > 64 else number
            total = factor if total is None else builder.mul(total, factor)
        return context.make_tuple(builder, sig.return_type, split_words(builder, total))

    return types.UniTuple(types.int64, literal(words))(parts, words), emit


@part
def turned(word, by, places, full):
    """The word with each place k having what place k + ``by`` had."""
    return (word >> np.uint64(by) | word << np.uint64(places - by)) & full


@part
def runs_of(zeros, length):
    """The places from which on, upwards, there are ``length`` zeros; ``zeros`` has a 1 for each."""
    found = 1
    while 2 * found <= length:
        zeros &= zeros >> np.uint64(found)
        found *= 2
    return zeros & zeros >> np.uint64(length - found)


@part
def changes_of(word, places, full):
    """Bit k is set where place k has another sign than place k − 1."""
    return word ^ (word << _ONE | word >> np.uint64(places - 1)) & full


@part
def is_first(changes, gaps, unknown, gap, places):
    """Whether no rotation that begins with another longest gap is smaller, as far as the places are known.

    gaps: the last place of each longest gap; unknown: the number of places at the end that are 0 in ``changes``.
    """
    gaps &= ~(_ONE << np.uint64(places - 1 - gap))
    while gaps:
        begin = set_bits((gaps & -gaps) - _ONE) + gap
        gaps &= gaps - _ONE
        shared = begin + 1 - unknown
        other = (changes & ((np.uint64(2) << np.uint64(begin)) - _ONE)) >> np.uint64(unknown)
        if other < changes >> np.uint64(places - shared):
            return False
    return True


@part
def rotations_of(changes, gaps, gap, places, full):
    """How many different rotations there are; 0 if one that begins with a 1 is smaller."""
    gaps &= ~(_ONE << np.uint64(places - 1 - gap))
    equal = 1
    while gaps:
        begin = set_bits((gaps & -gaps) - _ONE) + gap
        gaps &= gaps - _ONE
        other = turned(changes, begin + 1, places, full)
        if other < changes:
            return 0
        equal += other == changes
    return places // equal


@cache
def build_necklace_sum(words: int):
    """The kernel for terms of ``words`` 64-bit words."""

    @part
    def add_term(word, times, places, full, holes, targets, limbs, residues):
        """Add a word's term so many times; returns 1, or 0 when it is 0."""
        a = b = c = _ONE
        ones = set_bits(word)
        negative = ones & 1
        for _ in range(holes):
            times *= places - 2 * ones if places & 1 else (places >> 1) - ones
        if times == 0:
            return 0
        if times < 0:
            negative ^= 1
            times = -times
        for d in range(1, places // 2 + 1):
            if targets[d] == NONE:
                continue
            factor = targets[d] - (set_bits(word ^ turned(word, d, places, full)) >> 1)
            if factor == 0:
                return 0
            if factor < 0:
                negative ^= 1
                factor = -factor
            if d <= FACTORS:
                a *= np.uint64(factor)
            elif d <= 2 * FACTORS:
                b *= np.uint64(factor)
            else:
                c *= np.uint64(factor)
        sign = 1 - 2 * negative
        term = product((a, b, c, np.uint64(times)), words)
        for k in range(words):
            low, high = term[k] & _DIGIT, term[k] >> 32 & _DIGIT
            limbs[2 * k] += sign * low
            limbs[2 * k + 1] += sign * high
            residues[0] += sign * low
            residues[1] += sign * high
        return 1

    @kernel
    def necklace_sum(places, gap, start, last, holes, targets, vanishing, limbs, residues):
        """Add the terms of the words from ``start`` to ``last`` that represent their necklaces.

        start, last: uint64, with 0 and with 1 in all free places.
        holes: the sum of the signs, halved if there is an even number of places, counts to this power.
        targets: int64, the e_d by d, or NONE.
        vanishing: see langford.methods.necklace.cpu.
        limbs, residues: carry-save results, added to.
        Returns the number of terms that are not 0.
        """
        full = ~np.uint64(0) >> np.uint64(64 - places)
        found = pending = 0
        word = start
        while start <= word <= last:
            # Of the changes, the last six depend on the last five places.
            changes = changes_of(word, places, full) & ~_UNKNOWN
            zeros = ~(changes | _UNKNOWN) & full
            long = runs_of(zeros, gap + 1)
            if long:
                # Of all words up to the next one that differs before the end of this gap, each has it.
                at = np.uint64(63)
                while not long >> at & _ONE:
                    at -= _ONE
                at -= _ONE
                word = ((word >> at) + _ONE) << at
                continue
            alive = 0
            if is_first(changes, runs_of(zeros, gap), UNKNOWN, gap, places):
                alive = _DIGIT
                for d in range(5, places // 2 + 1):
                    turn = turned(word, d, places, full)
                    row = targets[d] - (set_bits(word ^ turn) >> 1) + MIDDLE
                    if 0 <= row < ROWS:
                        before = np.int64(turned(word, places - d, places, full) & _LANES)
                        alive &= ~np.int64(vanishing[row << 10 | np.int64(turn & _LANES) << 5 | before])
                        if alive == 0:
                            break
            while alive:
                each = word | np.uint64(set_bits(np.uint64((alive & -alive) - 1)))
                alive &= alive - 1
                changes = changes_of(each, places, full)
                zeros = ~changes & full
                if runs_of(zeros, gap + 1) == 0:
                    times = rotations_of(changes, runs_of(zeros, gap), gap, places, full)
                    if times:
                        pending = make_room(limbs, residues, words, pending)
                        found += add_term(each, times, places, full, holes, targets, limbs, residues)
            word += np.uint64(32)
        return found

    return necklace_sum
