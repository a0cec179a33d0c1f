"""Numbers at the edge of their width: inputs made to reach what random ones do not."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from numba import njit

from langford.arithmetic import limbs, widths
from langford.arithmetic.limbs import SPREAD_BOUND
from langford.arithmetic.residue import MODULUS, residue
from langford.errors import MethodDoesNotApply
from langford.methods import METHODS
from langford.methods.backtracking.kernels import rows
from langford.methods.backtracking.kernels.backtrack import plus
from langford.methods.polyphase import cuda
from langford.methods.polyphase.components import IMAGES, term_bound
from langford.methods.polyphase.cpu import PolyphaseOnCpu
from langford.methods.polyphase.kernels.polyphase import natural_order
from langford.methods.polyphase.plan import PolyphasePlan
from langford.methods.polyphase.tables import PolyphaseShape, PolyphaseUBlock
from langford.methods.shifted.kernels.tiles import BATCH, add_batch, without_gaps
from langford.problem import Problem

PROBLEMS = [
    *(problem for n in range(8, 36) for problem in (Problem.langford(n), Problem.skolem(n))),
    *(Problem.parse(f"{family} {n} fold 2") for n in range(5, 17) for family in ("langford", "skolem")),
    *(Problem.parse(f"skolem {n} fold 3") for n in (5, 8, 9)),
    Problem.langford(25, defect=5),
]
"""Products of the last one's odd sums, and of the even sums of L(29), have 63 to 66 bits."""


def test_the_widths_of_the_polyphase_sum_hold_its_largest_point() -> None:
    """On a processor and on a GPU; where all signs are equal each sum is its number of terms."""
    for problem in PROBLEMS:
        require_widths(problem)
        require_widths_on_a_gpu(problem)


