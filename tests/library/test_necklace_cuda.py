"""The CUDA kernel of the sum over necklaces: each task must give exactly what the CPU kernel gives."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from langford.arithmetic import limbs
from langford.methods import METHODS, merge
from langford.methods.necklace.cuda import NecklaceOnGpu
from langford.methods.necklace.plan import NecklacePlan
from langford.problem import Problem
from tests.library.programs import (
    ARCHITECTURES,
    BY_NAME,
    compile_only,
    gpu_program,
    host_program,
    require_same,
    text_of,
)
from tests.library.test_necklace import (
    CYCLIC_SKOLEM,
    EVEN_STARTERS,
    STARTERS,
    cyclic_skolem,
    even_starter,
    exactly,
    starter,
)
from tests.support.cases import exhaustive

KNOWN = {"starter": STARTERS, "cyclic-skolem": CYCLIC_SKOLEM, "even-starter": EVEN_STARTERS}
LOOSE = [
    Problem.parse(f"cyclic {','.join(map(str, range(1, 8 - more // 2)))} empty 1 holes {more}")
    for more in range(2, 6)
]
"""Circles of three to six holes."""
LONGEST_LOOSE = Problem.parse(f"cyclic {','.join(map(str, range(3, 32)))} empty 1 holes 4")


def plan_of(problem: Problem, depth: int = 6, seed: int = 0) -> NecklacePlan:
    method = METHODS["necklace"]
    plan = method.plan(problem, min(depth, method.depths(problem)[-1]), seed)
    assert isinstance(plan, NecklacePlan)
    return plan


@pytest.mark.parametrize(
    ("problem", "architecture"),
    [
        (each, architecture)
        for each, architecture in zip(
            (starter(5), cyclic_skolem(32), even_starter(32)), (*ARCHITECTURES, "sm_90"), strict=True
        )
    ],
    ids=str,
)
def test_compiles_for_gpus(problem: Problem, architecture: str) -> None:
    compile_only(text_of(partial(NecklaceOnGpu, plan_of(problem))), architecture)


@pytest.mark.parametrize(
    ("problem", "seed", "free"),
    [
        (starter(8), 0, 5), (cyclic_skolem(9), 0, 6), (LOOSE[0], 1, 6),  # a task has less places than a head
        *exhaustive([(even_starter(9), 1, 5), (LOOSE[-1], 1, 5)]),
    ],
    ids=str,
)  # fmt: skip
def test_tasks_on_the_host(problem: Problem, seed: int, free: int) -> None:
    plan = plan_of(problem, 10, seed)
    require_same(plan, NecklaceOnGpu(plan, partial(_on_host, free), threads=64))


def _on_host(free: int, text: str, main: str, threads: int) -> Any:
    """The compiler for the host, with a number of places of words."""
    return host_program()(f"#define FREE {free}\n{text}", main, threads)


def test_tasks_of_many_beginnings_on_the_host() -> None:
    plan = plan_of(starter(9), 3)
    assert plan.free.max() >= 15  # 8 beginnings or more, and words with four heads
    require_same(plan, NecklaceOnGpu(plan, partial(_on_host, 5), threads=64))


@pytest.mark.parametrize("problem", [starter(31), *exhaustive([LONGEST_LOOSE])], ids=str)
def test_the_widest_words_of_the_longest_circle_on_the_host(problem: Problem) -> None:
    plan = plan_of(problem, 2)
    gpu = NecklaceOnGpu(plan, partial(_on_host, 5), threads=32)
    for index in (1, 2, 3):
        assert gpu.evaluate(index) == exactly(plan, index)


TWO_TERMS = """
// The first term from the word on whose 39 lowest bits are 0, and the same word's of a product of −2^25.
extern "C" __global__ void two_terms(i64 first, int gap, i64 *one, i64 *other) {
    for (u64 word = first;; word++) {
        Total total = {}, again = {};
        add_term({word, 1}, gap, total);
        if (!total.found || total.limbs[0] || total.limbs[1] & 127) continue;
        add_term({word, -(1 << 25)}, gap, again);
        for (int k = 0; k < 2 * TERM_WORDS; k++) one[k] = total.limbs[k], other[k] = again.limbs[k];
        return;
    }
}
"""


def test_a_carry_passes_a_word_of_zeros_on_the_host() -> None:
    plan = plan_of(starter(31), 2)
    text = f"#define FREE 5\n{text_of(partial(NecklaceOnGpu, plan))}{TWO_TERMS}"
    one, other = limbs.zero(plan.term_bound), limbs.zero(plan.term_bound)
    program = host_program()(text, "two_terms", 32)
    for start, gap in zip(plan.prefixes[1:4].tolist(), plan.gaps[1:4].tolist(), strict=True):
        program.launch("two_terms", np.int64(start), np.int32(gap), one, other)
        assert limbs.to_int(other) == -(2**25) * limbs.to_int(one) != 0


@pytest.mark.exhaustive
def test_the_smallest_tasks_of_a_long_circle_on_the_host() -> None:
    # All together would take years.  One of the tasks has a prefix of many short gaps.
    plan = plan_of(cyclic_skolem(32), 26, 1)
    gpu = NecklaceOnGpu(plan, partial(_on_host, 5), threads=32)
    dense = (plan.free <= 38) & (plan.work < 2**13)
    smallest = [*range(1, 7), *dense.nonzero()[0][-2:].tolist()]
    results = [gpu.evaluate(index) for index in smallest]
    assert results == [plan.evaluate(index) for index in smallest]
    assert all(result.value for result in results)


@pytest.mark.gpu
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "problem",
    [*map(starter, (2, 9, 14, 17)), *map(cyclic_skolem, (5, 16, 17)), *map(even_starter, (2, 9, 12))],
    **BY_NAME,
)
def test_published_numbers_on_the_gpu(problem: Problem, seed: int) -> None:
    plan = plan_of(problem, 4 + seed, seed)
    gpu = NecklaceOnGpu(plan, gpu_program())
    results = [gpu.evaluate(index) for index in plan.tasks]
    assert merge(plan, results).published == KNOWN[problem.variant][problem.order]
    if problem.order < 15:
        assert results == [plan.evaluate(index) for index in plan.tasks]


@pytest.mark.gpu
@pytest.mark.parametrize("problem", LOOSE, **BY_NAME)
def test_circles_with_several_holes_on_the_gpu(problem: Problem) -> None:
    plan = plan_of(problem, 4, 1)
    require_same(plan, NecklaceOnGpu(plan, gpu_program()))


@pytest.mark.gpu
@pytest.mark.parametrize(
    "problem",
    [
        starter(28),
        starter(29),
        starter(31),
        *map(cyclic_skolem, (28, 32)),
        *map(even_starter, (28, 32)),
        LONGEST_LOOSE,
    ],
    **BY_NAME,
)
def test_some_tasks_of_long_circles_on_the_gpu(problem: Problem) -> None:
    plan = plan_of(problem, 26, 1)
    gpu = NecklaceOnGpu(plan, gpu_program())
    chosen = [*range(1, 12), *(plan.work < 2**27).nonzero()[0][-3:].tolist()]
    assert [gpu.evaluate(index) for index in chosen] == [plan.evaluate(index) for index in chosen]
