"""The odd forms of the shifted sum at one u, all at once, as LLVM IR (:mod:`langford.kernels.cpu.ir`).

Each array here has an entry for every *lane*: one odd form, or none.  A lane without a form has no elements and
the value 1.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from langford.kernels.cpu.ir import I64, element_pointer, literal, load_vector
from langford.methods.shifted.kernels.vectors import CHOICES, I8, ROW, ROW_WORDS, WINDOW, load_row, splat, store

F64 = ir.DoubleType()
PLANES = 4
"""Binary digits of a count over the inner bits."""


def _at(context: Any, builder: Any, array_type: Any, array: Any, index: int = 0) -> Any:
    return element_pointer(context, builder, array_type, array, ir.Constant(I64, index))


def _all(value: Any, like: Any) -> Any:
    """The same constant in every lane of a type."""
    return ir.Constant(like, [value] * like.count)


def _set_bits(builder: Any, vector: Any) -> Any:
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(vector.type, [vector.type]), f"llvm.ctpop.v{vector.type.count}i64"
    )
    return builder.call(function, [vector])


@intrinsic(prefer_literal=True)
def odd_coefficients(typingctx, masks, u, plus, minus, values, lanes):
    """Each odd form at a u, as a function of v: the elements of v that add 1 to it where they are −1, those that
    subtract 1, and its value where all elements are +1.

    masks: int64[7 · lanes], see langford.methods.shifted.tables.OddMasks; plus, minus, values: int64[lanes].
    """
    columns = literal(lanes)
    signature = types.void(masks, types.int64, plus, minus, values, lanes)

    def emit(context, builder, sig, args):
        lags, left, right, negative, u_once, u_negative, constants = (
            load_vector(builder, _at(context, builder, sig.args[0], args[0], k * columns), I64, columns)
            for k in range(7)
        )
        ones, one = _all(-1, lags.type), _all(1, lags.type)
        us = splat(builder, args[1], columns)

        def neighbour(shifted: Any, present: Any) -> Any:
            missing = builder.and_(negative, builder.xor(present, ones))
            return builder.or_(builder.and_(shifted, present), missing)

        before = neighbour(builder.shl(us, lags), left)
        after = neighbour(builder.lshr(us, builder.add(lags, one)), right)
        plus = builder.and_(before, after)
        minus = builder.and_(builder.or_(left, right), builder.xor(builder.or_(before, after), ones))
        ends = builder.sub(_set_bits(builder, minus), _set_bits(builder, plus))
        opposite = _set_bits(builder, builder.and_(builder.xor(us, u_negative), u_once))
        linear = builder.sub(_set_bits(builder, u_once), builder.shl(opposite, one))
        total = builder.add(builder.add(builder.shl(ends, one), linear), constants)
        for k, vector in ((2, plus), (3, minus), (4, builder.ashr(total, _all(2, total.type)))):
            store(builder, vector, _at(context, builder, sig.args[k], args[k]), 8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def read_backwards(typingctx, masks, mirror, lanes):
    """Masks of elements with element k in the place of element mirror − k; int64[lanes], changed."""
    columns = literal(lanes)
    signature = types.void(masks, types.int64, lanes)

    def emit(context, builder, sig, args):
        pointer = _at(context, builder, sig.args[0], args[0])
        vector = load_vector(builder, pointer, I64, columns)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector.type, [vector.type]), f"llvm.bitreverse.v{columns}i64"
        )
        distance = splat(builder, builder.sub(ir.Constant(I64, 63), args[1]), columns)
        store(builder, builder.lshr(builder.call(function, [vector]), distance), pointer, 8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def tile_values(typingctx, start, steps, values, plus, minus, fixed, order, bits, lanes):
    """The forms' values where all free bits of a tile are 0, and what each bit adds.

    start: int8[lanes], steps: int8[bits · lanes], both written; values, plus, minus: of odd_coefficients.
    fixed: the elements that are −1 in the whole tile; order: int64, the element of each bit.
    """
    columns = literal(lanes)
    index = types.int64
    signature = types.void(start, steps, values, plus, minus, index, order, index, lanes)

    def emit(context, builder, sig, args):
        base, plus, minus = (
            load_vector(builder, _at(context, builder, sig.args[k], args[k]), I64, columns) for k in (2, 3, 4)
        )
        fixed = splat(builder, args[5], columns)
        change = builder.sub(
            _set_bits(builder, builder.and_(fixed, plus)), _set_bits(builder, builder.and_(fixed, minus))
        )
        small = ir.VectorType(I8, columns)
        first = builder.trunc(builder.add(base, change), small)
        store(builder, first, _at(context, builder, sig.args[0], args[0]), 1)
        elements = _at(context, builder, sig.args[6], args[6])
        target = _at(context, builder, sig.args[1], args[1])
        with cgutils.for_range(builder, args[7]) as loop:
            element = splat(builder, builder.load(builder.gep(elements, [loop.index])), columns)
            up, down = (builder.and_(builder.lshr(mask, element), _all(1, mask.type)) for mask in (plus, minus))
            step = builder.trunc(builder.sub(up, down), small)
            row = builder.mul(loop.index, ir.Constant(I64, columns))
            store(builder, step, builder.gep(target, [row]), 1)
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def choose_windows(typingctx, firsts, bases, start, plus, minus, inner_plus, inner_minus, free, lanes):
    """The first of WINDOW counts over the inner bits that is worth a row, for each form.

    firsts: int64[lanes] and bases: int8[lanes], both written: the row of a window is bases − the form's value
    where the inner bits are 0.  inner_plus, inner_minus: int64[lanes], the inner elements alone; free: all that
    differ in the tile.
    """
    columns = literal(lanes)
    signature = types.void(firsts, bases, start, plus, minus, inner_plus, inner_minus, types.int64, lanes)

    def emit(context, builder, sig, args):
        plus, minus, inner_plus, inner_minus = (
            load_vector(builder, _at(context, builder, sig.args[k], args[k]), I64, columns) for k in (3, 4, 5, 6)
        )
        start = load_vector(builder, _at(context, builder, sig.args[2], args[2]), I8, columns)
        free, real = splat(builder, args[7], columns), ir.VectorType(F64, columns)

        def number(vector: Any) -> Any:
            return builder.sitofp(vector, real)

        up, down = _set_bits(builder, inner_plus), _set_bits(builder, inner_minus)
        outer_up = builder.sub(_set_bits(builder, builder.and_(plus, free)), up)
        outer_down = builder.sub(_set_bits(builder, builder.and_(minus, free)), down)
        inner, outer = builder.add(up, down), builder.add(outer_up, outer_down)
        value = builder.sext(start, plus.type)
        # The mean over the outer bits of the count at which the form vanishes.
        half = _all(0.5, real)
        drift = builder.fmul(half, number(builder.sub(outer_up, outer_down)))
        needed = builder.fsub(number(builder.sub(down, value)), drift)
        both = builder.add(inner, outer)
        terms = builder.select(builder.icmp_signed(">", both, _all(0, both.type)), both, _all(1, both.type))
        spread = builder.fmul(half, number(builder.mul(inner, outer)))
        weighted = builder.fadd(spread, builder.fmul(needed, number(inner)))
        likely = builder.fdiv(weighted, number(terms))
        floor = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(real, [real]), f"llvm.floor.v{columns}f64"
        )
        lowest = builder.call(floor, [builder.fsub(likely, _all(0.5 * (WINDOW - 1) - 0.5, real))])
        first, last = builder.fptosi(lowest, inner.type), builder.sub(inner, _all(WINDOW - 1, inner.type))
        first = builder.select(builder.icmp_signed("<", first, last), first, last)
        zero = _all(0, first.type)
        first = builder.select(builder.icmp_signed(">", first, zero), first, zero)
        store(builder, first, _at(context, builder, sig.args[0], args[0]), 8)
        bases = builder.trunc(builder.sub(down, first), start.type)
        store(builder, bases, _at(context, builder, sig.args[1], args[1]), 1)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def pair_rows(typingctx, joint, at, low, high, digits, i, j, first, other_i, other_j, other_first):
    """Fill CHOICES² rows from word ``at`` on, for two forms: row r + CHOICES · s has the v's whose count over the
    inner bits is first + r for one form, or other_first + s for the other; r or s = WINDOW stands for none.

    low, high, digits: of Patterns.  A form's count is the sum of two: that over the six low bits, given bit by
    bit by three words low[4 i:], the same in every word of a row; and that over the three high bits by two rows
    high[16 j:].
    """
    index = types.int64
    signature = types.void(joint, index, low, high, digits, *[index] * 6)

    def emit(context, builder, sig, args):
        target = element_pointer(context, builder, sig.args[0], args[0], args[1])

        def word(pointer: Any, k: int) -> Any:
            return splat(builder, builder.load(builder.gep(pointer, [ir.Constant(I64, k)])), ROW_WORDS)

        def rows(i: Any, j: Any, first: Any) -> list[Any]:
            words = element_pointer(context, builder, sig.args[2], args[2], builder.mul(i, ir.Constant(I64, 4)))
            planes = element_pointer(
                context, builder, sig.args[3], args[3], builder.mul(j, ir.Constant(I64, 2 * ROW_WORDS))
            )
            absent = element_pointer(
                context, builder, sig.args[4], args[4], builder.mul(first, ir.Constant(I64, PLANES))
            )
            a = [word(words, k) for k in range(3)]
            b = [load_row(builder, builder.gep(planes, [ir.Constant(I64, ROW_WORDS * k)])) for k in range(2)]
            carry = builder.and_(a[0], b[0])
            half = builder.xor(a[1], b[1])
            above = builder.or_(builder.and_(a[1], b[1]), builder.and_(half, carry))
            bits = [
                builder.xor(a[0], b[0]),
                builder.xor(half, carry),
                builder.xor(a[2], above),
                builder.and_(a[2], above),
            ]
            made = []
            for value in range(WINDOW):
                same = [builder.xor(bit, word(absent, PLANES * value + k)) for k, bit in enumerate(bits)]
                made.append(reduce(builder.and_, same))
            return [*made, ir.Constant(ROW, [0] * ROW_WORDS)]

        ours, theirs = rows(*args[5:8]), rows(*args[8:11])
        for s, right in enumerate(theirs):
            for r, left in enumerate(ours):
                to = builder.gep(target, [ir.Constant(I64, (s * CHOICES + r) * ROW_WORDS)])
                store(builder, builder.or_(left, right), to, 8)
        return context.get_dummy_value()

    return signature, emit
