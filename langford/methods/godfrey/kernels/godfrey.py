"""CPU kernel of Godfrey's sum: Gray-code order, packed sums, carry-save accumulation.

The sums S_d of one point are bytes of int64 words, eight sums to a word, each biased by
BIAS = 64 (so |S_d| ≤ 63: rows up to 64 places).  Sums of an even number of terms, which
alone can vanish, come first, in words of their own; unused bytes hold the sum 1.

Flipping place k changes S_d by −2 x_k (x_{k−d} + x_{k+d}).  For the *block* variables (as
many as fit the first-level cache) the part that depends on block variables alone is a
table over the Gray sequence; the part from all other places is one packed vector for each
block variable and sign, which changes only when another variable flips.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from langford.kernels.cpu.carry_save import make_room
from langford.kernels.cpu.compiled import kernel, part
from langford.kernels.cpu.ir import (
    I16,
    I64,
    element_pointer,
    halves,
    literal,
    sign_extend,
    split_words,
    trailing_zero_bits,
    widen,
)

BIAS = 64
LANES = 8
_ONES = 0x0101010101010101
_BIASES = BIAS * _ONES
_DIGIT = 0xFFFFFFFF


@intrinsic(prefer_literal=True)
def advance(typingctx, sums, deltas, at, contributions, row):
    """Packed sums + deltas[at:] + contributions[row:], word by word."""
    sums = types.UniTuple(types.int64, len(sums))
    signature = sums(sums, deltas, types.int64, contributions, types.int64)

    def emit(context, builder, sig, args):
        own = element_pointer(context, builder, sig.args[1], args[1], args[2])
        others = element_pointer(context, builder, sig.args[3], args[3], args[4])
        moved = []
        for k, word in enumerate(cgutils.unpack_tuple(builder, args[0])):
            step = [ir.Constant(I64, k)]
            delta = builder.add(builder.load(builder.gep(own, step)), builder.load(builder.gep(others, step)))
            moved.append(builder.add(word, delta))
        return context.make_tuple(builder, sig.return_type, moved)

    return signature, emit


@intrinsic(prefer_literal=True)
def survives(typingctx, sums, vanishing):
    """Whether no sum in the first ``vanishing`` words is zero."""
    count = literal(vanishing)
    sums = types.UniTuple(types.int64, len(sums))

    def emit(context, builder, sig, args):
        high_bits = ir.Constant(I64, 0x80 * _ONES)
        all_set = high_bits
        for word in cgutils.unpack_tuple(builder, args[0])[:count]:
            # Biased bytes are below 128: adding 127 to byte xor bias sets bit 7 unless 0.
            differs = builder.xor(word, ir.Constant(I64, _BIASES))
            all_set = builder.and_(all_set, builder.add(differs, ir.Constant(I64, 0x7F * _ONES)))
        return builder.icmp_unsigned("==", all_set, high_bits)

    return types.boolean(sums, vanishing), emit


@intrinsic(prefer_literal=True)
def add_product(typingctx, state, sums, sum_bits, words, fold):
    """Add the product of all packed sums, each ``fold`` times, to ``state``, the tuple (limbs…, residue words ×2).

    Each |sum| is below 2^sum_bits; the product takes ``words`` 64-bit words.  The limbs are
    carry-save (:mod:`langford.arithmetic.limbs`), two for each word; no carry is spread.
    The residue part adds the words in 128 bits, see :func:`ir.add_to_state`.
    """
    state = types.UniTuple(types.int64, len(state))
    sums = types.UniTuple(types.int64, len(sums))
    bits, width, times = literal(sum_bits), 64 * literal(words), literal(fold)

    def emit(context, builder, sig, args):
        packed = cgutils.unpack_tuple(builder, args[1])
        term = _product(builder, [_unpack(builder, word) for word in packed] * times, bits, width)
        members = cgutils.unpack_tuple(builder, args[0])
        pieces = split_words(builder, term)
        digit = ir.Constant(I64, _DIGIT)
        shift = ir.Constant(I64, 32)
        limbs = []
        for k, word in enumerate(pieces):
            limbs.append(builder.add(members[2 * k], builder.and_(word, digit)))
            top = k == len(pieces) - 1
            high = builder.ashr(word, shift) if top else builder.lshr(word, shift)
            limbs.append(builder.add(members[2 * k + 1], high))
        residue = members[-2:]
        # Low words as unsigned digits and the signed top word, each in its own register pair.
        low, high = residue
        for word in pieces:
            low = builder.add(low, builder.and_(word, digit))
        for word in pieces[:-1]:
            high = builder.add(high, builder.lshr(word, shift))
        high = builder.add(high, builder.ashr(pieces[-1], shift))
        return context.make_tuple(builder, sig.return_type, [*limbs, low, high])

    return state(state, sums, sum_bits, words, fold), emit


def _unpack(builder: Any, word: Any) -> Any:
    """<8 x i16> of the sums in one packed word."""
    biased = builder.bitcast(word, ir.VectorType(ir.IntType(8), LANES))
    wide = builder.zext(biased, ir.VectorType(I16, LANES))
    return builder.sub(wide, ir.Constant(wide.type, [BIAS] * LANES))


def _product(builder: Any, vectors: list[Any], bits: int, width: int) -> Any:
    """Product of every lane of every vector; lanes widen only when a product needs it."""
    while len(vectors) > 1 or vectors[0].type.count > 2:
        element = vectors[0].type.element.width
        if 2 * bits >= element:
            if element == 64:
                break
            vectors = [widen(builder, vector, ir.IntType(2 * element)) for vector in vectors]
            continue
        if len(vectors) == 1:
            vectors = list(halves(builder, vectors[0]))
        pairs = [builder.mul(a, b) for a, b in zip(vectors[::2], vectors[1::2], strict=False)]
        vectors = pairs + vectors[2 * len(pairs) :]
        bits *= 2
    total = None
    for vector in vectors:
        for lane in range(vector.type.count):
            value = builder.extract_element(vector, ir.Constant(ir.IntType(32), lane))
            value = sign_extend(builder, value, width)
            total = value if total is None else builder.mul(total, value)
    return total


@cache
def build_gray_sum(sum_words: int, vanishing: int, sum_bits: int, words: int, fold: int):
    """Compile-time shape → the kernel.

    Args:
        sum_words: int64 words of packed sums, the first ``vanishing`` of which can be zero.
        sum_bits: every |S_d| < 2^sum_bits.
        words: 64-bit words of one product.
        fold: how often each sum is a factor.
    """
    zeros = (0,) * (2 * words + 2)

    @kernel
    def gray_sum(point, free, block, limbs, residues):
        """Sum over all signs of the ``free`` places and of the block's, each starting at +1.

        point: a Point, where the sum starts; its signs are changed.
        free: int64[·], positions in the signs.
        block: a GrayBlock (langford.methods.godfrey.tables).
        limbs, residues: carry-save results, added to.
        Returns the number of points whose product was taken.
        """
        signs, links, current = point.signs, point.links, point.sums.copy()
        places, sequence, deltas = block.places, block.sequence, block.deltas
        contributions = np.zeros(2 * places.size * sum_words, np.int64)
        sign = 1
        for position in range(signs.size):
            if signs[position] < 0:
                sign = -sign
        survivors = 0
        pending = 0
        for outer in range(1 << free.size):
            if outer:
                position = free[trailing_zero_bits(np.uint64(outer))]
                flip(signs, links, position, current)
                sign = -sign
            block_contributions(signs, links, places, sum_words, contributions)
            plus = zeros
            minus = zeros
            state = as_tuple(current, sum_words)
            for step in range(0, 1 << places.size, 2):
                if step:
                    state = advance(state, deltas, step * sum_words, contributions, sequence[step] * sum_words)
                if survives(state, vanishing):
                    survivors += 1
                    plus = add_product(plus, state, sum_bits, words, fold)
                if places.size:
                    state = advance(
                        state, deltas, (step + 1) * sum_words, contributions, sequence[step + 1] * sum_words
                    )
                    if survives(state, vanishing):
                        survivors += 1
                        minus = add_product(minus, state, sum_bits, words, fold)
            # Each limb of plus and minus is a sum of at most 2^block · words digits.
            weight = 2 * words << places.size
            pending = make_room(limbs, residues, weight, pending)
            for k in range(2 * words):
                limbs[k] += sign * (plus[k] - minus[k])
            for k in range(2):
                residues[k] += sign * (plus[2 * words + k] - minus[2 * words + k])
        return survivors

    return gray_sum


@intrinsic(prefer_literal=True)
def as_tuple(typingctx, array, count):
    """The first ``count`` elements of an int64 array as a tuple."""
    members = types.UniTuple(types.int64, literal(count))

    def emit(context, builder, sig, args):
        first = element_pointer(context, builder, sig.args[0], args[0], ir.Constant(I64, 0))
        loaded = [builder.load(builder.gep(first, [ir.Constant(I64, k)])) for k in range(sig.return_type.count)]
        return context.make_tuple(builder, sig.return_type, loaded)

    return members(array, count), emit


@part
def flip(signs, links, position, sums):
    """Flip one place and update the packed sums."""
    for d in range(1, links.size):
        if links[d] >= 0:
            change = -2 * signs[position] * (signs[position - d] + signs[position + d])
            sums[links[d] >> 3] += change << (8 * (links[d] & 7))
    signs[position] = -signs[position]


@part
def block_contributions(signs, links, block, sum_words, contributions):
    """Rows 2k and 2k+1: packed change of the sums when block variable k flips from +1 and
    from −1, by the places outside the block."""
    inside = np.zeros(signs.size, np.int64)
    for k in range(block.size):
        inside[block[k]] = 1
    contributions[:] = 0
    for k in range(block.size):
        for d in range(1, links.size):
            if links[d] >= 0:
                before, after = block[k] - d, block[k] + d
                outside = signs[before] * (1 - inside[before]) + signs[after] * (1 - inside[after])
                change = (-2 * outside) << (8 * (links[d] & 7))
                contributions[2 * k * sum_words + (links[d] >> 3)] += change
                contributions[(2 * k + 1) * sum_words + (links[d] >> 3)] -= change


@kernel
def block_sequence(places, links, block, sum_words):
    """The precomputed part of the Gray sequence, from all block variables at +1.

    Returns (sequence, deltas) of :func:`build_gray_sum`'s kernel.
    """
    signs = np.zeros(places + 2 * (links.size - 1), np.int64)
    for k in range(block.size):
        signs[block[k]] = 1
    steps = 1 << block.size
    sequence = np.zeros(steps, np.int64)
    deltas = np.zeros((steps, sum_words), np.int64)
    for step in range(1, steps):
        variable = trailing_zero_bits(np.uint64(step))
        sequence[step] = 2 * variable + (signs[block[variable]] < 0)
        flip(signs, links, block[variable], deltas[step])
    return sequence, deltas.reshape(-1)
