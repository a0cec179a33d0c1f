"""CPU kernel of the polyphase sum: one tile of v's against many u's.

For one u, the odd sums of v are v times a matrix; two tables of partial rows (high bits and
low six bits of v) make them one vector addition.  A row holds, form by form, eight int16
lanes: the images (u,v), (ru,v), (u,rv), (ru,rv) and the same four after ``alt``.  The even
sums depend on autocorrelations alone: bitmaps rule out the v's with a vanishing one, tables
give the products of the others.  Components are as in :mod:`langford.kernels.symmetries`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import types

from langford.kernels.cpu.carry_save import add_words, make_room
from langford.kernels.cpu.compiled import callback, kernel, part
from langford.kernels.cpu.ir import LANES, add_rows, call_by_address, set_bits, trailing_zero_bits
from langford.methods.polyphase.kernels.term import accumulate

LOW_BITS = 6
"""v's in one word of a bitmap; also the width of the low row table."""
BLOCK_BITS = 14
"""v's whose high rows are held in one table (2^8 rows, in the second-level cache)."""


@part
def natural_order(component, length):
    """Bits of a component with element k at bit k."""
    natural = np.int64(0)
    front, back = 0, length - 1
    for step in range(length):
        bit = (component >> (length - 1 - step)) & 1
        if step & 1:
            natural |= bit << back
            back -= 1
        else:
            natural |= bit << front
            front += 1
    return natural


@kernel
def fill_tile(tile, lags, components, orbit_sizes, length, even):
    """Fill the tables of an empty PolyphaseTile (langford.methods.polyphase.tables), which do not depend on u.

    tile: with members of every size.
    lags: int64[evens + 1], for this function to write to.
    components: int64[2^bits], the v's.
    orbit_sizes: int64[2^bits], the sizes of the representatives' orbits, 0 for other components.
    even: an EvenTable.
    """
    members, rows, keys, sizes = tile.members, tile.rows, tile.keys, tile.sizes
    shifts, strides, offsets = even.shifts, even.strides, even.offsets
    evens, pairs = shifts.size, strides.size
    for x in range(components.size):
        if not orbit_sizes[x]:
            continue
        word, bit = x >> LOW_BITS, np.uint64(1) << np.uint64(x & 63)
        for c in range(sizes.size):
            if sizes[c] == orbit_sizes[x]:
                members[c, word] |= bit
        natural = natural_order(components[x], length)
        for i in range(evens):
            terms = max(0, length - shifts[i])
            differing = (natural ^ (natural >> shifts[i])) & ((1 << terms) - 1)
            lags[i] = terms - set_bits(np.uint64(differing))
            rows[i, lags[i], word] |= bit
        for pair in range(pairs):
            key = lags[2 * pair] * strides[pair]
            if 2 * pair + 1 < evens:
                key += lags[2 * pair + 1]
            keys[x, pair] = offsets[pair] + key
        keys[x, 0] += offsets[1] // 2 * (set_bits(np.uint64(natural)) & 1)


@part
def coefficient_rows(natural, odd, rows, steps, signs):
    """Fill rows and steps, int16[v_length, forms·LANES] each.

    rows[bit, form·LANES + lane] is what v's ``bit`` adds to an odd sum while it is 0.

    The sum of difference 2e+1 is Σ_j v_j (u_{j+offset−e} + u_{j+offset+e+1}); lanes 4–7
    subtract (``alt``), and the sign of ``alt`` is multiplied into their first form.  ``steps`` is
    the change when the bit becomes 1.  odd: the OddLags.  signs: int16[2, u_length + 2·pad] for this
    function to write to, zeros at first; ``pad`` is OddLags.padding.
    """
    u_length, v_length, lags, forms = odd.u_length, odd.v_length, odd.lags, odd.lags.size
    pad = (signs.shape[1] - u_length) // 2
    for k in range(u_length):
        sign = 1 - 2 * ((natural >> k) & 1)
        signs[0, pad + k] = sign
        signs[1, pad + u_length - 1 - k] = sign
    for bit in range(v_length):
        step = v_length - 1 - bit
        element = step >> 1 if step & 1 == 0 else v_length - 1 - (step >> 1)
        for form in range(forms):
            alt = odd.alt_sign if form == 0 else 1
            for lane in range(4):
                position = pad + odd.offset + (v_length - 1 - element if lane & 2 else element)
                before = signs[lane & 1, position - lags[form]]
                after = signs[lane & 1, position + lags[form] + 1]
                rows[bit, form * LANES + lane] = before + after
                rows[bit, form * LANES + lane + 4] = alt * (before - after)
        for k in range(forms * LANES):
            steps[bit, k] = -2 * rows[bit, k]


