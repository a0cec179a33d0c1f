"""Our own objects: states of searches against plans, brute force and random walks; farms against a simulation."""

from __future__ import annotations

import importlib
import tracemalloc
from math import sqrt
from typing import Any

import numpy as np
import pytest

from langford.errors import BadDepth, MethodDoesNotApply
from langford.irregular import search_states
from langford.irregular.trees.search_states import children_of_words, starts_of_words
from langford.irregular.trees.search_tree import search_sizes, walk_spread
from langford.kernels.gpu.runtime import NoGpu
from langford.methods import METHODS
from langford.methods.backtracking.estimation import estimate
from langford.methods.backtracking.kernels.backtrack import count_starts, feasible
from langford.methods.backtracking.order import SearchOrder
from langford.problem import Problem
from langford.problem.reference import published
from tests.irregular.references import unrolled
from tests.library.test_parity import LARGEST
from tests.support.brute_force import arrangements

PROBLEMS = [
    *(
        Problem.named(variant, n, copies)
        for (variant, copies), limits in LARGEST.items()
        for n in range(1, min(limits.values()) + 1)
        if n <= 7 and not Problem.named(variant, n, copies).circle
        if METHODS["miller"].refusal(Problem.named(variant, n, copies)) is None
    ),
    Problem.langford(8),
    Problem.skolem(8),
    Problem.langford(9, 3),
    Problem.from_differences([1, 2, 5, 6]),
    # Two words.
    Problem.from_differences(range(2, 9), 80, [k for k in range(1, 81) if not 57 <= k < 71]),
]


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_levels_are_those_of_the_plans(problem: Problem) -> None:
    sizes = search_sizes(problem)
    states = search_states(problem)
    plans: list[Any] = [METHODS["miller"].plan(problem, depth) for depth in range(1, problem.n + 1)]
    assert [level.nodes for level in sizes.levels] == [len(plan.tasks) for plan in plans]
    for plan, level in zip(plans, states.levels, strict=True):
        # The same free places, each as often.
        rows, counts = np.unique(plan.frees, axis=0, return_counts=True)
        assert np.array_equal(rows, level.frees)
        assert np.array_equal(counts, level.ways)
    total = sum(level.nodes for level in sizes.levels)
    assert (states.levels[0].ways * (1 + states.levels[0].nodes_below)).sum() == total
    assert len(unrolled(states)) == total + 1
    if problem.places <= 17:
        assert states.arrangements == arrangements(problem)
    if published(problem) is not None:
        assert sizes.count == published(problem)


def test_what_lies_below_a_task_is_what_deeper_plans_say() -> None:
    problem = Problem.langford(8)
    plans: list[Any] = [METHODS["miller"].plan(problem, depth) for depth in range(1, 9)]
    sizes = search_sizes(problem)
    for depth in (1, 2, 4):
        below = sum(
            np.bincount(plans[depth - 1].owners(plan), minlength=len(plans[depth - 1].tasks))
            for plan in plans[depth:]
        )
        level = sizes.levels[depth - 1]
        assert level.mean_below == pytest.approx(np.mean(below))
        assert level.sigma_below == pytest.approx(np.std(below))
        assert level.largest_below == np.max(below)
        work = plans[depth - 1].work
        off = work / work.mean() - below / np.mean(below)
        assert level.work_error == pytest.approx(sqrt(np.mean(off**2)))
    assert [level.depth for level in search_sizes(problem, 3).levels] == [1, 2, 3]


def test_a_long_list_of_tasks_above_a_short_one_has_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.langford(7)
    levels = search_sizes(problem).levels
    widest = max(level.nodes for level in levels)
    assert levels[-2].nodes < widest
    assert levels[-2].work_error is not None
    for module in ("irregular.trees.search_tree", "methods.backtracking.plan"):
        monkeypatch.setattr(f"langford.{module}.MAX_TASKS", widest - 1)
    assert search_sizes(problem).levels[-2].work_error is None


@pytest.mark.parametrize("problem", [Problem.langford(7), Problem.skolem(6), Problem.langford(9, 3)], ids=str)
def test_children_without_a_kernel_are_those_of_the_kernel(problem: Problem) -> None:
    # What a GPU does, with NumPy.
    order = SearchOrder.of(problem)
    shapes = order.shapes(problem)
    frees = order.roots(problem)
    for difference in order.differences[1:]:
        fitting = starts_of_words(frees, difference, problem.copies)
        assert np.bitwise_count(fitting).tolist() == count_starts(frees, difference, problem.copies).tolist()
        below = feasible(frees, difference, problem.copies, shapes)
        assert children_of_words(frees, fitting, shapes[difference]).tolist() == below.tolist()
        frees = below


