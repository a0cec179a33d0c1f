"""How long a task may take: from the speeds that were seen, and no shorter than the patience."""

from __future__ import annotations

import pytest

from jobs.run.limits import LIMIT_FACTOR, MARGIN, MAX_LOOK, START_SECONDS, UNKNOWN_SECONDS, KnownSpeed, Watch
from tests.support.clock import MovableClock

TOKEN, WORK = 7, 100.0


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


def watching(patience: float, clock: MovableClock) -> Watch:
    """A watch that has seen a short task."""
    speed = KnownSpeed()
    speed.saw(WORK, 0.001)
    return Watch(speed, patience, clock)


def seconds_until_overdue(watch: Watch, clock: MovableClock, steps: int | None, most: float = 2e5) -> float:
    """How long a task is evaluated before its process is taken to hang."""
    start = clock.monotonic()
    while watch.overdue(TOKEN, WORK) is None and clock.monotonic() - start < most:
        watch.look({TOKEN: steps})
        clock.move(1.0)
    return clock.monotonic() - start


def test_the_limit_is_a_multiple_of_what_the_slowest_would_need(clock: MovableClock) -> None:
    speed = KnownSpeed()
    watch = Watch(speed, patience=10.0, clock=clock)
    speed.saw(50.0, 2.0)
    speed.saw(50.0, 5.0)  # the slowest
    speed.saw(0.0, 99.0)
    assert (speed.expected(1.0), speed.longest(1.0)) == (pytest.approx(MARGIN * 0.07), pytest.approx(0.1))
    limit = LIMIT_FACTOR * 0.1 * WORK
    assert limit < seconds_until_overdue(watch, clock, steps=3) < limit + 5
    assert "(10 s expected)" in str(watch.overdue(TOKEN, WORK))


def test_small_tasks_have_the_patience_and_unknown_ones_a_day(clock: MovableClock) -> None:
    quick = watching(120.0, clock)
    assert 120 < seconds_until_overdue(quick, clock, steps=0) < 125
    assert (
        UNKNOWN_SECONDS
        < seconds_until_overdue(Watch(KnownSpeed(), 120.0, clock), clock, steps=0)
        < UNKNOWN_SECONDS + 5
    )


def test_a_process_that_does_not_begin_has_its_own_limit(clock: MovableClock) -> None:
    watch = watching(1.0, clock)
    assert START_SECONDS < seconds_until_overdue(watch, clock, steps=None) < START_SECONDS + 5
    assert watch.overdue(TOKEN, WORK).startswith("has not started after 15 min")
    patient = watching(2 * START_SECONDS, clock)
    assert 2 * START_SECONDS < seconds_until_overdue(patient, clock, steps=None) < 2 * START_SECONDS + 5


def test_time_in_which_the_machine_was_stopped_does_not_count(clock: MovableClock) -> None:
    watch = watching(60.0, clock)
    watch.look({TOKEN: 1})
    clock.move(10_000)
    watch.look({TOKEN: 1})
    assert watch.overdue(TOKEN, WORK) is None
    assert seconds_until_overdue(watch, clock, steps=1) > 60 - MAX_LOOK - 2


def test_each_task_has_its_own_time(clock: MovableClock) -> None:
    watch = watching(30.0, clock)
    for token in range(100):
        watch.look({token: 1})
        clock.move(4.0)
        watch.look({token: 2})
        assert watch.overdue(token, WORK) is None