@part
def autocorrelations(natural, u_length, even, lags, ruled_out):
    """Fill lags and ruled_out, int64[evens] each, from the EvenTable.

    lags[i] is a_e(u) for e = shifts[i]; ruled_out[i] is the number of agreements of v at which the
    even sum a_e(u) + a_e(v) vanishes, −1 where it cannot.
    """
    shifts, lengths = even.shifts, even.lengths
    for i in range(shifts.size):
        terms = max(0, u_length - shifts[i])
        differing = (natural ^ (natural >> shifts[i])) & ((1 << terms) - 1)
        lags[i] = terms - 2 * set_bits(np.uint64(differing))
        opposite = lengths[i] - lags[i]
        ruled_out[i] = opposite >> 1 if 0 <= opposite <= 2 * lengths[i] else -1


@part
def mark_dead(rows, ruled_out, first_word, dead):
    """Set the bits of all v's of a block that have a vanishing even sum with u."""
    dead[:] = 0
    for i in range(ruled_out.size):
        if ruled_out[i] >= 0:
            row = rows[i, ruled_out[i], first_word : first_word + dead.size]
            for word in range(dead.size):
                dead[word] |= row[word]


@part
def block_base(by_bit, block_bits, start, base):
    """base = row of the first v of a block: bits inside the block 0, those above as in start."""
    base[:] = 0
    for bit in range(by_bit.shape[0]):
        minus = bit >= block_bits and (start >> bit) & 1
        for k in range(base.size):
            base[k] += -by_bit[bit, k] if minus else by_bit[bit, k]


