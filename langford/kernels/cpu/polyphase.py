"""CPU kernel of the polyphase sum: one tile of v's against many u's.

A component (u or v) is an integer whose bits are signs (1 means −1) in *paired order*,
from the most significant bit: first element, last, second, second to last, …, centre.
Reversal then swaps neighbouring bits and every symmetry maps prefixes of even length to
prefixes, so that a prefix class is a closed set of components.

For one u, the odd sums of v are v times a matrix; two tables of partial rows (high bits and
low six bits of v) make them one vector addition.  A row holds, form by form, eight int16
lanes: the images (u,v), (ru,v), (u,rv), (ru,rv) and the same four after ``alt``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from langford.kernels.cpu.carry_save import add_words, make_room
from langford.kernels.cpu.ir import (
    I16,
    I32,
    I64,
    LANES,
    add_rows,
    add_to_state,
    element_pointer,
    halves,
    lane_sum,
    literal,
    load_vector,
    set_bits,
    sign_extend,
    trailing_zero_bits,
    widen,
)

LOW_BITS = 6
"""v's in one word of a bitmap; also the width of the low row table."""
BLOCK_BITS = 14
"""v's whose high rows are held in one table (2^8 rows, in the second-level cache)."""


# -- components and their symmetries ------------------------------------------------------


@njit(cache=True)
def reversed_component(component, length):
    """The component read backwards: neighbouring bits swapped, an odd centre bit kept."""
    even_bits = np.int64(0x2AAAAAAAAAAAAAAA)
    centre = np.int64(length & 1)
    pairs = component >> centre
    swapped = ((pairs & even_bits) >> 1) | ((pairs & (even_bits >> 1)) << 1)
    return (swapped << centre) | (component & centre)


@njit(cache=True)
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


@njit(cache=True)
def orbit(component, length, alternation, negation):
    """(smallest image, orbit size) under reversal, ``alternation`` and ``negation``.

    The last two are xor masks; 0 leaves that symmetry out.
    """
    backwards = reversed_component(component, length)
    images = np.empty(8, np.int64)
    for k in range(8):
        image = backwards if k & 1 else component
        images[k] = image ^ (alternation if k & 2 else 0) ^ (negation if k & 4 else 0)
    images.sort()
    size = 1
    for k in range(1, 8):
        size += images[k] != images[k - 1]
    return images[0], size


@njit(cache=True)
def prefix_classes(bits, alternation, negation):
    """(smallest prefix, orbit size) of every class of prefixes, ascending, int64[classes]."""
    smallest = np.empty(1 << bits, np.int64)
    sizes = np.empty(1 << bits, np.int64)
    kept = 0
    for prefix in range(1 << bits):
        first, size = orbit(prefix, bits, alternation, negation)
        if first == prefix:
            smallest[kept], sizes[kept] = prefix, size
            kept += 1
    return smallest[:kept], sizes[:kept]


@njit(cache=True)
def representatives(prefix, inner_bits, length, alternation, negation):
    """Representatives u ≥ ``prefix << inner_bits`` that share the prefix, with their weights.

    A representative is the smallest of its class under reversal and negation.
    Returns (component, class size, smallest image under alternation too), int64[·] each.
    """
    count = 1 << inner_bits
    found = np.empty(count, np.int64)
    weight = np.empty(count, np.int64)
    smallest = np.empty(count, np.int64)
    kept = 0
    for inner in range(count):
        component = (prefix << inner_bits) | inner
        first, size = orbit(component, length, 0, negation)
        if first == component:
            found[kept], weight[kept] = component, size
            smallest[kept] = orbit(component, length, alternation, negation)[0]
            kept += 1
    return found[:kept], weight[:kept], smallest[:kept]


# -- a tile of v's --------------------------------------------------------------------------


