"""How long a task takes, by the results of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.look.figures.speeds import Arrival
from db.look.overview.forecast import ALIKE, TaskTimes

works = st.floats(1e-3, 1e18)
seconds_of_tasks = st.floats(1e-6, 1e9)


def times_of(results: Sequence[tuple[float, float]]) -> Callable[[float], float | None]:
    """How long a task of some work takes, by results of tasks of (work, seconds)."""
    arrivals = [Arrival("here", 0.0, work, seconds) for work, seconds in results]
    return partial(TaskTimes(arrivals, {"here": "a core"}).seconds, "a core")


@given(st.lists(works, min_size=1), works, st.floats(1e-9, 1e9))
def test_tasks_that_take_as_long_as_their_work_are_known_exactly(
    done: list[float], work: float, pace: float
) -> None:
    assert times_of([(one, one * pace) for one in done])(work) == pytest.approx(work * pace)


@given(st.lists(st.tuples(works, seconds_of_tasks), min_size=1), works, works)
def test_a_task_of_more_work_takes_no_less_time(done: list[tuple[float, float]], one: float, other: float) -> None:
    times = times_of(done)
    shorter, longer = times(min(one, other)), times(max(one, other))
    assert shorter is not None
    assert longer is not None
    assert 0 < shorter <= longer * (1 + 1e-9)


@given(
    st.integers(1, 1000),
    st.sets(st.integers(0, 40), min_size=1),
    st.floats(0, 1e9),
    st.floats(1e-9, 1e9),
)
def test_tasks_with_a_fixed_cost_are_known_by_their_results(
    number: int, sizes: set[int], cost: float, pace: float
) -> None:
    takes = {2.0**size: cost + pace * 2.0**size for size in sizes}
    times = times_of([task for task in takes.items() for _ in range(number)])
    for work, seconds in takes.items():
        known = times(work)
        assert known is not None
        assert number / (number + ALIKE) * seconds <= known * (1 + 1e-9)
        assert known <= seconds * (1 + 1e-9)


@pytest.mark.parametrize("larger", [1.0, 3.0])
def test_a_few_claims_of_centuries_change_nothing(larger: float) -> None:
    # Three true results that claimed 10^10 s beside ten others made "about 2 d 5 h" of 20 minutes.
    honest = [(1000.0 + i, 60.0 + i % 3) for i in range(10)]
    alone, beside = times_of(honest), times_of([*honest, *((larger * 1000.0, 1e10) for _ in range(3))])
    for work in (500.0, 1000.0, 4000.0):
        assert beside(work) == pytest.approx(alone(work))


def test_short_claims_of_many_do_not_silence_the_results_of_others() -> None:
    arrivals = [Arrival("liar", 0.0, 1000.0, 1e-9) for _ in range(50)]
    arrivals += [Arrival(name, 0.0, 1000.0, 60.0) for name in ("one", "other") for _ in range(5)]
    models = dict.fromkeys(("liar", "one", "other"), "a core")
    times = TaskTimes(arrivals, models, {name: name for name in models})
    assert times.seconds("a core", 1000.0) == pytest.approx(60.0)