@part
def fill_even_table(lags, even, table):
    """Fill the table of one u, int32[cells].

    table[offsets[i] + y·strides[i] + z] is the product of the halved even sums 2i and 2i+1.

    y and z count the agreements of v at the two lags; ``lags`` has u's sums.  Pair 0 comes
    twice, the second time negated, for v's with Π_k v_k = −1.  even: the EvenTable.
    """
    shifts, lengths, strides, offsets = even.shifts, even.lengths, even.strides, even.offsets
    for pair in range(strides.size):
        for y in range(lengths[2 * pair] + 1):
            left = (lags[2 * pair] + 2 * y - lengths[2 * pair]) // 2 if 2 * pair < shifts.size else 1
            for z in range(strides[pair]):
                right = 1
                if 2 * pair + 1 < shifts.size:
                    right = (lags[2 * pair + 1] + 2 * z - lengths[2 * pair + 1]) // 2
                table[offsets[pair] + y * strides[pair] + z] = left * right
    for cell in range(offsets[1] // 2):
        table[offsets[1] // 2 + cell] = -table[cell]


_INDEX, _WORDS, _ROWS, _LIMBS = types.int64, *map(types.CPointer, (types.uint64, types.int16, types.int64))
BLOCK_SUM = _INDEX(
    _WORDS, _INDEX, _WORDS, _INDEX, _INDEX, _ROWS, _ROWS, types.CPointer(types.int32), types.CPointer(types.uint16),
    _INDEX, _INDEX, _LIMBS, _LIMBS,
)  # fmt: skip
JOIN_ROWS = _INDEX(_ROWS, _INDEX, _ROWS, _INDEX)
_block_sum, _join_rows = call_by_address(BLOCK_SUM), call_by_address(JOIN_ROWS)


@cache
def build_parts(forms: int, parts: int, split: int, pairs: int, chains: int, words: int):
    """Compile (join_rows, block_sum), the parts that depend on how wide a problem's numbers are.

    Args:
        forms: number of odd differences.
        parts: int32 products that make the odd product (1 to 4).
        split: 1 when the sum of eight odd products can exceed 64 bits, else 0.
        pairs: number of tables of even sums.
        chains: int64 products that make the even product (1 or 2).
        words: 64-bit words of a tile's sum.
    """
    width = max(forms, 1) * LANES
    zeros = (0,) * (words + 2)

    @callback(JOIN_ROWS)
    def join_rows(rows, count, steps, first):
        """Row x of a table is the row without x's lowest bit, plus that bit's step, bit 0's being ``first``."""
        for x in range(1, count):
            step = (first + trailing_zero_bits(np.uint64(x))) * width
            add_rows(rows, x * width, rows, (x & (x - 1)) * width, steps, step, width)
        return count

    @callback(BLOCK_SUM)
    def block_sum(
        members, first_word, dead, words_in_block, limit, high, low, table, keys, first_key, weight, limbs, residues
    ):
        """Add weight · Σ E · ΣO over the v's of a block, those below ``limit`` twice and the one equal to it once.

        members: from ``first_word`` on; high, low, table: of this u; keys: from ``first_key`` on.
        Returns the surviving v's.
        """
        below = zeros
        itself = zeros
        survivors = 0
        own_word, own = limit >> LOW_BITS, np.uint64(1) << np.uint64(limit & 63)
        for w in range(min(words_in_block, own_word + 1)):
            alive = members[first_word + w] & ~dead[w]
            key = first_key + (w << LOW_BITS) * pairs
            if w == own_word:
                if alive & own:
                    survivors += 1
                    bit = limit & 63
                    itself = accumulate(
                        itself, high, w * width, low, bit * width, table, keys, key + bit * pairs,
                        forms, parts, split, pairs, chains,
                    )  # fmt: skip
                alive &= own - np.uint64(1)
            while alive:
                bit = trailing_zero_bits(alive)
                alive &= alive - np.uint64(1)
                survivors += 1
                below = accumulate(
                    below, high, w * width, low, bit * width, table, keys, key + bit * pairs,
                    forms, parts, split, pairs, chains,
                )  # fmt: skip
        add_words(limbs, below, 0, words, 2 * weight)
        add_words(limbs, itself, 0, words, weight)
        add_words(residues, below, words, 2, 2 * weight)
        add_words(residues, itself, words, 2, weight)
        return survivors

    return join_rows, block_sum


@kernel
def tile_sum(join_rows, block_sum, u_block, tile, odd, even, scratch, limbs, residues, pending):
    """Add Σ f |H u| |K v| F(u, v) over the block's u's and the tile's v's to limbs and residues.

    join_rows, block_sum: addresses of the functions of :func:`build_parts`.
    u_block, tile, odd, even, scratch: a PolyphaseUBlock, PolyphaseTile, OddLags, EvenTable and Scratch
        (langford.methods.polyphase.tables).
    limbs, residues: carry-save numbers; ``pending``: weight since their last spread.
    Returns (surviving pairs, pending).
    """
    u_length, bits, sizes = odd.u_length, tile.bits, tile.sizes
    block_bits = min(bits, BLOCK_BITS)
    by_bit, steps, high, low = scratch.by_bit, scratch.steps, scratch.high, scratch.low
    lags, ruled_out, table, dead = scratch.lags, scratch.ruled_out, scratch.table, scratch.dead
    members, flat_steps, flat_keys = tile.members.reshape(-1), steps.reshape(-1), tile.keys.reshape(-1)
    words, width, pairs = tile.members.shape[1], steps.shape[1], tile.keys.shape[1]
    survivors = 0
    for at in range(u_block.us.size):
        limit = u_block.limits[at] - tile.first
        natural = natural_order(u_block.us[at], u_length)
        sign = u_block.weights[at] * (1 - 2 * (set_bits(np.uint64(natural)) & 1))
        if limit < 0:
            continue
        coefficient_rows(natural, odd, by_bit, steps, scratch.signs)
        _join_rows(join_rows, low, 1 << LOW_BITS, flat_steps, 0)
        autocorrelations(natural, u_length, even, lags, ruled_out)
        fill_even_table(lags, even, table)
        for block in range(1 << (bits - block_bits)):
            start = block << block_bits
            if start > limit:
                break
            block_base(by_bit, block_bits, tile.first + start, high[:width])
            _join_rows(join_rows, high, dead.size, flat_steps, LOW_BITS)
            mark_dead(tile.rows, ruled_out, start >> LOW_BITS, dead)
            for c in range(sizes.size):
                weight = sign * sizes[c]
                pending = make_room(limbs, residues, 3 * abs(weight), pending)
                first_word = c * words + (start >> LOW_BITS)
                survivors += _block_sum(
                    block_sum, members, first_word, dead, dead.size, limit - start, high, low, table, flat_keys,
                    start * pairs, weight, limbs, residues,
                )  # fmt: skip
    return survivors, pending
