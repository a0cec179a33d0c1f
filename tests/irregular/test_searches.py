"""Our own objects: states of searches against plans, brute force and random walks; farms against a simulation."""

from __future__ import annotations

import heapq
import importlib
import tracemalloc
from math import sqrt
from typing import Any

import numpy as np
import pytest

from jobs.tuning.throughput import Farm, Pipeline, best_streams, launches_per_second, throughput
from langford.errors import BadDepth, BadInput, MethodDoesNotApply
from langford.irregular import search_states
from langford.irregular.trees.search_states import children_of_words, starts_of_words
from langford.irregular.trees.search_tree import search_sizes, walk_spread
from langford.kernels.gpu.runtime import NoGpu
from langford.methods import METHODS
from langford.methods.backtracking.estimation import estimate
from langford.methods.backtracking.kernels.backtrack import count_starts, feasible, random_walks
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
    "problem", [Problem.langford(8), Problem.skolem(9), Problem.hooked_skolem(7), Problem.langford(9, 3)], ids=str
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


def test_walks_of_the_kernel_have_the_probabilities_assumed() -> None:
    problem = Problem.langford(7)
    order = SearchOrder.of(problem)
    states, walks = search_states(problem), 60_000
    spread = walk_spread(states)
    ends, _ = random_walks(
        order.roots(problem), np.array(order.differences[1:], np.int64), 2, order.shapes(problem),
        spread.switch - 1, walks, np.uint64(5),
    )  # fmt: skip
    assert ends.mean() * order.weight == pytest.approx(states.arrangements, rel=0.03)


# -- farms ------------------------------------------------------------------------------------


def simulated(farm: Farm, rounds: int = 400) -> float:
    """Tasks per second of a farm, event by event: the server takes requests in the order of their arrival."""
    lease, result, trip = (value / 1000 for value in (farm.lease_ms, farm.result_ms, farm.round_trip_ms))
    computing = farm.batch * farm.task_seconds
    # (arrival, worker, what it wants); one way of the network is half a round trip.
    waiting = [(trip / 2, worker, "lease") for worker in range(farm.workers)]
    free, done, half = 0.0, 0, 0.0
    total = rounds * farm.workers
    while done < total:
        arrival, worker, wanted = heapq.heappop(waiting)
        free = max(free, arrival) + (lease if wanted == "lease" else result)
        if wanted == "lease":
            heapq.heappush(waiting, (free + trip + computing, worker, "result"))
        else:
            done += 1
            half = free if done == total // 2 else half
            heapq.heappush(waiting, (free + trip, worker, "lease"))
    return (total - total // 2) * farm.batch / (free - half)


@pytest.mark.parametrize(
    "farm",
    [
        Farm(1, 1, 0.5, 4, 4, 1),
        Farm(3, 2, 0.01, 3, 1, 2),
        Farm(8, 1, 0.01, 3, 1, 2),
        Farm(40, 1, 0.01, 3, 1, 2),
        Farm(5, 4, 0.0, 2, 2, 10),
    ],
    ids=str,
)
def test_a_farm_is_as_fast_as_its_simulation(farm: Farm) -> None:
    pace = throughput(farm)
    assert simulated(farm) == pytest.approx(pace.tasks_per_second, rel=0.02)
    cycle = 2 * farm.round_trip_ms + farm.batch * farm.task_seconds * 1000 + farm.lease_ms + farm.result_ms
    saturated = farm.workers * (farm.lease_ms + farm.result_ms) >= cycle
    assert pace.saturates_at is not None
    assert (farm.workers >= pace.saturates_at) == saturated
    assert pace.limited_by == ("server" if saturated else "workers")
    batch = [] if saturated and farm.workers > 1 else ["batch"]
    assert sorted(pace.critical) == sorted(["results", "lease", *batch])


@pytest.mark.parametrize("workers", [1, 3, 5, 30])
def test_requests_at_random_times_are_as_slow_as_in_a_simulation(workers: int) -> None:
    farm = Farm(workers, 2, 0.01, 3, 3, 1)
    random, rounds = np.random.default_rng(workers), 60_000
    served, away = random.exponential(0.006, rounds), random.exponential(0.022, rounds + workers)
    arrivals = away[:workers].tolist()
    heapq.heapify(arrivals)
    free = 0.0
    for turn in range(rounds):
        free = max(free, heapq.heappop(arrivals)) + served[turn]
        heapq.heappush(arrivals, free + away[workers + turn])
    pace = throughput(farm)
    assert rounds * farm.batch / free == pytest.approx(pace.expected_tasks_per_second, rel=0.02)
    assert pace.expected_tasks_per_second <= pace.tasks_per_second
    if workers == 5:
        assert pace.expected_tasks_per_second < 0.85 * pace.tasks_per_second


def simulated_streams(pipeline: Pipeline, streams: int, launches: int = 6000) -> float:
    """Launches per second: each step takes one stream at a time, in turn; a kernel's tail keeps none waiting."""
    *steps, tail = (value / 1000 for value in vars(pipeline).values())
    tails = [0, 0, tail, 0]
    ready, free = [0.0] * streams, [0.0] * len(steps)
    halfway = 0.0
    for launch in range(launches):
        stream = launch % streams
        for step, seconds in enumerate(steps):
            ready[stream] = max(ready[stream], free[step]) + seconds
            free[step] = ready[stream] - tails[step]
        if launch == launches // 2 - 1:
            halfway = ready[stream]
    return launches / 2 / (ready[(launches - 1) % streams] - halfway)


@pytest.mark.parametrize(
    ("pipeline", "best"),
    [
        (Pipeline(2, 1, 3, 0.5), 3),
        (Pipeline(1, 1, 1, 1), 4),
        (Pipeline(0.1, 0.1, 5, 0.1), 2),
        (Pipeline(0, 0, 7, 0), 1),
        (Pipeline(1, 0.1, 30, 0.1, 15), 3),
        (Pipeline(1, 0.1, 30, 0.1, 30), 32),
    ],
    ids=str,
)
def test_streams_keep_the_slowest_step_busy(pipeline: Pipeline, best: int) -> None:
    assert best_streams(pipeline) == best
    for streams in range(1, best + 2):
        pace = launches_per_second(pipeline, streams)
        assert simulated_streams(pipeline, streams) == pytest.approx(pace, rel=0.01)
    feed, copy, kernel, result, tail = vars(pipeline).values()
    assert launches_per_second(pipeline, best) == pytest.approx(1000 / max(feed, copy, kernel - tail, result))


def test_a_measured_time_suits_a_large_farm() -> None:
    """A mean has all digits of a float."""
    pace = throughput(Farm(1000, 1, 0.002 / 3, 4.0, 4.0, 1.0))
    assert pace.saturates_at == 2
    assert pace.tasks_per_second == pytest.approx(125.0)


def test_farms_that_cannot_be() -> None:
    with pytest.raises(BadInput, match="at least one"):
        throughput(Farm(0, 1, 1, 1, 1, 1))
    with pytest.raises(BadInput, match="nothing takes time"):
        throughput(Farm(1, 1, 0, 0, 0, 0))
    with pytest.raises(BadInput, match="0 streams"):
        launches_per_second(Pipeline(1, 1, 1, 1), 0)
    with pytest.raises(BadInput, match="longer than its kernel"):
        launches_per_second(Pipeline(1, 1, 1, 1, 1.5), 2)
    assert throughput(Farm(2, 1, 1, 0, 0, 0)).saturates_at is None
