"""The products of the shifted sum's survivors, as LLVM IR (:mod:`langford.kernels.cpu.ir`).

A v of a tile is a number; its inner bits are the lowest INNER_BITS, LOW_BITS of them the low ones.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from langford.kernels.cpu.ir import I16, I32, I64, element_pointer, literal, load_vector, widen
from langford.methods.shifted.kernels.vectors import INNER_BITS, byte_row, processor_has, splat, store

F64 = ir.DoubleType()
LOW_BITS = 5
"""Inner bits in the low table of odd values; the others are in the high one."""
POINTS = 4
"""Points multiplied at once."""


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


def _joined(builder: Any, vectors: list[Any]) -> Any:
    """Vectors one after the other; as many as a power of 2."""
    while len(vectors) > 1:
        lanes = list(range(2 * vectors[0].type.count))
        mask = ir.Constant(ir.VectorType(I32, len(lanes)), lanes)
        vectors = [builder.shuffle_vector(*vectors[k : k + 2], mask) for k in range(0, len(vectors), 2)]
    return vectors[0]


def _factors(context: Any, builder: Any, array_types: Any, args: Any, v: Any, columns: int) -> tuple[Any, Any]:
    """The values of all odd and of all even forms at a point, a byte each: sums of three and of two table rows.

    args: the tables outer, high, low and keys, and the evens with their row.
    """
    high_mask = ir.Constant(I64, (1 << INNER_BITS - LOW_BITS) - 1)
    picks = [
        builder.lshr(v, ir.Constant(I64, INNER_BITS)),
        builder.and_(builder.lshr(v, ir.Constant(I64, LOW_BITS)), high_mask),
        builder.and_(v, ir.Constant(I64, (1 << LOW_BITS) - 1)),
        v,
        args[5],
    ]
    rows = [byte_row(builder, context, array_types[k], args[k], pick, columns) for k, pick in enumerate(picks)]
    return builder.add(builder.add(rows[0], rows[1]), rows[2]), builder.add(rows[3], rows[4])


def _neighbours(builder: Any, vector: Any, wider: Any) -> Any:
    """The products of two neighbouring lanes each, in lanes of twice the width."""
    half = vector.type.element.width
    both = builder.bitcast(vector, ir.VectorType(wider, vector.type.count // 2))
    shift = ir.Constant(both.type, [half] * both.type.count)
    return builder.mul(builder.ashr(builder.shl(both, shift), shift), builder.ashr(both, shift))


def _alternate(builder: Any, vector: Any) -> list[Any]:
    """The lanes of even and those of odd number."""
    half = vector.type.count // 2
    return [
        builder.shuffle_vector(
            vector, vector, ir.Constant(ir.VectorType(I32, half), [2 * k + first for k in range(half)])
        )
        for first in (0, 1)
    ]


@intrinsic(prefer_literal=True)
def multiply(typingctx, products, points, k, outer, high, low, keys, evens, u, flips, lanes):
    """(−1)^flips (Π v) Π f_d / 4 at the points k … k + POINTS − 1 of a list, to float64 products.

    A product is exact where it is below 2^53 in size, and not below 2^53 elsewhere.  points: int64, numbers of
    v's in the tile.  The odd forms of a point are the sum of a row of outer (by v's outer bits), one of high
    and one of low (by its inner bits), the even ones that of row v of keys and row u of evens.
    """
    columns = literal(lanes)
    index = types.int64
    signature = types.void(products, points, index, outer, high, low, keys, evens, index, index, lanes)

    def emit(context, builder, sig, args):
        first = element_pointer(context, builder, sig.args[1], args[1], args[2])
        numbers = load_vector(builder, first, I64, POINTS)
        parts = [
            _factors(context, builder, sig.args[3:], args[3:], builder.extract_element(numbers, lane), columns)
            for lane in (ir.Constant(I32, k) for k in range(POINTS))
        ]
        odd, even = (widen(builder, _joined(builder, list(half)), I16) for half in zip(*parts, strict=True))
        factors = _neighbours(builder, builder.mul(odd, even), I32)
        if processor_has("avx512dq"):  # others convert 64 bits one by one
            factors = _neighbours(builder, factors, I64)
        result = builder.sitofp(factors, ir.VectorType(F64, factors.type.count))
        while result.type.count > POINTS:
            result = builder.fmul(*_alternate(builder, result))
        count_bits = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(numbers.type, [numbers.type]), f"llvm.ctpop.v{POINTS}i64"
        )
        minus = builder.add(builder.call(count_bits, [numbers]), splat(builder, args[9], POINTS))
        signs = builder.shl(minus, ir.Constant(minus.type, [63] * POINTS))
        result = builder.bitcast(builder.xor(builder.bitcast(result, minus.type), signs), result.type)
        store(builder, result, element_pointer(context, builder, sig.args[0], args[0], args[2]), 8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def store_factors(typingctx, target, outer, high, low, keys, evens, u, v, lanes):
    """The factors that :func:`multiply` multiplies at one point, to target: int8[2 · lanes]."""
    columns = literal(lanes)
    signature = types.void(target, outer, high, low, keys, evens, types.int64, types.int64, lanes)

    def emit(context, builder, sig, args):
        for k, part in enumerate(_factors(context, builder, sig.args[1:], args[1:], args[7], columns)):
            to = element_pointer(context, builder, sig.args[0], args[0], ir.Constant(I64, k * columns))
            store(builder, part, to, 1)
        return context.get_dummy_value()

    return signature, emit
