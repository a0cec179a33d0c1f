"""The term that one surviving pair (u, v) adds to the polyphase sum, as LLVM IR."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from langford.kernels.cpu.ir import (
    I16,
    I32,
    I64,
    LANES,
    add_to_state,
    element_pointer,
    halves,
    lane_sum,
    literal,
    load_vector,
    sign_extend,
    widen,
)


@intrinsic(prefer_literal=True)
def accumulate(typingctx, state, high, at, low, row, table, keys, key, forms, parts, split, pairs, chains):
    """Add E · ΣO of one survivor to ``state`` (see :func:`ir.add_to_state`).

    The odd sums are high[at:] + low[row:], LANES int16 per form; forms are stored longest
    half first, then their partners (shortest last first), then a form without partner.
    ``parts`` int32 products make one lane's O; with ``split`` the lanes are summed in two
    halves of 32 bits, since eight O's can exceed 64 bits.  The even product E is the product of
    table[keys[key + i]] over i < ``pairs``, in ``chains`` (1 or 2) int64 chains.
    """
    state = types.UniTuple(types.int64, len(state))
    signature = state(
        state,
        high,
        types.int64,
        low,
        types.int64,
        table,
        keys,
        types.int64,
        forms,
        parts,
        split,
        pairs,
        chains,
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
        even = _even_product(builder, cells, picks, pairs, chains, width)
        return add_to_state(context, builder, sig.return_type, args[0], builder.mul(even, odd))

    return signature, emit


def _odd_sum(builder: Any, row_a: Any, row_b: Any, forms: int, parts: int, split: int, width: int) -> Any:
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


def _even_product(builder: Any, cells: Any, picks: Any, pairs: int, chains: int, width: int) -> Any:
    """Product of one table cell per pair of even sums, as a wide integer."""
    products = []
    for chain in range(chains):
        product = None
        for pair in range(chain, pairs, chains):
            key = builder.zext(builder.load(builder.gep(picks, [ir.Constant(I64, pair)])), I64)
            cell = builder.sext(builder.load(builder.gep(cells, [key])), I64)
            product = cell if product is None else builder.mul(product, cell)
        products.append(sign_extend(builder, product, width))
    return products[0] if chains == 1 else builder.mul(products[0], products[1])