@njit(cache=True)
def tile_tables(first, bits, length, alternation, negation, shifts, strides):
    """What does not depend on u, for the 2^bits components from ``first``.

    Returns
        sizes: int64[classes], the orbit sizes that occur among representatives;
        members: uint64[classes, words], bit x set where first + x is a representative
            with that orbit size;
        rows: uint64[even, length + 1, words], bit x of row (i, y) set where v = first + x
            has Σ_k v_k v_{k+shifts[i]} = 2y − terms;
        keys: uint16[2^bits, pairs], index into the even tables of :func:`tile_sum`: the
            lags 2i and 2i+1 in mixed radix; key 0 also carries the sign Π_k v_k.
    """
    words = 1 << max(0, bits - LOW_BITS)
    evens, pairs = shifts.size, strides.size
    sizes = np.array([8, 4, 2, 1], np.int64)
    members = np.zeros((4, words), np.uint64)
    rows = np.zeros((evens, length + 1, words), np.uint64)
    keys = np.zeros((1 << bits, pairs), np.uint16)
    lag = np.zeros(evens + 1, np.int64)
    for x in range(1 << bits):
        v = first + x
        word, bit = x >> LOW_BITS, np.uint64(1) << np.uint64(x & 63)
        smallest, size = orbit(v, length, alternation, negation)
        if smallest != v:
            continue
        for c in range(4):
            if sizes[c] == size:
                members[c, word] |= bit
        natural = natural_order(v, length)
        for i in range(evens):
            terms = max(0, length - shifts[i])
            differing = (natural ^ (natural >> shifts[i])) & ((1 << terms) - 1)
            lag[i] = terms - set_bits(np.uint64(differing))
            rows[i, lag[i], word] |= bit
        for pair in range(pairs):
            key = lag[2 * pair] * strides[pair]
            if 2 * pair + 1 < evens:
                key += lag[2 * pair + 1]
            keys[x, pair] = 2 * key
        keys[x, 0] += set_bits(np.uint64(natural)) & 1
    present = np.zeros(4, np.bool_)
    for c in range(4):
        present[c] = np.any(members[c])
    return sizes[present], members[present], rows, keys


# -- one surviving pair ---------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def accumulate(typingctx, state, high, at, low, row, table, keys, key, stride, forms, parts, split, pairs, chains):
    """Add E · ΣO of one survivor to ``state`` (see :func:`ir.add_to_state`).

    The odd sums are high[at:] + low[row:], LANES int16 per form; forms are stored longest
    half first, then their partners (shortest last first), then a form without partner.
    ``parts`` int32 products make one lane's O; with ``split`` the lanes are summed in two
    halves of 32 bits, since eight O's can exceed 64 bits.  The even product E is the product of
    table[i·stride + keys[key + i]] over i < ``pairs``, in ``chains`` (1 or 2) int64 chains.
    """
    state = types.UniTuple(types.int64, len(state))
    signature = state(
        state, high, types.int64, low, types.int64, table, keys, types.int64, types.int64,
        forms, parts, split, pairs, chains,
    )
    shape = tuple(literal(value) for value in (forms, parts, split, pairs, chains))

    def emit(context, builder, sig, args):
        forms, parts, split, pairs, chains = shape
        width = 64 * (sig.return_type.count - 2)
        row_a = element_pointer(context, builder, sig.args[1], args[1], args[2])
        row_b = element_pointer(context, builder, sig.args[3], args[3], args[4])
        odd = _odd_sum(builder, row_a, row_b, forms, parts, split, width)
        cells = element_pointer(context, builder, sig.args[5], args[5], ir.Constant(I64, 0))
        picks = element_pointer(context, builder, sig.args[6], args[6], args[7])
        even = _even_product(builder, cells, picks, args[8], pairs, chains, width)
        return add_to_state(context, builder, sig.return_type, args[0], builder.mul(even, odd))

    return signature, emit


def _odd_sum(
    builder: Any, row_a: Any, row_b: Any, forms: int, parts: int, split: int, width: int
) -> Any:
    """Σ over the lanes of the product of all forms, as a wide integer."""

    def sums(form: int, count: int) -> Any:
        step = [ir.Constant(I64, form * LANES)]
        return builder.add(
            load_vector(builder, builder.gep(row_a, step), I16, count * LANES),
            load_vector(builder, builder.gep(row_b, step), I16, count * LANES),
        )

    couples = forms // 2
    factors = []
    for first in range(0, couples - 1, 2):
        product = builder.mul(sums(first, 2), sums(couples + first, 2))
        factors += [widen(builder, half, I32) for half in halves(builder, product)]
    if couples % 2:
        last = builder.mul(sums(couples - 1, 1), sums(2 * couples - 1, 1))
        factors.append(widen(builder, last, I32))
    if forms % 2:
        factors.append(widen(builder, sums(forms - 1, 1), I32))
    if not factors:
        return ir.Constant(ir.IntType(width), LANES)
    products = []
    for part in range(parts):
        product = factors[part]
        for factor in factors[part + parts :: parts]:
            product = builder.mul(product, factor)
        products.append(widen(builder, product, I64))
    left = products[0] if parts == 1 else builder.mul(products[0], products[1])
    if parts <= 2 and not split:
        return sign_extend(builder, lane_sum(builder, left), width)
    if parts <= 2:
        shift = ir.Constant(left.type, [32] * LANES)
        digit = ir.Constant(left.type, [0xFFFFFFFF] * LANES)
        high = sign_extend(builder, lane_sum(builder, builder.ashr(left, shift)), width)
        low = sign_extend(builder, lane_sum(builder, builder.and_(left, digit)), width)
        return builder.add(builder.shl(high, ir.Constant(high.type, 32)), low)
    right = products[2] if parts == 3 else builder.mul(products[2], products[3])
    total = ir.Constant(ir.IntType(width), 0)
    for lane in range(LANES):
        index = ir.Constant(I32, lane)
        factor_a = sign_extend(builder, builder.extract_element(left, index), width)
        factor_b = sign_extend(builder, builder.extract_element(right, index), width)
        total = builder.add(total, builder.mul(factor_a, factor_b))
    return total


