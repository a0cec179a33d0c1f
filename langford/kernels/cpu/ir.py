"""Vector and wide-integer building blocks, emitted as LLVM IR inside numba kernels.

numba has neither short vectors nor integers beyond 64 bits; LLVM has both.  Each
``@intrinsic`` here is straight-line code that LLVM lowers to the vector unit of the host (AVX2,
AVX-512, NEON).  A *wide* integer crosses into numba as a tuple of int64 words, little
endian, the top word signed.

Compile-time parameters arrive as literal integers: freeze them in the closure of the
kernel that calls the intrinsic.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

I16, I32, I64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
LANES = 8


def element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Pointer to element ``index`` (an i64) of a contiguous array, or behind a pointer to its first element."""
    given = isinstance(array_type, types.CPointer)
    data = array if given else context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


def load_vector(builder: Any, pointer: Any, element: Any, lanes: int) -> Any:
    """Load ``lanes`` consecutive elements, with no more than the element's alignment."""
    vector = ir.VectorType(element, lanes)
    loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    loaded.align = element.width // 8
    return loaded


def halves(builder: Any, vector: Any) -> tuple[Any, Any]:
    """The low and the high half of a vector."""
    lanes = vector.type.count
    mask = ir.VectorType(I32, lanes // 2)
    undefined = ir.Constant(vector.type, ir.Undefined)
    low = builder.shuffle_vector(vector, undefined, ir.Constant(mask, list(range(lanes // 2))))
    high = builder.shuffle_vector(vector, undefined, ir.Constant(mask, list(range(lanes // 2, lanes))))
    return low, high


def widen(builder: Any, vector: Any, element: Any) -> Any:
    """Sign-extend every lane to ``element``."""
    return builder.sext(vector, ir.VectorType(element, vector.type.count))


def lane_sum(builder: Any, vector: Any) -> Any:
    """Wrapping sum over the lanes of a vector of i64."""
    name = f"llvm.vector.reduce.add.v{vector.type.count}i64"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(I64, [vector.type]), name)
    return builder.call(function, [vector])


def join_words(builder: Any, words: list[Any]) -> Any:
    """One wide integer from its int64 words."""
    wide = ir.IntType(64 * len(words))
    total = builder.zext(words[0], wide) if len(words) > 1 else words[0]
    for position, word in enumerate(words[1:], 1):
        shifted = builder.shl(builder.zext(word, wide), ir.Constant(wide, 64 * position))
        total = builder.or_(total, shifted)
    return total


def split_words(builder: Any, wide: Any) -> list[Any]:
    """The int64 words of a wide integer."""
    count = wide.type.width // 64
    if count == 1:
        return [wide]
    return [
        builder.trunc(builder.lshr(wide, ir.Constant(wide.type, 64 * position)), I64) for position in range(count)
    ]


def sign_extend(builder: Any, value: Any, bits: int) -> Any:
    """``value`` as a wider (or equal) integer."""
    return value if value.type.width == bits else builder.sext(value, ir.IntType(bits))


def add_to_state(context: Any, builder: Any, state_type: Any, state: Any, term: Any) -> Any:
    """Add a wide ``term`` to an accumulator state, the tuple (sum words…, residue words ×2).

    The residue part sums the term's words instead of the term, in 128 bits: modulo
    2^64 − 1 that is the same number by another route (2^64 ≡ 1).
    """
    members = cgutils.unpack_tuple(builder, state)
    total = builder.add(join_words(builder, members[:-2]), term)
    residue = join_words(builder, members[-2:])
    words = split_words(builder, term)
    for word in words[:-1]:
        residue = builder.add(residue, builder.zext(word, ir.IntType(128)))
    residue = builder.add(residue, builder.sext(words[-1], ir.IntType(128)))
    return context.make_tuple(builder, state_type, split_words(builder, total) + split_words(builder, residue))


def call_by_address(compiled: Any) -> Any:
    """For kernels, a function of an address and arguments: it calls the ``cfunc`` of this signature that is there.

    It takes arrays for pointers to their first elements.
    """

    @intrinsic
    def call(typingctx, address, *arguments):
        expected = list(compiled.args)
        for k, (given, taken) in enumerate(zip(arguments, compiled.args, strict=True)):
            if isinstance(taken, types.CPointer):
                if given.dtype != taken.dtype or given.layout != "C":
                    raise TypeError(f"{given} is no array for {taken}")
                expected[k] = given

        def emit(context, builder, sig, args):
            values = cgutils.unpack_tuple(builder, args[1])
            for k, kind in enumerate(expected):
                if isinstance(kind, types.Array):
                    values[k] = element_pointer(context, builder, kind, values[k], ir.Constant(I64, 0))
            result, *kinds = (context.get_value_type(kind) for kind in (compiled.return_type, *compiled.args))
            function = builder.inttoptr(args[0], ir.FunctionType(result, kinds).as_pointer())
            return builder.call(function, values)

        return compiled.return_type(types.int64, types.StarArgTuple.from_types(tuple(expected))), emit

    return call


def literal(value: Any) -> int:
    """The value of a compile-time integer argument."""
    return int(value.literal_value)


@intrinsic(prefer_literal=True)
def add_rows(typingctx, target, at, left, i, right, j, length):
    """target[at:at+length] = left[i:…] + right[j:…] for int16 arrays; length ≡ 0 mod 8."""
    count = literal(length)
    signature = types.void(target, types.int64, left, types.int64, right, types.int64, length)

    def emit(context, builder, sig, args):
        to = element_pointer(context, builder, sig.args[0], args[0], args[1])
        first = element_pointer(context, builder, sig.args[2], args[2], args[3])
        second = element_pointer(context, builder, sig.args[4], args[4], args[5])
        offset = 0
        while offset < count:
            lanes = min(2 * LANES, count - offset)
            step = [ir.Constant(I64, offset)]
            total = builder.add(
                load_vector(builder, builder.gep(first, step), I16, lanes),
                load_vector(builder, builder.gep(second, step), I16, lanes),
            )
            pointer = builder.bitcast(builder.gep(to, step), total.type.as_pointer())
            builder.store(total, pointer).align = 2
            offset += lanes
        return context.get_dummy_value()

    return signature, emit


@intrinsic(prefer_literal=True)
def trailing_zero_bits(typingctx, word):
    """Index of the lowest set bit of a uint64 that is not 0."""

    def emit(context, builder, sig, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), emit


@intrinsic(prefer_literal=True)
def set_bits(typingctx, word):
    """Number of set bits of a uint64."""

    def emit(context, builder, sig, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), emit
