"""Vector building blocks of the shifted sum's kernel, as LLVM IR (:mod:`langford.kernels.cpu.ir`).

A *row* is 512 bits, one for each v of a line: eight words of 64 bits.  Vectors are written at that width;
LLVM splits them where the processor's are shorter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.core import cgutils, config, types
from numba.extending import intrinsic

from langford.kernels.cpu.ir import I16, I32, I64, element_pointer, literal, load_vector

I8 = ir.IntType(8)
ROW_WORDS = 8
"""64-bit words of a row."""
ROW_BYTES = 8 * ROW_WORDS
WINDOW = 4
"""Values of an odd form that have a row; any other has the empty row."""
CHOICES = WINDOW + 1
"""Rows to choose from for one form."""
ROW = ir.VectorType(I64, ROW_WORDS)
INNER_BITS = 9
"""The lowest bits of a v, in which the v's of a line differ."""
STAGE, MAX_STAGE = 4, 6
"""Even forms joined at once, and at most in the last stage, which nearly every u needs anew."""


def store(builder: Any, vector: Any, pointer: Any, alignment: int) -> None:
    """Store a vector with no more than this alignment, in bytes."""
    builder.store(vector, builder.bitcast(pointer, vector.type.as_pointer())).align = alignment


def load_row(builder: Any, pointer: Any) -> Any:
    return load_vector(builder, pointer, I64, ROW_WORDS)


def byte_row(builder: Any, context: Any, array_type: Any, array: Any, row: Any, lanes: int) -> Any:
    """Row ``row`` of an int8 array with ``lanes`` columns."""
    at = builder.mul(row, ir.Constant(I64, lanes))
    return load_vector(builder, element_pointer(context, builder, array_type, array, at), I8, lanes)


def splat(builder: Any, value: Any, lanes: int) -> Any:
    """A vector with the same value in every lane."""
    vector = ir.VectorType(value.type, lanes)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(I32, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(I32, lanes), [0] * lanes))


def repeated(builder: Any, vector: Any, times: int) -> Any:
    """A vector several times over."""
    mask = ir.Constant(ir.VectorType(I32, vector.type.count * times), [*range(vector.type.count)] * times)
    return builder.shuffle_vector(vector, vector, mask)


@intrinsic(prefer_literal=True)
def add_step(typingctx, table, at, source, steps, step, lanes, rows):
    """Rows ``at``, at + 1, … of a table = its rows from ``source`` on, plus a row of steps; flat int8 arrays."""
    columns, count = literal(lanes), literal(rows)
    signature = types.void(table, types.int64, types.int64, steps, types.int64, lanes, rows)

    def emit(context, builder, sig, args):
        def rows_at(row: Any) -> Any:
            start = builder.mul(row, ir.Constant(I64, columns))
            return element_pointer(context, builder, sig.args[0], args[0], start)

        before = load_vector(builder, rows_at(args[2]), I8, columns * count)
        added = repeated(builder, byte_row(builder, context, sig.args[3], args[3], args[4], columns), count)
        store(builder, builder.add(before, added), rows_at(args[1]), 1)
        return context.get_dummy_value()

    return signature, emit


def _cases(builder: Any, value: Any, most: int) -> Iterator[int]:
    """The numbers from 0 to ``most``: what a loop over them emits is run for the one that is the value."""
    for case in range(most + 1):
        with builder.if_then(builder.icmp_signed("==", value, ir.Constant(I64, case))):
            yield case