def _even_product(builder: Any, cells: Any, picks: Any, stride: Any, pairs: int, chains: int, width: int) -> Any:
    """Product of one table cell per pair of even sums, as a wide integer."""
    products = []
    for chain in range(chains):
        product = None
        for pair in range(chain, pairs, chains):
            key = builder.zext(builder.load(builder.gep(picks, [ir.Constant(I64, pair)])), I64)
            index = builder.add(builder.mul(stride, ir.Constant(I64, pair)), key)
            cell = builder.sext(builder.load(builder.gep(cells, [index])), I64)
            product = cell if product is None else builder.mul(product, cell)
        products.append(sign_extend(builder, product, width))
    return products[0] if chains == 1 else builder.mul(products[0], products[1])


# -- the kernel -----------------------------------------------------------------------------


@njit(cache=True)
def coefficient_rows(natural, u_length, v_length, offset, odd, forms, alt_sign, rows, steps):
    """rows[bit, form·LANES + lane] (int16): what v's ``bit`` adds to an odd sum while it is 0.

    The sum of difference 2e+1 is Σ_j v_j (u_{j+offset−e} + u_{j+offset+e+1}); lanes 4–7
    subtract (``alt``), and ``alt_sign`` is multiplied into their first form.  ``steps`` is
    the change when the bit becomes 1.
    """
    pad = u_length + v_length + odd.max() if forms else 1
    signs = np.zeros((2, u_length + 2 * pad), np.int16)
    for k in range(u_length):
        sign = 1 - 2 * ((natural >> k) & 1)
        signs[0, pad + k] = sign
        signs[1, pad + u_length - 1 - k] = sign
    for bit in range(v_length):
        step = v_length - 1 - bit
        element = step >> 1 if step & 1 == 0 else v_length - 1 - (step >> 1)
        for form in range(forms):
            alt = alt_sign if form == 0 else 1
            for lane in range(4):
                position = pad + offset + (v_length - 1 - element if lane & 2 else element)
                before = signs[lane & 1, position - odd[form]]
                after = signs[lane & 1, position + odd[form] + 1]
                rows[bit, form * LANES + lane] = before + after
                rows[bit, form * LANES + lane + 4] = alt * (before - after)
        for k in range(forms * LANES):
            steps[bit, k] = -2 * rows[bit, k]


