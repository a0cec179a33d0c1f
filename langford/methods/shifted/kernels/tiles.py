"""CPU kernel of the shifted sum: one tile of v's against many u's.

For one u the points of a tile are filtered 512 at a time, a *line*: the v's that differ in the nine inner
bits.  A line's dead points are the union of a few rows of 512 bits:

- even forms depend on q(u) + q(v): the v's of each q(v) are a bitmap of the tile.  u's come in an order in
  which the first forms seldom change, so that few of the bitmaps are joined anew for a u;
- an odd form is linear in v: the part of the outer bits, the same for the whole line, says at which count
  over the inner bits it vanishes.  Rows for four counts are made for each u and form, two forms jointly.
  A count without a row lets points pass whose product is 0, which is harmless.

What survives is multiplied.  Forms and components are as in :mod:`langford.methods.shifted`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba.extending import register_jitable

from langford.kernels.cpu.carry_save import add_words, make_room
from langford.kernels.cpu.compiled import kernel, part
from langford.kernels.cpu.ir import set_bits, trailing_zero_bits
from langford.methods.shifted.kernels.forms import (
    choose_windows,
    odd_coefficients,
    pair_rows,
    read_backwards,
    tile_values,
)
from langford.methods.shifted.kernels.patterns import WORD_BITS
from langford.methods.shifted.kernels.term import LOW_BITS, POINTS, fetch_early, multiply, store_factors
from langford.methods.shifted.kernels.vectors import (
    CHOICES,
    INNER_BITS,
    ROW_WORDS,
    STAGE,
    add_step,
    choose_rows,
    join_stage,
    scan_lines,
)

EXACT = 2.0**53
"""Products below it in size are exact in a float64."""
EXACT_BITS = int(np.float64(EXACT).view(np.int64))
MAGNITUDE = 2**63 - 1
"""All bits of a float64 but its sign; magnitudes are ordered as these integers are."""
BATCH = 512
"""Products kept before they are added: their sum stays below 2^62."""
DIGIT = 0xFFFFFFFF


@kernel
def without_gaps(mask, gaps):
    """A mask of elements, those that are not filled taken out; gaps from the highest."""
    for gap in gaps:
        mask = mask & ((1 << gap) - 1) | (mask >> (gap + 1)) << gap
    return mask


@part
def any_large(products, count):
    """Whether one of the first products is not exact; by its bits, without a branch."""
    bits, large = products.view(np.int64), 0
    for k in range(count):
        large |= (bits[k] & MAGNITUDE) >= EXACT_BITS
    return large != 0


@part
def add_product(factors, negative, limbs, residues):
    """Add the product of some small integers with the sign given, of any width, digit by digit."""
    digits = np.zeros(limbs.size, np.int64)
    digits[0] = 1
    for factor in factors:
        carry = 0
        for k in range(digits.size):
            carry += digits[k] * abs(np.int64(factor))
            digits[k] = carry & DIGIT
            carry >>= 32
    for k in range(digits.size):
        digit = -digits[k] if negative else digits[k]
        limbs[k] += digit
        residues[k & 1] += digit


@kernel
def add_batch(products, count, limbs, residues):
    """Add the first products to both numbers, each by a sum of its own; returns how many are not 0."""
    total = low = high = np.int64(0)
    survivors = 0
    for k in range(count):
        term = np.int64(products[k])
        total += term
        low += term & DIGIT
        high += term >> 32
        survivors += term != 0
    add_words(limbs, (total,), 0, 1, 1)
    residues[0] += low & DIGIT
    residues[1] += high + (low >> 32)
    return survivors


@register_jitable
def stages_of(evens: int) -> int:
    """In how many stages so many even forms are joined: STAGE in each but the last, which has up to MAX_STAGE."""
    return max(1, (evens + 1) // STAGE)


@cache
def build_tile_sum(lanes: int):
    """The kernel for at most ``lanes`` odd and as many even forms."""
    columns = lanes // 2
    low_rows, high_rows = 1 << LOW_BITS, 1 << INNER_BITS - LOW_BITS

    @kernel
    def tile_sum(u_block, tile, images, odd, patterns, limbs, residues, pending):
        """Add Σ (Π x_k) Π f_d / 4 over the block's u's and the tile's v's to limbs and residues.

        u_block, tile, odd: a ShiftedUBlock, ShiftedTile and OddMasks (langford.methods.shifted.tables).
        images: 1, or 2 for the tile's v's and then the same ones read backwards, which have the same even forms.
        patterns: a Patterns (shifted_patterns).
        limbs, residues: carry-save numbers; ``pending``: weight since their last spread.
        Returns (points whose product is not 0, pending).
        """
        words, evens, pairs = tile.beyond.size, u_block.rows.shape[1], (odd.forms + 1) // 2
        stages = stages_of(evens)
        inner_bits, lines = min(tile.bits, INNER_BITS), words // ROW_WORDS
        inner_mask = (1 << inner_bits) - 1
        plus, minus, values = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
        inner_plus, inner_minus = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
        start, bases, firsts = np.zeros(lanes, np.int8), np.zeros(lanes, np.int8), np.zeros(lanes, np.int64)
        low_counts, high_counts = np.zeros(2 * pairs, np.int64), np.zeros(2 * pairs, np.int64)
        steps = np.zeros(max(INNER_BITS, tile.bits) * lanes, np.int8)
        flat_evens, flat_keys = u_block.evens.reshape(-1), tile.keys.reshape(-1)
        outer = np.zeros(lines * lanes, np.int8)
        low, high = np.zeros(low_rows * lanes, np.int8), np.zeros(high_rows * lanes, np.int8)
        joint = np.zeros(pairs * CHOICES * CHOICES * ROW_WORDS, np.uint64)
        chosen = np.zeros(lines * columns, np.uint16)
        dead = np.zeros((stages + 1) * words, np.uint64)
        # Element by element: numba takes two seconds to compile how an array is assigned to a part of another one.
        for word in range(words):
            dead[word] = tile.beyond[word]
        table, flat_rows = tile.even_rows.reshape(-1), u_block.rows.reshape(-1)
        room = (1 << tile.bits) + words + ROW_WORDS + POINTS
        living, numbers, survivors = np.zeros(room, np.uint64), np.zeros(room, np.uint16), np.zeros(room, np.int64)
        products = np.zeros(BATCH)
        factors = np.zeros(2 * lanes, np.int8)
        evaluated = 0
        for turn in range(u_block.us.size * images):
            at = turn // images
            u = u_block.us[at]
            odd_sign = set_bits(np.uint64(u ^ tile.fixed))
            if turn % images == 0:
                # Even forms: the stages whose rows are not those of the u before.
                for stage in range(u_block.changed[at], stages):
                    first, joined = STAGE * stage, STAGE if stage < stages - 1 else evens - STAGE * stage
                    join_stage(dead, (stage + 1) * words, table, flat_rows, at * evens + first, words, joined)
                odd_coefficients(odd.masks, u, plus, minus, values, lanes)
            else:
                read_backwards(plus, odd.mirror, lanes)
                read_backwards(minus, odd.mirror, lanes)
            # Odd forms: tables of their values, and of the rows where they vanish.
            tile_values(start, steps, values, plus, minus, tile.fixed, odd.order, tile.bits, lanes)
            if odd.gaps.size:
                for f in range(lanes):
                    inner_plus[f] = (without_gaps(plus[f], odd.gaps) >> odd.inner) & inner_mask
                    inner_minus[f] = (without_gaps(minus[f], odd.gaps) >> odd.inner) & inner_mask
            else:
                for f in range(lanes):
                    inner_plus[f] = (plus[f] >> odd.inner) & inner_mask
                    inner_minus[f] = (minus[f] >> odd.inner) & inner_mask
            choose_windows(firsts, bases, start, plus, minus, inner_plus, inner_minus, tile.free, lanes)
            for f in range(2 * pairs):
                p, m = inner_plus[f], inner_minus[f]
                low_counts[f] = patterns.ternary[p & 63] + 2 * patterns.ternary[m & 63]
                high_counts[f] = patterns.ternary[p >> 6] + 2 * patterns.ternary[m >> 6]
            for pair in range(pairs):
                to, f, g = pair * CHOICES * CHOICES * ROW_WORDS, 2 * pair, 2 * pair + 1
                pair_rows(
                    joint, to, patterns.low, patterns.high, patterns.digits,
                    low_counts[f], high_counts[f], firsts[f], low_counts[g], high_counts[g], firsts[g],
                )  # fmt: skip
            for f in range(lanes):
                outer[f] = start[f]
            for bit in range(tile.bits - INNER_BITS):
                size = 1 << bit
                if size < 4:
                    for x in range(size):
                        add_step(outer, size + x, x, steps, INNER_BITS + bit, lanes, 1)
                else:
                    for x in range(0, size, 4):
                        add_step(outer, size + x, x, steps, INNER_BITS + bit, lanes, 4)
            for bit in range(LOW_BITS):
                size = 1 << bit
                for x in range(size):
                    add_step(low, size + x, x, steps, bit, lanes, 1)
            for bit in range(INNER_BITS - LOW_BITS):
                size = 1 << bit
                for x in range(size):
                    add_step(high, size + x, x, steps, LOW_BITS + bit, lanes, 1)
            if lines % 4:
                for line in range(lines):
                    choose_rows(chosen, outer, line, bases, lanes, 1)
            else:
                for line in range(0, lines, 4):
                    choose_rows(chosen, outer, line, bases, lanes, 4)
            # The filter.
            end = scan_lines(
                living, numbers, dead, stages * words, lines, joint, chosen, patterns.positions, pairs, lanes
            )
            # The survivors, one of each word in turn: without a branch that depends on the words.
            k = 0
            while k < end:
                number, word = np.int64(numbers[k]), living[k]
                survivors[k] = v = number << WORD_BITS | trailing_zero_bits(word)
                fetch_early(flat_keys, v, lanes)
                rest = word & (word - np.uint64(1))
                living[end], numbers[end] = rest, number
                end += rest != 0
                k += 1
            # Their products; what stands behind the last one is any v of the tile.
            survivors[end : end + POINTS] = 0
            for begin in range(0, end, BATCH):
                batch = survivors[begin:]
                count = min(BATCH, end - begin)
                for k in range(0, count, POINTS):
                    multiply(products, batch, k, outer, high, low, flat_keys, flat_evens, at, odd_sign, lanes)
                if any_large(products, count):
                    for k in range(count):
                        if abs(products[k]) >= EXACT:
                            store_factors(factors, outer, high, low, flat_keys, flat_evens, at, batch[k], lanes)
                            pending = make_room(limbs, residues, limbs.size, pending)
                            add_product(factors, products[k] < 0, limbs, residues)
                            products[k] = 0.0
                            evaluated += 1
                pending = make_room(limbs, residues, 1, pending)
                evaluated += add_batch(products, count, limbs, residues)
        return evaluated, pending

    return tile_sum
