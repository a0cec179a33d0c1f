"""The rule by which a server is shared, with a clock that is moved: who has used least of late is next."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from jobs.farm.guard.bounds import (
    ALONE_SECONDS,
    MAX_RETRY_SECONDS,
    MIN_RETRY_SECONDS,
    OF_A_PAYER,
    REMEMBERED,
    WAIT_SECONDS,
    WINDOW_SECONDS,
)
from jobs.farm.guard.charges import Charges, Payer, charged
from jobs.farm.guard.shares import Lane, NoTime, Queue, Rank, Turns
from tests.farm.test_protocol import MovableLoop
from tests.farm.test_protocol import run as run_moved
from tests.support.clock import MovableClock

LIAR, HONEST = Payer("liar"), Payer("honest")


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def charges(clock: MovableClock) -> Charges:
    return Charges(clock)


def served(charges: Charges, clock: MovableClock, costs: dict[Payer, float], seconds: float) -> Counter[Payer]:
    """The processor time of payers that always have something waiting, each of which has its cost."""
    queue, used, until = Queue[None](charges), Counter[Payer](), clock.monotonic() + seconds
    for payer in costs:
        queue.put(payer, None)
    while clock.monotonic() < until:
        found = queue.next()
        assert found is not None
        payer, _ = found
        clock.move(costs[payer])
        charges.add(payer, costs[payer])
        used[payer] += costs[payer]  # type: ignore[assignment]
        queue.put(payer, None)
    return used


@pytest.mark.parametrize("liars", [1, 4])
def test_a_token_gets_no_more_for_requests_that_cost_more(
    charges: Charges, clock: MovableClock, liars: int
) -> None:
    costs = {HONEST: 0.005, **{Payer(f"liar {number}"): 0.06 for number in range(liars)}}
    used = served(charges, clock, costs, 30.0)
    assert used[HONEST] == pytest.approx(30.0 / (1 + liars), rel=0.05)


def test_an_honest_request_waits_for_one_other_at_most(charges: Charges) -> None:
    queue = Queue[str](charges)
    for number in range(100):
        queue.put(LIAR, f"forged {number}")
    assert queue.next() == (LIAR, "forged 0")
    charges.add(LIAR, 0.06)
    queue.put(HONEST, "lease")
    assert [queue.next(), queue.next()] == [(HONEST, "lease"), (LIAR, "forged 1")]


def test_strangers_share_what_one_token_gets(charges: Charges, clock: MovableClock) -> None:
    """However many addresses they have."""
    costs = {HONEST: 0.01, **{Payer.stranger(f"192.0.2.{number}"): 0.01 for number in range(50)}}
    used = served(charges, clock, costs, 20.0)
    assert used.pop(HONEST) == pytest.approx(10.0, rel=0.05)
    assert max(used.values()) <= min(used.values()) + 0.011


def test_what_was_used_long_ago_is_forgotten(charges: Charges, clock: MovableClock) -> None:
    charges.add(LIAR, 1.0)
    clock.move(WINDOW_SECONDS)
    charges.add(HONEST, 0.5)
    assert charges.least([HONEST, LIAR]) == LIAR
    charges.add(LIAR, 0.2)
    assert charges.least([HONEST, LIAR]) == HONEST


def test_few_charges_are_remembered(charges: Charges) -> None:
    charges.add(LIAR, 10.0)
    for number in range(3 * REMEMBERED):
        charges.add(Payer.stranger(str(number)), 0.001)
    assert len(charges._used) <= 2 * REMEMBERED  # noqa: SLF001
    assert charges.least([LIAR, HONEST]) == HONEST


def run(test: Callable[[], Awaitable[Any]]) -> Any:
    async def within_a_minute() -> Any:
        return await asyncio.wait_for(test(), 60)

    return asyncio.run(within_a_minute())


def test_few_requests_of_a_token_are_in_flight_and_others_go_before_its_next(charges: Charges) -> None:
    async def test() -> None:
        lane, held, inside = Lane(charges, 4), threading.Event(), threading.Semaphore(0)

        def forged() -> None:
            inside.release()
            assert held.wait(60)

        forging = [asyncio.ensure_future(lane.run(LIAR, forged)) for _ in range(20)]
        for _ in range(OF_A_PAYER):
            await asyncio.to_thread(inside.acquire)
        assert await lane.run(HONEST, lambda: "lease") == "lease"
        assert not inside.acquire(blocking=False)
        forging.pop().cancel()
        held.set()
        await asyncio.gather(*forging)
        assert await lane.run(LIAR, lambda: "later") == "later"

    run(test)


def test_while_others_ask_one_request_of_a_payer_is_in_flight(charges: Charges, clock: MovableClock) -> None:
    async def test() -> None:
        lane, held, inside = Lane(charges, 4), threading.Event(), threading.Semaphore(0)

        def two_meet() -> list[asyncio.Future[int]]:
            met = threading.Barrier(OF_A_PAYER, timeout=60)
            return [asyncio.ensure_future(lane.run(LIAR, met.wait)) for _ in range(OF_A_PAYER)]

        def hold() -> None:
            inside.release()
            assert held.wait(60)

        await asyncio.gather(*two_meet())
        await lane.run(HONEST, int)
        holding = [asyncio.ensure_future(lane.run(LIAR, hold)) for _ in range(2)]
        await asyncio.to_thread(inside.acquire)
        await lane.run(HONEST, int)
        assert not inside.acquire(blocking=False)
        held.set()
        await asyncio.gather(*holding)
        await lane.run(LIAR, int)
        clock.move(ALONE_SECONDS + 1)
        await asyncio.gather(*two_meet())

    run(test)


def test_a_request_that_is_given_up_leaves_room_for_others(charges: Charges) -> None:
    async def test() -> None:
        lane, held = Lane(charges, 1), threading.Event()
        first = asyncio.ensure_future(lane.run(LIAR, held.wait))
        waiting = [asyncio.ensure_future(lane.run(HONEST, int)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        held.set()
        await first
        waiting[1].cancel()
        assert await waiting[2] == 0
        assert await lane.run(HONEST, int) == 0

    run(test)


def test_a_round_of_the_loop_does_one_thing(charges: Charges) -> None:
    async def test() -> list[str]:
        done, turns = list[str](), Turns(charges)
        for number in range(3):
            turns.enqueue(LIAR, lambda number=number: done.append(f"piece {number}"))  # type: ignore[misc]
        assert done == ["piece 0"]  # at once, since nothing else waited
        charges.add(LIAR, 0.01)
        turns.enqueue(HONEST, lambda: done.append("lease"))
        while len(done) < 4:
            before = len(done)
            await asyncio.sleep(0)
            assert len(done) <= before + 1
        return done

    assert run(test) == ["piece 0", "lease", "piece 1", "piece 2"]


def test_the_steps_of_a_request_are_charged(clock: MovableClock) -> None:
    """Not what it waits, and also where it ends with an error."""
    used = MovableClock(0.0)
    charges = Charges(clock, used.monotonic)

    async def request() -> None:
        used.move(1.0)
        with pytest.raises(ConnectionError):
            await nothing()
        used.move(2.0)
        await asyncio.sleep(0)
        used.move(4.0)
        raise ValueError

    async def nothing() -> None:
        await asyncio.sleep(0)
        raise ConnectionError

    async def test() -> None:
        with pytest.raises(ValueError):  # noqa: PT011
            await charged(request(), charges, LIAR)
        task = asyncio.ensure_future(charged(asyncio.sleep(60), charges, LIAR))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(test)
    charges.add(HONEST, 6.99)
    assert charges.least([LIAR, HONEST]) == HONEST
    charges.add(HONEST, 0.02)
    assert charges.least([LIAR, HONEST]) == LIAR


def test_of_one_payer_renewals_go_first_and_enrolments_last(charges: Charges) -> None:
    queue = Queue[str](charges)
    for rank in (Rank.OTHERS, Rank.WORKERS, Rank.TASKS, Rank.RUNNING, Rank.TASKS, Rank.RUNNING):
        queue.put(HONEST, rank.name, rank)
    queue.put(LIAR, "another payer's", Rank.OTHERS)
    charges.add(HONEST, 1.0)
    order = []
    while (found := queue.next()) is not None:
        order.append(found[1])
    assert order == ["another payer's", "RUNNING", "RUNNING", "TASKS", "TASKS", "WORKERS", "OTHERS"]


@pytest.mark.parametrize(
    ("waiting", "served", "seconds"),
    [
        (0, 1, MIN_RETRY_SECONDS),
        (99, 50, 20),
        (449, 150, 30),
        (400, 10, MAX_RETRY_SECONDS),
        (0, 0, MIN_RETRY_SECONDS),
    ],
)
def test_who_is_refused_comes_back_when_the_others_have_been_served(
    charges: Charges, waiting: int, served: int, seconds: int
) -> None:
    async def test(loop: MovableLoop) -> None:
        queue = Queue[int](charges)
        for number in range(waiting + served + 1):
            queue.put(HONEST, number)
        refused = asyncio.ensure_future(queue.in_time(loop.create_future()))
        await asyncio.sleep(0)
        for _ in range(served):
            queue.next()
        await loop.pass_time(WAIT_SECONDS + 0.1)
        with pytest.raises(NoTime) as error:
            await refused
        assert error.value.headers == {"Retry-After": str(seconds)}

    run_moved(test)


def test_what_waits_for_long_is_refused_and_leaves_its_place_to_others(charges: Charges) -> None:
    async def test(loop: MovableLoop) -> None:
        lane, held = Lane(charges, at_once=1), threading.Event()
        running = asyncio.ensure_future(lane.run(HONEST, held.wait))
        late = asyncio.ensure_future(lane.run(HONEST, int))
        turns = Turns(charges)
        turns.enqueue(HONEST, int)
        for _ in range(1_000):
            turns.enqueue(HONEST, int)  # more than are done while the time passes
        waiting = asyncio.ensure_future(turns.wait(HONEST, Rank.OTHERS))
        await loop.pass_time(WAIT_SECONDS + 0.1)
        for one in (late, waiting):
            with pytest.raises(NoTime):
                await one
        held.set()
        assert await running
        assert await lane.run(HONEST, lambda: "next") == "next"

    run_moved(test)
