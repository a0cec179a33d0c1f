"""The CUDA kernel of the shifted sum: compiled for GPUs, run on the host thread by thread, run on a GPU.

Wherever it runs, each task must give exactly what the CPU kernel gives: value, residue and number of products
that are not 0.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from langford.arithmetic import limbs
from langford.arithmetic.residue import residue
from langford.kernels.gpu.program import source_of
from langford.methods import METHODS
from langford.methods.shifted.cpu import ShiftedOnCpu
from langford.methods.shifted.cuda import KERNELS, ShiftedOnGpu, ShiftedUBlockOnDevice
from langford.methods.shifted.cuda_shape import GpuSettings, GpuShape, settings_for
from langford.methods.shifted.forms import HalfForm, half_forms
from langford.methods.shifted.kernels.vectors import INNER_BITS
from langford.methods.shifted.plan import ShiftedPlan
from langford.problem import Problem
from tests.library.programs import COMPILED, WIDE, compile_only, gpu_program, host_program, require_same
from tests.library.test_shifted import VERSIONS, shifted_plan
from tests.support.cases import exhaustive

SMALL = GpuSettings(threads=64, min_blocks=1)
HOOKED = [Problem.named("hooked-skolem", 7), Problem.named("hooked-langford", 6)]
SETS = [
    Problem.from_differences([1, 2, 5, 6, 7]),
    Problem.from_differences([2, 4, 6], empty=[2, 4]),
    Problem.from_differences([2, 4], empty=[2, 4, 6]),
    Problem.from_differences([1, 50, 90]),
]
MANY_ODD = Problem.from_differences(range(1, 64, 2))
MANY_EVEN = Problem.from_differences(range(2, 42, 2))
FOLDED = [*map(Problem.parse, ("skolem 4 fold 2", "5 fold 2", "skolem 7 fold 2", "3 fold 3"))]
HOLED = [*map(Problem.parse, ("skolem 5 holes 1", "skolem 9 holes 1", "10 holes 1"))]
WIDE_HOLED = Problem.parse("28 holes 1")
WIDE_FOLDED = Problem.parse("skolem 16 fold 2")


def deepest(problem: Problem, depth: int, version: str = "shifted") -> int:
    """The depth, or the deepest one below it that the problem has."""
    return min(depth, METHODS[version].depths(problem)[-1])


def packed(naturals: list[int], order: list[int]) -> list[int]:
    return [sum((mask >> element & 1) << bit for bit, element in enumerate(order)) for mask in naturals]


def compare_block(
    plan: ShiftedPlan, compiler: Any, settings: GpuSettings, count: int, tiles: int, v: int | None = None
) -> None:
    """Some u's and tiles of v's, the extreme ones first, with their images: as the processor does them.

    v: natural; the only tile is the one that has it.
    """
    split, random = plan.components, Random(plan.problem.n)
    # As many elements are fixed at one end of v as at the other, so that a tile backwards is a tile.
    bits = 14 - len(split.v) % 2
    gpu = ShiftedOnGpu(plan, compiler, replace(settings, tile_bits=bits))
    symmetric = GpuShape.of(plan, settings).images > 1
    us = {0, *(sum(random.getrandbits(1) << k for k in split.u) for _ in range(count))}
    ends = split.u[0] + split.u[-1]
    backwards = {u: sum((u >> ends - k & 1) << k for k in split.u) if symmetric else u for u in us}
    smaller = sorted({min(pair) for pair in backwards.items()})
    windows = np.full(max(1, len(plan.forms.even)), -3, np.int32)
    block = ShiftedUBlockOnDevice(gpu.program.upload(np.array(smaller)), windows)
    processor = ShiftedOnCpu(plan, tile_bits=bits)
    both = processor.u_block(np.array(packed(sorted({*us, *backwards.values()}), split.u_order(0, INNER_BITS))))
    chosen = [0, random.getrandbits(len(split.v) - bits)][:tiles]
    if v is not None:
        chosen = [packed([v], split.v_order(0, INNER_BITS))[0] >> bits]
    for tile in chosen:
        reverse = sum((tile >> (k ^ 1) & 1) << k for k in range(len(split.v) - bits)) if symmetric else tile
        expected = processor.sum_over([both], [start << bits for start in {tile, reverse}])
        assert gpu.sum_over([block], [tile << bits], 2 if reverse != tile else 1) == expected
        # At the corner of the rows of odd differences alone nothing survives.
        assert tile or expected[2] > 0 or plan.problem in (MANY_ODD, MANY_EVEN)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("problem", "architecture"), COMPILED, ids=str)
def test_compiles_for_gpus(problem: Problem, architecture: str) -> None:
    plan = shifted_plan(problem, 4)
    settings = settings_for(plan)
    compile_only(source_of(KERNELS / "shifted.cu", GpuShape.of(plan, settings).definitions(settings)), architecture)


TASKS = [
    (Problem.langford(4), 4, 0, "shifted"), (HOOKED[0], 2, 3, "shifted2"), (FOLDED[0], 4, 1, "shifted2"),
    (HOLED[0], 2, 1, "shifted2"),
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize(("problem", "depth", "seed", "version"), TASKS, ids=str)
def test_tasks_on_the_host(problem: Problem, depth: int, seed: int, version: str) -> None:
    plan = shifted_plan(problem, deepest(problem, depth, version), seed, version)
    require_same(plan, ShiftedOnGpu(plan, host_program(), SMALL))


def compare_in_turn(compiler: Any) -> None:
    """Tasks of two plans in turn, whose programs differ in nothing but their constants."""
    plans = [shifted_plan(Problem.langford(4), 4, seed) for seed in (0, 1)]
    gpus = [ShiftedOnGpu(plan, compiler, SMALL) for plan in plans]
    for index in plans[0].tasks:
        assert [gpu.evaluate(index) for gpu in gpus] == [plan.evaluate(index) for plan in plans]


def test_plans_in_turn_on_the_host() -> None:
    compare_in_turn(host_program())


@pytest.mark.gpu
def test_plans_in_turn_on_the_gpu() -> None:
    compare_in_turn(gpu_program())


@pytest.mark.exhaustive
def test_tiles_and_blocks_add_up_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    # Several tiles of v's, several blocks of u's, and several chunks for each warp; sums are taken over in between.
    monkeypatch.setattr("langford.methods.shifted.cuda.UNKEPT_LAUNCHES", 1)
    plan = shifted_plan(Problem.named("hooked-skolem", 16), 0)
    few = replace(SMALL, tile_bits=13, u_block_bits=1, threads=32)
    gpu = ShiftedOnGpu(plan, host_program(), few)
    processor = ShiftedOnCpu(plan, tile_bits=13)
    starts = [0, 1 << 13]
    us = gpu.u_block([6], 2)
    order = plan.components.u_order(0, INNER_BITS)
    block = processor.u_block(np.array(packed(gpu.program.download(us.us).tolist(), order)))
    assert gpu.sum_over([us], starts) == processor.sum_over([block], starts)


@pytest.mark.parametrize(
    "problem",
    [
        Problem.langford(28),
        *exhaustive([MANY_ODD]),
    ],
    ids=str,
)
def test_blocks_of_wide_rows_on_the_host(problem: Problem) -> None:
    compare_block(shifted_plan(problem), host_program(), replace(SMALL, threads=32), 1, 1)


@pytest.mark.exhaustive
def test_blocks_of_wide_rows_with_differences_on_the_host() -> None:
    plan = shifted_plan(Problem.langford(28), 0, 1, "shifted2")
    compare_block(plan, host_program(), replace(SMALL, threads=32), 1, 1)


FULL_SUM = """
static_assert(MOST_ROUNDS <= MOST_TERMS / 2, "a batch has as many rounds again");
extern "C" __global__ void full_sum(i64 half, int rest, int weight, i64 *limbs, i64 *residues, u64 *terms) {
    Total total = {};
    Sum sum = {};
    for (int k = 0; k < MOST_TERMS; k++) add_product(sum, half, rest);
    settle(total, sum, weight);
    if (threadIdx.x || blockIdx.x) return;
    for (int k = 0; k < LIMBS; k++) limbs[k] = total.limbs[k], residues[k] = total.residues[k];
    *terms = total.evaluated;
}
extern "C" __global__ void full_product(int value, int weight, i64 *limbs, i64 *residues) {
    Total total = {};
    Bytes odd;
    Evens even;
    for (int k = 0; k < ODD_WORDS; k++) odd.word[k] = 0x01010101u * (128 + value);
    for (int k = 0; k < EVEN_WORDS; k++) even.word[k] = 0x01010101u * (128 + value);
    add_exactly(total, odd, even, false, true, weight);
    if (threadIdx.x || blockIdx.x) return;
    for (int k = 0; k < LIMBS; k++) limbs[k] = total.limbs[k], residues[k] = total.residues[k];
}
// All factors are 1 but those of two triples, whose product goes beyond 32 bits.
extern "C" __global__ void wide_half(int triples, int value, int weight, i64 *limbs, i64 *exact) {
    Total total = {}, again = {};
    Sum sum = {};
    Bytes odd;
    Evens even;
    for (int k = 0; k < ODD_WORDS; k++) odd.word[k] = 0x81818181u;
    for (int k = 0; k < EVEN_WORDS; k++) even.word[k] = 0x81818181u;
    constexpr Used used = used_bytes();
    for (int k = 0; k < LAST; k++) {
        if (!(triples >> k / 3 & 1)) continue;
        const int byte = used.byte[k], word = byte / 4, change = (129 ^ 128 + value) << byte % 4 * 8;
        if (word < ODD_WORDS) odd.word[word] ^= change;
        if (word < EVEN_WORDS) even.word[word] ^= change;
    }
    add_term(total, sum, odd, {}, &even, 0, even, weight, 0x80808080u);
    settle(total, sum, weight);
    add_exactly(again, odd, even, COUNTS_BITS && odd.word[ODD_WORDS - 1] >> 24 & 1, true, weight);
    if (threadIdx.x || blockIdx.x) return;
    for (int k = 0; k < LIMBS; k++) limbs[k] = total.limbs[k], exact[k] = again.limbs[k];
}
"""


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_holds_as_many_terms_as_it_takes_on_the_host(sign: int) -> None:
    # Its low part takes the most from a half whose low digit is −2^31, its high part from the largest half.
    plan = shifted_plan(Problem.skolem(32))
    settings = replace(SMALL, threads=32)
    definitions = GpuShape.of(plan, settings).definitions(settings)
    program = host_program()(source_of(KERNELS / "shifted.cu", definitions) + FULL_SUM, "full_sum", 32)
    # The largest factor that 64 filled places allow: two differences of as many terms of their own would need more.
    rest = max(form.bound for form in plan.forms.all) ** 4
    for half in (2**62 - 2**31, 2**62):
        total, again, terms = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(1, np.uint64)
        program.launch("full_sum", np.int64(sign * half), np.int32(rest), np.int32(4), total, again, terms)
        expected = sign * half * rest * int(terms[0])
        assert int(terms[0]) >= 4 * 32 * 2**13
        assert limbs.to_int(total) == expected
        assert residue(limbs.to_int(again)) == residue(expected)
    # Beyond 64 bits: the largest product of all factors.
    value, total, again = (
        sign * max(form.bound for form in plan.forms.all),
        np.zeros(8, np.int64),
        np.zeros(8, np.int64),
    )
    program.launch("full_product", np.int32(value), np.int32(4), total, again)
    expected = 4 * 32 * value**32
    assert limbs.to_int(total) == expected > 2**150
    assert residue(limbs.to_int(again)) == residue(expected)
    # Each of the two halves that are multiplied in 32 bits, alone too large for them, at each of its steps.
    for triples in (0b00011, 0b01100, 0b10001):
        program.launch("wide_half", np.int32(triples), np.int32(value), np.int32(4), total, again)
        assert limbs.to_int(total) == limbs.to_int(again)
        assert abs(limbs.to_int(total)) > 2**31


def farthest(half: HalfForm, length: int) -> int:
    """A v at which half an even form is far from 0: no change of one or two elements takes it farther."""

    def size(v: int) -> int:
        return abs(int(half(np.array([v]))[0]))

    changes = [1 << k | 1 << other for k in range(length) for other in range(k + 1)]
    reached = []
    for start in range(4):
        v = Random(start).getrandbits(length)
        while size(better := max((v ^ change for change in changes), key=size)) > size(v):
            v = better
        reached.append(v)
    return max(reached, key=size)


@pytest.mark.exhaustive
def test_values_that_fit_no_half_byte_on_the_host() -> None:
    plan = shifted_plan(Problem.langford(28), 0)
    half = half_forms(plan.forms.even[-2])[1]
    v = farthest(half, 28)
    assert not -8 <= int(half(np.array([v]))[0]) < 8
    compare_block(plan, host_program(), replace(SMALL, threads=32), 300, 1, v)


@pytest.mark.exhaustive
def test_settings_do_not_matter_on_the_host() -> None:
    plan = shifted_plan(Problem.langford(7), 4)
    settings = replace(SMALL, windows=(9, 9), joined=1, even_window=1)
    require_same(plan, ShiftedOnGpu(plan, host_program(), settings))


@pytest.mark.parametrize("gibibytes", [2, 6, 16, 80])
def test_joint_rows_fit_the_memory(gibibytes: int) -> None:
    plan, memory = shifted_plan(Problem.langford(31), 16), gibibytes << 30
    settings = settings_for(plan, memory)
    shape = GpuShape.of(plan, settings)
    assert shape.joint_bytes(settings) <= memory // 4
    more = replace(settings, joined=settings.joined + 1)
    assert settings.joined == settings_for(plan).joined or shape.joint_bytes(more) > memory // 4


LARGER_TASKS = [
    *((Problem.langford(n), 4, n % 2) for n in range(3, 17)),
    *((Problem.skolem(n), 4, 0) for n in range(1, 14)),
    *((problem, depth, 7) for problem in (*HOOKED, *SETS) for depth in (0, 2)),
    *((problem, 4, 1) for problem in (*FOLDED, *HOLED)),
    (Problem.named("hooked-skolem", 14), 4, 0), (Problem.named("hooked-langford", 15), 2, 0),
    (Problem.langford(18), 4, 0),
    (Problem.langford(19), 4, 0), (Problem.langford(19), 8, 11), (Problem.langford(20), 8, 0),
    (Problem.skolem(20), 4, 0),
]  # fmt: skip


@pytest.mark.gpu
@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("version", VERSIONS)
def test_tasks_on_the_gpu(version: str, part: int) -> None:
    compiler = gpu_program()
    for problem, depth, seed in LARGER_TASKS[part::4]:
        if METHODS[version].refusal(problem) is None:
            plan = shifted_plan(problem, deepest(problem, depth, version), seed, version)
            require_same(plan, ShiftedOnGpu(plan, compiler), problem.n < 17)


@pytest.mark.gpu
@pytest.mark.parametrize("version", VERSIONS)
def test_blocks_of_wide_rows_on_the_gpu(version: str) -> None:
    compiler = gpu_program()
    for problem in (*WIDE, WIDE_FOLDED, WIDE_HOLED, Problem.named("hooked-langford", 32), MANY_ODD, MANY_EVEN):
        if METHODS[version].refusal(problem) is None:
            plan = shifted_plan(problem, 0, 5, version)
            compare_block(plan, compiler, settings_for(plan), 3000, 2)


@pytest.mark.gpu
@pytest.mark.parametrize("version", VERSIONS)
def test_large_tasks_on_the_gpu(version: str) -> None:
    compiler = gpu_program()
    plan = shifted_plan(Problem.langford(24), 20, 0, version)
    gpu = ShiftedOnGpu(plan, compiler)
    for index in (0, 1, len(plan.work) - 1):
        assert gpu.evaluate(index) == plan.evaluate(index)