@njit(cache=True)
def even_tables(lags, shifts, lengths, strides, stride, table):
    """table[i·stride + 2·(y·strides[i] + z) + sign] = ± product of the halved even sums.

    y and z count the agreements of v at lags 2i and 2i+1; ``lags`` has u's sums.  Only
    table 0 has the sign.
    """
    for pair in range(strides.size):
        for y in range(lengths[2 * pair] + 1):
            left = (lags[2 * pair] + 2 * y - lengths[2 * pair]) // 2 if 2 * pair < shifts.size else 1
            for z in range(strides[pair]):
                cell = pair * stride + 2 * (y * strides[pair] + z)
                right = 1
                if 2 * pair + 1 < shifts.size:
                    right = (lags[2 * pair + 1] + 2 * z - lengths[2 * pair + 1]) // 2
                table[cell] = left * right
                table[cell + 1] = -left * right if pair == 0 else left * right


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
    zeros = (0,) * (words + 2)

    @njit(cache=True, nogil=True)
    def tile_sum(
        us, u_weights, u_limits, u_length,
        first, bits, v_length, sizes, members, rows, keys,
        odd, offset, alt_sign, shifts, lengths, strides, stride,
        limbs, residues, pending,
    ):
        block_bits = min(bits, BLOCK_BITS)
        rows_in_block = 1 << max(0, block_bits - LOW_BITS)
        evens = shifts.size
        by_bit = np.zeros((max(v_length, LOW_BITS), width), np.int16)
        steps = np.zeros((max(v_length, LOW_BITS), width), np.int16)
        flat_steps = steps.reshape(-1)
        high = np.zeros(rows_in_block * width, np.int16)
        low = np.zeros(width << LOW_BITS, np.int16)
        lags = np.zeros(evens + 1, np.int64)
        ruled_out = np.full(evens, -1, np.int64)
        table = np.zeros(pairs * stride, np.int32)
        dead = np.zeros(rows_in_block, np.uint64)
        flat_keys = keys.reshape(-1)
        survivors = 0
        for at in range(us.size):
            limit = u_limits[at] - first
            if limit < 0:
                continue
            natural = natural_order(us[at], u_length)
            coefficient_rows(
                natural, u_length, v_length, offset, odd, forms, alt_sign, by_bit, steps)
            for x in range(1, 1 << LOW_BITS):
                bit = trailing_zero_bits(np.uint64(x))
                add_rows(low, x * width, low, (x & (x - 1)) * width, flat_steps, bit * width, width)
            for i in range(evens):
                terms = max(0, u_length - shifts[i])
                differing = (natural ^ (natural >> shifts[i])) & ((1 << terms) - 1)
                lags[i] = terms - 2 * set_bits(np.uint64(differing))
                opposite = lengths[i] - lags[i]
                ruled_out[i] = opposite >> 1 if 0 <= opposite <= 2 * lengths[i] else -1
            even_tables(lags, shifts, lengths, strides, stride, table)
            sign = u_weights[at] * (1 - 2 * (set_bits(np.uint64(natural)) & 1))
            for block in range(1 << (bits - block_bits)):
                start = block << block_bits
                if start > limit:
                    break
                # Rows of the block's high bits; bits above the block are constant in it.
                for k in range(width):
                    high[k] = 0
                for bit in range(v_length):
                    minus = bit >= block_bits and ((first + start) >> bit) & 1
                    for k in range(width):
                        high[k] += -by_bit[bit, k] if minus else by_bit[bit, k]
                for x in range(1, rows_in_block):
                    bit = LOW_BITS + trailing_zero_bits(np.uint64(x))
                    add_rows(high, x * width, high, (x & (x - 1)) * width, flat_steps, bit * width, width)
                # v's whose even sum with u vanishes at some lag.
                words_before = start >> LOW_BITS
                dead[:] = 0
                for i in range(evens):
                    if ruled_out[i] >= 0:
                        row = rows[i, ruled_out[i], words_before : words_before + rows_in_block]
                        for w in range(rows_in_block):
                            dead[w] |= row[w]
                # Unordered pairs: v below u's class counts twice, v in it once, v above not.
                own_word = (limit - start) >> LOW_BITS
                own = np.uint64(1) << np.uint64(limit & 63)
                for c in range(sizes.size):
                    below = zeros
                    itself = zeros
                    for w in range(min(rows_in_block, own_word + 1)):
                        alive = members[c, words_before + w] & ~dead[w]
                        if w == own_word:
                            if alive & own:
                                survivors += 1
                                itself = accumulate(
                                    itself, high, w * width, low, (limit & 63) * width,
                                    table, flat_keys, limit * pairs, stride,
                                    forms, parts, split, pairs, chains)
                            alive &= own - np.uint64(1)
                        key = (start + (w << LOW_BITS)) * pairs
                        while alive:
                            bit = trailing_zero_bits(alive)
                            alive &= alive - np.uint64(1)
                            survivors += 1
                            below = accumulate(
                                below, high, w * width, low, bit * width,
                                table, flat_keys, key + bit * pairs, stride,
                                forms, parts, split, pairs, chains)
                    weight = sign * sizes[c]
                    pending = make_room(limbs, residues, 3 * abs(weight), pending)
                    add_words(limbs, below, 0, words, 2 * weight)
                    add_words(limbs, itself, 0, words, weight)
                    add_words(residues, below, words, 2, 2 * weight)
                    add_words(residues, itself, words, 2, weight)
        return survivors, pending

    return tile_sum