@intrinsic
def join_stage(typingctx, dead, to, table, rows, at, words, count):
    """dead[to : to + words] = dead[to − words : to] | some rows of a table of ``words`` words each.

    dead, table: uint64; rows: int16, the numbers of the table's rows, ``count`` of them from ``at`` on (at most
    MAX_STAGE).  words: a multiple of ROW_WORDS.
    """
    index = types.int64
    signature = types.void(dead, index, table, rows, index, index, index)

    def emit(context, builder, sig, args):
        numbers = element_pointer(context, builder, sig.args[3], args[3], args[4])
        before = element_pointer(context, builder, sig.args[0], args[0], builder.sub(args[1], args[5]))
        target = element_pointer(context, builder, sig.args[0], args[0], args[1])
        for joined in _cases(builder, args[6], MAX_STAGE):
            sources = [before]
            for k in range(joined):
                number = builder.sext(builder.load(builder.gep(numbers, [ir.Constant(I64, k)])), I64)
                start = builder.mul(number, args[5])
                sources.append(element_pointer(context, builder, sig.args[2], args[2], start))
            with cgutils.for_range(builder, builder.udiv(args[5], ir.Constant(I64, ROW_WORDS))) as loop:
                word = builder.mul(loop.index, ir.Constant(I64, ROW_WORDS))
                parts = [load_row(builder, builder.gep(source, [word])) for source in sources]
                store(builder, reduce(builder.or_, parts), builder.gep(target, [word]), 8)
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def choose_rows(typingctx, chosen, outer, line, bases, lanes, lines):
    """Where the rows of some lines are in the joint tables, in bytes, for each pair of forms.

    chosen: uint16[all lines · lanes / 2].  outer: int8[all lines · lanes], the forms' values where the inner
    bits are 0.  bases: int8[lanes]; a form takes the row bases − outer of its window, or the empty one.
    """
    columns, count = literal(lanes), literal(lines)
    signature = types.void(chosen, outer, types.int64, bases, lanes, lines)

    def emit(context, builder, sig, args):
        start = builder.mul(args[2], ir.Constant(I64, columns))
        values = load_vector(
            builder, element_pointer(context, builder, sig.args[1], args[1], start), I8, columns * count
        )
        base = byte_row(builder, context, sig.args[3], args[3], ir.Constant(I64, 0), columns)
        row = builder.sub(repeated(builder, base, count), values)
        most = ir.Constant(row.type, [WINDOW] * row.type.count)
        row = builder.select(builder.icmp_unsigned("<", row, most), row, most)
        pairs = ir.VectorType(I16, row.type.count // 2)

        def every(value: int) -> Any:
            return ir.Constant(pairs, [value] * pairs.count)

        both = builder.bitcast(row, pairs)
        first, second = builder.and_(both, every(255)), builder.lshr(both, every(8))
        index = builder.add(first, builder.mul(second, every(CHOICES)))
        tables = ir.Constant(pairs, [CHOICES**2 * k for k in range(columns // 2)] * count)
        index = builder.mul(builder.add(index, tables), every(ROW_BYTES))
        start = builder.lshr(start, ir.Constant(I64, 1))
        store(builder, index, element_pointer(context, builder, sig.args[0], args[0], start), 2)
        return context.get_dummy_value()

    return signature, emit


def processor_has(feature: str) -> bool:
    """Whether kernels are compiled for a processor with a feature, by LLVM's name for it."""
    if config.CPU_NAME or config.CPU_FEATURES:
        return f"+{feature}" in (config.CPU_FEATURES or "").split(",")
    return bool(get_host_cpu_features().get(feature))


def _compressed(builder: Any, row: Any, chosen: Any, positions: Any) -> Any:
    """The chosen words of a row together, in their order; what follows them is anything.

    positions: i16 vector, where the chosen words are.
    """
    if processor_has("avx512f"):
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ROW, [ROW, ROW, chosen.type]), "llvm.x86.avx512.mask.compress.v8i64"
        )
        return builder.call(function, [row, ir.Constant(ROW, [0] * ROW_WORDS), chosen])
    made = row
    for k in range(ROW_WORDS):
        position = builder.zext(builder.extract_element(positions, ir.Constant(I32, k)), I32)
        word = builder.extract_element(row, position)
        made = builder.insert_element(made, word, ir.Constant(I32, k))
    return made


@intrinsic(prefer_literal=True)
def scan_lines(typingctx, living, numbers, dead, start, lines, joint, chosen, positions, pairs, lanes):
    """List the words of a tile that have living v's, and their numbers, to two lists; returns the lists' length.

    living: uint64, the words, a bit for each v; numbers: uint16; both have room for ROW_WORDS entries behind their
    end.  dead: uint64, from ``start`` on the v's with a vanishing even form; joint, chosen: where the rows of those
    with a vanishing odd form are; positions: uint16[256 · ROW_WORDS], for each byte the positions of its bits.
    pairs: rows of each line, of at most lanes / 2.
    """
    columns = literal(lanes) // 2
    index = types.int64
    signature = index(living, numbers, dead, index, index, joint, chosen, positions, index, lanes)

    def emit(context, builder, sig, args):
        def at(k: int, element: Any = None) -> Any:
            return element_pointer(context, builder, sig.args[k], args[k], element or ir.Constant(I64, 0))

        words, numbers, rows, positions = at(0), at(1), at(2, args[3]), at(7)
        tables = builder.bitcast(at(5), I8.as_pointer())
        end = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
        for count in _cases(builder, args[8], columns):
            with cgutils.for_range(builder, args[4]) as loop:
                start = builder.mul(loop.index, ir.Constant(I64, ROW_WORDS))
                gone = load_row(builder, builder.gep(rows, [start]))
                picks = at(6, builder.mul(loop.index, ir.Constant(I64, columns)))
                for pair in range(count):
                    pick = builder.zext(builder.load(builder.gep(picks, [ir.Constant(I64, pair)])), I64)
                    gone = builder.or_(gone, load_row(builder, builder.gep(tables, [pick])))
                alive = builder.not_(gone)
                some = builder.icmp_unsigned("!=", alive, ir.Constant(ROW, [0] * ROW_WORDS))
                byte = builder.zext(builder.bitcast(some, I8), I64)
                place = builder.gep(positions, [builder.mul(byte, ir.Constant(I64, ROW_WORDS))])
                within, to = load_vector(builder, place, I16, ROW_WORDS), builder.load(end)
                store(builder, _compressed(builder, alive, some, within), builder.gep(words, [to]), 8)
                first = splat(builder, builder.trunc(start, I16), ROW_WORDS)
                store(builder, builder.add(within, first), builder.gep(numbers, [to]), 2)
                builder.store(builder.add(to, builder.ctpop(byte)), end)
        return builder.load(end)

    return signature, emit
