"""Vector building blocks of the shifted sum's kernel, as LLVM IR (:mod:`langford.kernels.cpu.ir`).

A *row* is 512 bits, one for each v of a line: eight words of 64 bits.  Vectors are written at that width;
LLVM splits them where the processor's are shorter.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from langford.kernels.cpu.ir import I16, I32, I64, element_pointer, halves, literal, load_vector, widen

I8, F64 = ir.IntType(8), ir.DoubleType()
ROW_WORDS = 8
"""64-bit words of a row."""
INNER_VALUES = 10
"""Values that a count over nine bits can take."""
WINDOW = 4
"""Values of an odd form that have a row; any other has the empty row."""
CHOICES = WINDOW + 1
"""Rows to choose from for one form."""
ROW = ir.VectorType(I64, ROW_WORDS)


def _store(builder: Any, vector: Any, pointer: Any, alignment: int) -> None:
    builder.store(vector, builder.bitcast(pointer, vector.type.as_pointer())).align = alignment


def _row(builder: Any, pointer: Any) -> Any:
    return load_vector(builder, pointer, I64, ROW_WORDS)


def _bytes(builder: Any, context: Any, array_type: Any, array: Any, row: Any, lanes: int) -> Any:
    """Row ``row`` of an int8 array with ``lanes`` columns."""
    at = builder.mul(row, ir.Constant(I64, lanes))
    return load_vector(builder, element_pointer(context, builder, array_type, array, at), I8, lanes)


def _broadcast(builder: Any, value: Any) -> Any:
    """A row with the same word everywhere."""
    single = builder.insert_element(ir.Constant(ROW, ir.Undefined), value, ir.Constant(I32, 0))
    mask = ir.Constant(ir.VectorType(I32, ROW_WORDS), [0] * ROW_WORDS)
    return builder.shuffle_vector(single, single, mask)


@intrinsic(prefer_literal=True)
def add_bytes(typingctx, target, at, left, i, right, j, lanes):
    """Row ``at`` of target = row i of left + row j of right; flat int8 arrays of ``lanes`` columns."""
    columns = literal(lanes)
    signature = types.void(target, types.int64, left, types.int64, right, types.int64, lanes)

    def emit(context, builder, sig, args):
        first = _bytes(builder, context, sig.args[2], args[2], args[3], columns)
        second = _bytes(builder, context, sig.args[4], args[4], args[5], columns)
        to = builder.mul(args[1], ir.Constant(I64, columns))
        _store(builder, builder.add(first, second), element_pointer(context, builder, sig.args[0], args[0], to), 1)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def or_rows(typingctx, target, at, source, start, table, first, second, third, fourth):
    """target[at:] = source[start:] | four rows of a table, a row's length each; uint64 arrays, indices of words."""
    indices = (types.int64,) * 4
    signature = types.void(target, types.int64, source, types.int64, table, *indices)

    def emit(context, builder, sig, args):
        joined = _row(builder, element_pointer(context, builder, sig.args[2], args[2], args[3]))
        for index in args[5:]:
            row = _row(builder, element_pointer(context, builder, sig.args[4], args[4], index))
            joined = builder.or_(joined, row)
        _store(builder, joined, element_pointer(context, builder, sig.args[0], args[0], args[1]), 8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def count_rows(typingctx, rows, at, low, i, high, j):
    """Fill INNER_VALUES rows from word ``at`` on: bit x of row k is set where a count over the bits of x is k.

    The count is the sum of two, given bit by bit: that over the six low bits by three words low[4 i:], the
    same in every word of a row; that over the three high bits by two rows high[16 j:].
    """
    signature = types.void(rows, types.int64, low, types.int64, high, types.int64)

    def emit(context, builder, sig, args):
        words = element_pointer(context, builder, sig.args[2], args[2], builder.mul(args[3], ir.Constant(I64, 4)))
        planes = element_pointer(context, builder, sig.args[4], args[4], builder.mul(args[5], ir.Constant(I64, 16)))
        a = [_broadcast(builder, builder.load(builder.gep(words, [ir.Constant(I64, k)]))) for k in range(3)]
        b = [_row(builder, builder.gep(planes, [ir.Constant(I64, 8 * k)])) for k in range(2)]
        carry = builder.and_(a[0], b[0])
        half = builder.xor(a[1], b[1])
        above = builder.or_(builder.and_(a[1], b[1]), builder.and_(half, carry))
        bits = [
            builder.xor(a[0], b[0]),
            builder.xor(half, carry),
            builder.xor(a[2], above),
            builder.and_(a[2], above),
        ]
        missing = [builder.not_(bit) for bit in bits]
        target = element_pointer(context, builder, sig.args[0], args[0], args[1])
        for value in range(INNER_VALUES):
            low_half, high_half = (
                builder.and_(*((bits if value >> k & 1 else missing)[k] for k in (first, first + 1)))
                for first in (0, 2)
            )
            row = builder.and_(low_half, high_half)
            _store(builder, row, builder.gep(target, [ir.Constant(I64, value * ROW_WORDS)]), 8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic
def join_pair(typingctx, joint, at, rows, first, second):
    """Fill CHOICES² rows from word ``at`` on: row r + CHOICES · s is row r of one form or row s of the other.

    first, second: the word where the WINDOW rows of each form begin; r or s = WINDOW stands for the empty row.
    """
    signature = types.void(joint, types.int64, rows, types.int64, types.int64)

    def emit(context, builder, sig, args):
        target = element_pointer(context, builder, sig.args[0], args[0], args[1])
        ours, theirs = (
            [
                *(_row(builder, builder.gep(pointer, [ir.Constant(I64, k * ROW_WORDS)])) for k in range(WINDOW)),
                ir.Constant(ROW, [0] * ROW_WORDS),
            ]
            for pointer in (element_pointer(context, builder, sig.args[2], args[2], start) for start in args[3:])
        )
        for s, right in enumerate(theirs):
            for r, left in enumerate(ours):
                to = builder.gep(target, [ir.Constant(I64, (s * CHOICES + r) * ROW_WORDS)])
                _store(builder, builder.or_(left, right), to, 8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def choose_rows(typingctx, chosen, at, outer, line, bases, lanes):
    """Where the rows of a line are in the joint tables, one word index for each pair of forms.

    chosen: uint16, lanes / 2 of them from ``at`` on.  outer: int8 rows, the forms' values where the inner
    bits are 0.  bases: int8[lanes]; a form takes the row bases − outer of its window, or the empty one.
    """
    columns = literal(lanes)
    signature = types.void(chosen, types.int64, outer, types.int64, bases, lanes)

    def emit(context, builder, sig, args):
        values = _bytes(builder, context, sig.args[2], args[2], args[3], columns)
        start = _bytes(builder, context, sig.args[4], args[4], ir.Constant(I64, 0), columns)
        row = builder.sub(start, values)
        most = ir.Constant(row.type, [WINDOW] * columns)
        row = builder.select(builder.icmp_unsigned("<", row, most), row, most)
        pairs = ir.VectorType(I16, columns // 2)

        def constant(values: list[int]) -> Any:
            return ir.Constant(pairs, values)

        both = builder.bitcast(row, pairs)
        first = builder.and_(both, constant([255] * (columns // 2)))
        second = builder.lshr(both, constant([8] * (columns // 2)))
        index = builder.add(first, builder.mul(second, constant([CHOICES] * (columns // 2))))
        index = builder.add(index, constant([CHOICES**2 * k for k in range(columns // 2)]))
        index = builder.mul(index, constant([ROW_WORDS] * (columns // 2)))
        _store(builder, index, element_pointer(context, builder, sig.args[0], args[0], args[1]), 2)
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def scan_line(typingctx, living, numbers, end, dead, line, joint, chosen, at, positions, pairs):
    """Find the living v's of a line, and append the numbers of its words that have any to a list.

    living: uint64, a bit for each v of the tile, written; dead: uint64, v's with a vanishing even form;
    joint, chosen, at: where the rows of those with a vanishing odd form are; numbers: uint16, the list, with
    room for ROW_WORDS entries behind its end; positions: uint16[256 · ROW_WORDS], for each byte the positions
    of its bits.  Returns the list's new end.
    """
    count = literal(pairs)
    index = types.int64
    signature = index(living, numbers, index, dead, index, joint, chosen, index, positions, pairs)

    def emit(context, builder, sig, args):
        start = builder.mul(args[4], ir.Constant(I64, ROW_WORDS))
        gone = _row(builder, element_pointer(context, builder, sig.args[3], args[3], start))
        picks = element_pointer(context, builder, sig.args[6], args[6], args[7])
        tables = element_pointer(context, builder, sig.args[5], args[5], ir.Constant(I64, 0))
        for pair in range(count):
            pick = builder.zext(builder.load(builder.gep(picks, [ir.Constant(I64, pair)])), I64)
            gone = builder.or_(gone, _row(builder, builder.gep(tables, [pick])))
        alive = builder.not_(gone)
        _store(builder, alive, element_pointer(context, builder, sig.args[0], args[0], start), 8)
        some = builder.bitcast(builder.icmp_unsigned("!=", alive, ir.Constant(ROW, [0] * ROW_WORDS)), I8)
        some = builder.zext(some, I64)
        at = builder.mul(some, ir.Constant(I64, ROW_WORDS))
        within = load_vector(builder, element_pointer(context, builder, sig.args[8], args[8], at), I16, ROW_WORDS)
        first = builder.insert_element(
            ir.Constant(within.type, ir.Undefined), builder.trunc(start, I16), ir.Constant(I32, 0)
        )
        mask = ir.Constant(ir.VectorType(I32, ROW_WORDS), [0] * ROW_WORDS)
        found = builder.add(within, builder.shuffle_vector(first, first, mask))
        _store(builder, found, element_pointer(context, builder, sig.args[1], args[1], args[2]), 2)
        return builder.add(args[2], builder.ctpop(some))

    return signature, emit


@intrinsic(prefer_literal=True)
def fetch_early(typingctx, array, row, lanes):
    """Ask for a row of an int8 array with ``lanes`` columns, which is read soon."""
    columns = literal(lanes)

    def emit(context, builder, sig, args):
        at = builder.mul(args[1], ir.Constant(I64, columns))
        pointer = element_pointer(context, builder, sig.args[0], args[0], at)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [pointer.type, I32, I32, I32]), "llvm.prefetch.p0"
        )
        read, near, data = (ir.Constant(I32, value) for value in (0, 3, 1))
        builder.call(function, [pointer, read, near, data])
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), emit


def _factors(context: Any, builder: Any, array_types: Any, args: Any, columns: int) -> tuple[Any, Any]:
    """The values of all odd and of all even forms at a point, a byte each: sums of three and of two table rows."""
    rows = [
        _bytes(builder, context, array_types[k], args[k], args[k + 1], columns) for k in range(0, 10, 2)
    ]  # fmt: skip
    return builder.add(builder.add(rows[0], rows[1]), rows[2]), builder.add(rows[3], rows[4])


@intrinsic(prefer_literal=True)
def product(typingctx, outer, line, high, i, low, j, keys, v, evens, u, flips, lanes):
    """(−1)^flips Π f_d / 4 at a point as a float64: exact where it is below 2^53 in size, not below it elsewhere.

    The odd forms are the sum of a row of outer, high and low, the even ones that of a row of keys and evens.
    """
    columns = literal(lanes)
    index = types.int64
    signature = types.float64(outer, index, high, index, low, index, keys, index, evens, index, index, lanes)

    def emit(context, builder, sig, args):
        odd, even = (widen(builder, part, I16) for part in _factors(context, builder, sig.args, args, columns))
        left, right = (widen(builder, half, I32) for half in halves(builder, builder.mul(odd, even)))
        factors = builder.mul(left, right)
        result = builder.sitofp(factors, ir.VectorType(F64, factors.type.count))
        while result.type.count > 2:
            result = builder.fmul(*halves(builder, result))
        ends = (builder.extract_element(result, ir.Constant(I32, k)) for k in range(2))
        sign = builder.shl(args[10], ir.Constant(I64, 63))
        return builder.bitcast(builder.xor(builder.bitcast(builder.fmul(*ends), I64), sign), F64)

    return signature, emit


@intrinsic(prefer_literal=True)
def store_factors(typingctx, target, outer, line, high, i, low, j, keys, v, evens, u, lanes):
    """The factors that :func:`product` multiplies, to target: int8[2 · lanes]."""
    columns = literal(lanes)
    index = types.int64
    signature = types.void(target, outer, index, high, index, low, index, keys, index, evens, index, lanes)

    def emit(context, builder, sig, args):
        for k, part in enumerate(_factors(context, builder, sig.args[1:], args[1:], columns)):
            to = element_pointer(context, builder, sig.args[0], args[0], ir.Constant(I64, k * columns))
            _store(builder, part, to, 1)
        return context.get_dummy_value()

    return signature, emit
