"""CPU kernel of the polyphase sum: one tile of v's against many u's.

For one u, the odd sums of v are v times a matrix; two tables of partial rows (high bits and
low six bits of v) make them one vector addition.  A row holds, form by form, eight int16
lanes: the images (u,v), (ru,v), (u,rv), (ru,rv) and the same four after ``alt``.  The even
sums depend on autocorrelations alone: bitmaps rule out the v's with a vanishing one, tables
give the products of the others.  Components are as in :mod:`langford.methods.symmetries`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from langford.kernels.cpu.carry_save import add_words, make_room
from langford.kernels.cpu.compiled import kernel
from langford.kernels.cpu.ir import LANES, add_rows, set_bits, trailing_zero_bits
from langford.kernels.cpu.polyphase_term import accumulate

LOW_BITS = 6
"""v's in one word of a bitmap; also the width of the low row table."""
BLOCK_BITS = 14
"""v's whose high rows are held in one table (2^8 rows, in the second-level cache)."""


@kernel
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
    """Fill the tables of an empty Tile (langford.methods.polyphase.tables), which do not depend on u.

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


@kernel
def coefficient_rows(natural, odd, forms, rows, steps, signs):
    """Fill rows and steps, int16[v_length, forms·LANES] each.

    rows[bit, form·LANES + lane] is what v's ``bit`` adds to an odd sum while it is 0.

    The sum of difference 2e+1 is Σ_j v_j (u_{j+offset−e} + u_{j+offset+e+1}); lanes 4–7
    subtract (``alt``), and the sign of ``alt`` is multiplied into their first form.  ``steps`` is
    the change when the bit becomes 1.  odd: the OddForms.  signs: int16[2, u_length + 2·pad] for this
    function to write to, zeros at first; ``pad`` is OddForms.padding.
    """
    u_length, v_length, lags = odd.u_length, odd.v_length, odd.lags
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


@kernel
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


@kernel
def mark_dead(rows, ruled_out, first_word, dead):
    """Set the bits of all v's of a block that have a vanishing even sum with u."""
    dead[:] = 0
    for i in range(ruled_out.size):
        if ruled_out[i] >= 0:
            row = rows[i, ruled_out[i], first_word : first_word + dead.size]
            for word in range(dead.size):
                dead[word] |= row[word]


@kernel
def block_base(by_bit, block_bits, start, base):
    """base = row of the first v of a block: bits inside the block 0, those above as in start."""
    base[:] = 0
    for bit in range(by_bit.shape[0]):
        minus = bit >= block_bits and (start >> bit) & 1
        for k in range(base.size):
            base[k] += -by_bit[bit, k] if minus else by_bit[bit, k]


@kernel
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


@cache
def build_tile_sum(forms: int, parts: int, split: int, pairs: int, chains: int, words: int):
    """Compile-time shape → the kernel.

    Args:
        forms: number of odd differences.
        parts: int32 products that make the odd product (1 to 4).
        split: 1 when the sum of eight odd products can exceed 64 bits, else 0.
        pairs: number of tables of even sums.
        chains: int64 products that make the even product (1 or 2).
        words: 64-bit words of a tile's sum.
    """
    width = max(forms, 1) * LANES
    # As int64: a literal 0 would have add_words compiled for it, too.
    zeros = (np.int64(0),) * (words + 2)

    @kernel
    def tile_sum(u_block, tile, odd, even, scratch, limbs, residues, pending):
        """Add Σ f |H u| |K v| F(u, v) over the block's u's and the tile's v's to limbs and residues.

        u_block, tile, odd, even, scratch: a UBlock, Tile, OddForms, EvenTable and Scratch
            (langford.methods.polyphase.tables).
        limbs, residues: carry-save numbers; ``pending``: weight since their last spread.
        Returns (surviving pairs, pending).
        """
        u_length, bits = odd.u_length, tile.bits
        members, sizes = tile.members, tile.sizes
        block_bits = min(bits, BLOCK_BITS)
        words_in_block = 1 << max(0, block_bits - LOW_BITS)
        by_bit, steps, high, low = scratch.by_bit, scratch.steps, scratch.high, scratch.low
        lags, ruled_out, table, dead = scratch.lags, scratch.ruled_out, scratch.table, scratch.dead
        flat_steps, flat_keys = steps.reshape(-1), tile.keys.reshape(-1)
        survivors = 0
        for at in range(u_block.us.size):
            limit = u_block.limits[at] - tile.first
            natural = natural_order(u_block.us[at], u_length)
            sign = u_block.weights[at] * (1 - 2 * (set_bits(np.uint64(natural)) & 1))
            if limit < 0:
                continue
            # As a variable: compiled once for all numbers of forms.
            coefficient_rows(natural, odd, np.int64(forms), by_bit, steps, scratch.signs)
            # Row x is the row without x's lowest bit, plus that bit's step.  (Not a function of
            # its own: numba does not cache kernels that close over another one.)
            for x in range(1, 1 << LOW_BITS):
                bit = trailing_zero_bits(np.uint64(x))
                add_rows(low, x * width, low, (x & (x - 1)) * width, flat_steps, bit * width, width)
            autocorrelations(natural, u_length, even, lags, ruled_out)
            fill_even_table(lags, even, table)
            for block in range(1 << (bits - block_bits)):
                start = block << block_bits
                if start > limit:
                    break
                block_base(by_bit, block_bits, tile.first + start, high[:width])
                for x in range(1, words_in_block):
                    bit = LOW_BITS + trailing_zero_bits(np.uint64(x))
                    add_rows(high, x * width, high, (x & (x - 1)) * width, flat_steps, bit * width, width)
                first_word = start >> LOW_BITS
                mark_dead(tile.rows, ruled_out, first_word, dead)
                own_word = (limit - start) >> LOW_BITS
                own = np.uint64(1) << np.uint64(limit & 63)
                for c in range(sizes.size):
                    below = zeros
                    itself = zeros
                    for w in range(min(words_in_block, own_word + 1)):
                        alive = members[c, first_word + w] & ~dead[w]
                        key = (start + (w << LOW_BITS)) * pairs
                        if w == own_word:
                            if alive & own:
                                survivors += 1
                                bit = limit & 63
                                itself = accumulate(
                                    itself, high, w * width, low, bit * width, table, flat_keys, key + bit * pairs,
                                    forms, parts, split, pairs, chains,
                                )  # fmt: skip
                            alive &= own - np.uint64(1)
                        while alive:
                            bit = trailing_zero_bits(alive)
                            alive &= alive - np.uint64(1)
                            survivors += 1
                            below = accumulate(
                                below, high, w * width, low, bit * width, table, flat_keys, key + bit * pairs,
                                forms, parts, split, pairs, chains,
                            )  # fmt: skip
                    weight = sign * sizes[c]
                    pending = make_room(limbs, residues, 3 * abs(weight), pending)
                    add_words(limbs, below, 0, words, 2 * weight)
                    add_words(limbs, itself, 0, words, weight)
                    add_words(residues, below, words, 2, 2 * weight)
                    add_words(residues, itself, words, 2, weight)
        return survivors, pending

    return tile_sum