def require_widths(problem: Problem) -> None:
    if METHODS["polyphase"].refusal(problem) is not None:
        assert problem.n > 34
        return
    shape = PolyphaseShape.of(problem, 16)
    odd = [problem.terms[2 * half + 1] for half in shape.odd]
    couples = len(odd) // 2
    factors = [a * b for a, b in zip(odd[:couples], odd[couples:], strict=False)] + odd[2 * couples :]
    assert max(factors) < 2**15
    parts = [prod(factors[part :: shape.parts]) for part in range(shape.parts)]
    assert max(parts) < 2**31
    assert shape.split_lanes or shape.parts > 2 or IMAGES * prod(odd) < 2**63
    assert shape.parts > 2 or prod(odd) < 2**63
    evens = [problem.terms[d] // 2 for d in problem.differences if d % 2 == 0]
    cells = [prod(evens[k : k + 2]) for k in range(0, len(evens), 2)]
    assert all(prod(cells[chain :: shape.chains]) < 2**63 for chain in range(shape.chains))
    largest = IMAGES * prod(odd) * prod(evens)
    assert term_bound(problem) == largest
    assert widths.product_bound(problem) == prod(odd) * prod(
        problem.terms[d] for d in problem.differences if d % 2 == 0
    )
    assert largest << 16 < 2 ** (64 * shape.words - 1)


def require_widths_on_a_gpu(problem: Problem) -> None:
    plan = PolyphasePlan(METHODS["polyphase"], problem, 0)
    try:
        defined: dict[str, Any] = dict(cuda.definitions(plan, cuda.THREADS))
    except MethodDoesNotApply:
        assert problem.n > (32, 28, 26)[problem.fold - 1]
        return
    odd = [problem.terms[2 * half + 1] for half in defined["ODD"]]
    numbers = defined["FACTORS"]
    factors = [
        prod(sum_ for sum_, own in zip(odd, numbers, strict=True) if own == factor)
        for factor in range(numbers[-1] + 1)
    ]
    groups = [factors[start:end] for start, end in pairwise(defined["GROUPS"])]
    assert max(factors) < 2**22
    assert max(map(len, groups)) <= 2
    assert max(map(prod, groups)) < 2**31
    evens = [problem.terms[d] // 2 for d in problem.differences if d % 2 == 0]
    cells = [prod(evens[k : k + 2]) for k in range(0, len(evens), 2)]
    left = 1 if defined["SPLIT_PAIR"] < 0 else cells.pop(defined["SPLIT_PAIR"])
    even, high = prod(cells), ((IMAGES * prod(odd) >> 32) + 2) * left
    assert even < 2**63 - 2**32
    assert defined["HIGH_WORDS"] == 3 or (even < 2**62 and high < 2**63)
    assert defined["HIGH_WORDS"] > 1 or even * high * 2**cuda.TILE_BITS // cuda.THREADS < 2**127


def test_python_calls_no_part_of_a_kernel() -> None:
    METHODS["polyphase"].plan(Problem.langford(4), 0).evaluate(0)  # which compiles the part
    with pytest.raises(TypeError, match="only kernels can call this"):
        natural_order(0, 1)


def test_room_is_made_for_both_the_pairs_below_and_the_own_one() -> None:
    plan = METHODS["polyphase"].plan(Problem.langford(8), 0)
    assert isinstance(plan, PolyphasePlan)
    # The kernel with its tables, and v's of one orbit size only.
    kernel, make_tile, forms, make_scratch = attrgetter("_kernel", "_tile", "_forms", "_scratch")(
        PolyphaseOnCpu(plan, tile_bits=6)
    )
    tile = make_tile(0)
    tile = tile._replace(sizes=tile.sizes[:1], members=tile.members[:1])
    block = PolyphaseUBlock(np.array([0]), np.array([1]), np.array([2**62]))
    weight = 3 * int(tile.sizes[0])
    for before, after in ((0, weight), (SPREAD_BOUND - weight, SPREAD_BOUND), (SPREAD_BOUND - weight + 1, weight)):
        _, pending = kernel(
            block, tile, forms, plan.even_table, make_scratch(), limbs.zero(2**200), limbs.zero_residues(), before
        )
        assert pending == after


@pytest.mark.parametrize("sign", [1, -1])
def test_a_batch_of_the_largest_exact_products_is_added_exactly(sign: int) -> None:
    products = np.full(BATCH, sign * (2.0**53 - 1))
    total, again = limbs.zero(2**100), limbs.zero_residues()
    assert add_batch(products, BATCH, total, again) == BATCH
    assert limbs.to_int(total) == sign * BATCH * (2**53 - 1)
    assert residue(limbs.to_int(again)) == residue(sign * BATCH * (2**53 - 1))


def test_godfreys_bytes_hold_sums_of_63_terms() -> None:
    godfrey = METHODS["godfrey"]
    assert godfrey.refusal(Problem.skolem(32)) is None
    assert widths.sum_bound(Problem.skolem(32)) == 63
    reason = godfrey.refusal(Problem.langford(33))
    assert reason is not None
    assert "at most 63 terms" in reason


def test_the_search_takes_what_its_words_hold() -> None:
    assert METHODS["miller"].refusal(Problem.langford(62)) is None
    assert METHODS["miller"].refusal(Problem.langford(63)) is not None  # a difference of 64
    assert METHODS["miller"].refusal(Problem.from_differences([1], empty=range(3, 129))) is None
    assert METHODS["miller"].refusal(Problem.from_differences([1], empty=range(3, 130))) is not None


def test_residues_of_a_search_end_at_the_modulus() -> None:
    for before, ways, after in ((MODULUS - 1, 1, 0), (MODULUS - 2, 1, MODULUS - 1), (0, 0, 0)):
        assert int(plus(np.uint64(before), ways)) == after


@njit
def moved(low, high, by):  # type: ignore[no-untyped-def]
    row = (low, high)
    return rows.down(row, by), rows.up(row, by)


@pytest.mark.parametrize("by", [0, 1, 63, 64, 65, 126, 127, 128])
def test_rows_of_two_words_move_by_any_distance(by: int) -> None:
    for row in (1, 2**63, 2**64, 2**127, 2**128 - 1, 2**127 + 2**64 + 2**63 + 1):
        down, up = moved(np.uint64(row % 2**64), np.uint64(row >> 64), by)
        assert int(down[0]) + (int(down[1]) << 64) == row >> by
        assert int(up[0]) + (int(up[1]) << 64) == (row << by) % 2**128


@pytest.mark.parametrize("gaps", [(), (0,), (3,), (5, 2, 0), (62, 40, 39, 1)])
def test_gaps_are_taken_out_of_a_mask(gaps: tuple[int, ...]) -> None:
    for mask in (0, 1, 0b1011_0110, 2**63 - 1, 0x5A5A_C3C3_0F0F_1234):
        kept = [mask >> bit & 1 for bit in range(63) if bit not in gaps]
        filled = mask & ~sum(1 << gap for gap in gaps)
        assert int(without_gaps(filled, np.array(gaps, np.int64))) == sum(bit << k for k, bit in enumerate(kept))