@pytest.mark.parametrize(("problem", "depth"), [(Problem.langford(12), None), (Problem.langford(34), 4)])
def test_states_need_no_more_memory_than_they_ask_for(
    problem: Problem, depth: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    search_states(problem, depth)  # compiles
    module = importlib.import_module("langford.irregular.trees.search_states")
    asked: list[tuple[int, int]] = []
    excess: list[float] = []

    def look(what: str, needed: int, present: int) -> None:
        close()
        asked.append((needed, tracemalloc.get_traced_memory()[0]))
        tracemalloc.reset_peak()

    def close() -> None:
        if asked and asked[-1][0] > 10**7:
            excess.append((tracemalloc.get_traced_memory()[1] - asked[-1][1]) / asked[-1][0])

    monkeypatch.setattr(module, "require_memory", look)
    tracemalloc.start()
    search_states(problem, depth)
    close()
    tracemalloc.stop()
    assert excess
    assert 0.2 < max(excess) < 1


@pytest.mark.gpu
@pytest.mark.parametrize("problem", [Problem.langford(8), Problem.skolem(9), Problem.langford(9, 3)], ids=str)
def test_a_gpu_finds_the_same_states(problem: Problem) -> None:
    try:
        found = search_sizes(problem, device="cuda")
    except NoGpu as error:
        pytest.skip(f"needs a GPU: {error}")
    assert found == search_sizes(problem)


@pytest.mark.parametrize(
    "problem",
    [Problem.langford(8), Problem.skolem(9), Problem.named("hooked-skolem", 7), Problem.langford(9, 3)],
    ids=str,
)
def test_the_spread_of_a_walk_is_that_of_all_walks(problem: Problem) -> None:
    # Every walk with its probability: the children of a placement are equally likely.
    order = SearchOrder.of(problem)
    states = search_states(problem)
    spread = walk_spread(states)
    moments = np.zeros(2)
    waiting = [(0, state, 1 / states.levels[0].nodes) for state in range(states.levels[0].nodes)]
    while waiting:
        depth, state, probability = waiting.pop()
        level = states.levels[depth]
        if depth == spread.switch - 1:
            value = level.arrangements[state] / probability * order.weight
            if problem.mirrored:
                value = (value + problem.self_mirrored) / 2
            moments += np.array([value, value**2]) * probability
            continue
        children = level.children[level.indptr[state] : level.indptr[state + 1]].tolist()
        if not children:
            lost = problem.self_mirrored / 2 if problem.mirrored else 0.0
            moments += np.array([lost, lost**2]) * probability
        waiting += [(depth + 1, child, probability / len(children)) for child in children]
    mean, square = moments
    assert mean == pytest.approx(published(problem))
    assert spread.relative_sigma == pytest.approx(sqrt(square - mean**2) / mean)


def test_the_spread_of_estimates() -> None:
    problem, walks = Problem.langford(11), 40_000
    spread = walk_spread(search_states(problem))
    sampled = estimate(problem, walks)
    assert spread.relative_sigma is not None
    assert sampled.standard_error * sqrt(walks) / 17792 == pytest.approx(spread.relative_sigma, rel=0.03)
    assert spread.walks_for_1_percent == pytest.approx(1e4 * spread.relative_sigma**2, abs=1)


def test_problems_without_arrangements_and_bad_depths() -> None:
    sizes = search_sizes(Problem.langford(5))
    assert sizes.arrangements == 0
    assert sizes.walk.relative_sigma is sizes.walk.walks_for_1_percent is None
    partly = search_states(Problem.langford(8), 3)
    assert [level.depth for level in partly.levels] == [1, 2, 3]
    assert partly.arrangements == 0
    whole = search_states(Problem.langford(8)).levels
    assert np.array_equal(partly.levels[0].nodes_below[:0], whole[0].nodes_below[:0])
    assert (partly.levels[0].nodes_below * partly.levels[0].ways).sum() == whole[1].nodes + whole[2].nodes
    for depth in (0, 9):
        with pytest.raises(BadDepth, match=r"from 1 to 8"):
            search_states(Problem.langford(8), depth)
    with pytest.raises(MethodDoesNotApply, match="128"):
        search_states(Problem.langford(70))
    with pytest.raises(MethodDoesNotApply, match="a circle"):
        search_states(Problem.named("starter", 7))
