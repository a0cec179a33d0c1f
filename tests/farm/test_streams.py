"""Streams of a status: computed once for all, whoever comes, goes, reads slowly, or asks without a ledger."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any

import pytest

from db.errors import LedgerBusy
from jobs.farm.api.streams import Listener as Client
from jobs.farm.api.streams import NoMoreStreams, Streams
from jobs.farm.guard.limited_log import LimitedLog
from tests.support.clock import MovableLoop

EVERY = 0.05
Listen = Callable[..., list[asyncio.Task[None]]]


def on_a_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Run a test on an event loop with a clock that can be moved."""

    def run() -> None:
        with asyncio.Runner(loop_factory=MovableLoop) as runner:
            runner.run(test())

    return wraps(test)(run)


def the_loop() -> MovableLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MovableLoop)
    return loop


class Computed:
    """Statuses that count how often they were computed, and whether two were at once."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds, self.number, self.at_once, self.error = seconds, 0, 0, False
        self._inside, self.may_end = threading.Lock(), threading.Event()
        self.may_end.set()

    @property
    def has_ended(self) -> bool:
        return not self._inside.locked()

    def __call__(self) -> bytes:
        alone = self._inside.acquire(blocking=False)
        self.at_once += not alone
        time.sleep(self.seconds)
        self.may_end.wait(60)
        if alone:
            self._inside.release()
        if self.error:
            raise LedgerBusy("busy")
        self.number += 1
        return b'{"number":%d}' % self.number


class Listener:
    """One client of a stream, in this process."""

    def __init__(self, pause: float = 0.0, bearer: str = "t", address: str = "a") -> None:
        self.pause, self.heard, self.ended, self.crowded = pause, list[str](), False, False
        self.bearer, self.address = bearer, address
        self.gone = asyncio.Event()

    async def hears(self, number: int) -> None:
        """Wait until it has heard so many statuses."""
        while len(self.heard) < number:
            await asyncio.sleep(0.001)

    async def listen(self, streams: Streams, computed: Callable[[], bytes]) -> None:
        async def is_allowed() -> bool:
            return True

        response = await streams.answer("seven", computed, Client(self.address, self.bearer, is_allowed), "1")
        await response({"type": "http", "method": "GET"}, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await asyncio.sleep(self.pause)
        text = message.get("body", b"").decode()
        self.heard += [line for line in text.splitlines() if line.startswith("data: {")]
        self.ended = self.ended or message.get("more_body") is False
        self.crowded = self.crowded or text == "event: crowded\ndata:\n\n"


@asynccontextmanager
async def opened(most: int = 100, every: float = EVERY, **limits: int) -> AsyncIterator[tuple[Streams, Listen]]:
    """Streams, and what lets some listen at the same time; at the end all are closed, and nobody listens."""
    streams, tasks = (
        Streams(LimitedLog(), most, every, **{"of_a_token": 1_000, **limits}),
        list[asyncio.Task[None]](),
    )

    def listen(computed: Callable[[], bytes], *listeners: Listener) -> list[asyncio.Task[None]]:
        begun = [asyncio.create_task(one.listen(streams, computed)) for one in listeners]
        tasks.extend(begun)
        return begun

    yield streams, listen
    streams.close()
    await asyncio.gather(*tasks)
    assert streams.open == 0


@on_a_loop
async def test_each_status_is_computed_once_for_all() -> None:
    computed, listeners = Computed(0.01), [Listener() for _ in range(50)]
    async with opened() as (streams, listen):
        listen(computed, *listeners)
        await listeners[0].hears(5)
        assert streams.open == 50
    assert computed.at_once == 0
    for one in listeners:
        assert one.ended
        numbers = [json.loads(line.removeprefix("data: "))["number"] for line in one.heard]
        # None is left out, and all that were computed were heard by everybody, but for the first and the last.
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert numbers[0] <= 3
        assert numbers[-1] >= computed.number - 1


@on_a_loop
async def test_a_newcomer_waits_for_nothing() -> None:
    computed, first, second = Computed(), Listener(), Listener()
    async with opened(every=60.0) as (_, listen):
        listen(computed, first)
        await first.hears(1)
        await asyncio.sleep(0.1)  # the first one waits for the next status
        listen(computed, second)
        await asyncio.sleep(0.1)
        assert first.heard == second.heard == ['data: {"number":1}']


@on_a_loop
async def test_nothing_is_computed_for_nobody() -> None:
    computed, one = Computed(), Listener()
    async with opened() as (streams, listen):
        [task] = listen(computed, one)
        await one.hears(2)
        one.gone.set()
        await task
        before = computed.number
        await asyncio.sleep(5 * EVERY)
        assert (computed.number, streams.open) == (before, 0)


@on_a_loop
async def test_who_reads_slowly_gets_the_newest() -> None:
    fast, slow = Listener(), Listener(pause=8 * EVERY)
    async with opened() as (_, listen):
        listen(Computed(), fast, slow)
        await slow.hears(3)
    assert len(fast.heard) > 2 * len(slow.heard)
    assert set(slow.heard) <= set(fast.heard)


@on_a_loop
async def test_one_that_leaves_while_it_computes_costs_the_others_nothing() -> None:
    """Neither a second computation beside the first, nor the status that was being computed."""
    computed, listeners, late = Computed(), [Listener() for _ in range(5)], Listener()
    async with opened() as (_, listen):
        tasks = listen(computed, *listeners)
        await listeners[-1].hears(1)
        computed.may_end.clear()
        while computed.has_ended:
            the_loop().move(EVERY)
            await asyncio.sleep(0.001)
        the_loop().move(EVERY)  # the first status is too old for a newcomer
        listen(computed, late)
        for one in listeners:
            one.gone.set()
        await asyncio.gather(*tasks)
        computed.may_end.set()
        await late.hears(1)
    assert computed.at_once == 0
    assert late.heard[0] == 'data: {"number":2}'


@on_a_loop
async def test_costly_statuses_come_rarely() -> None:
    one, loop, computed = Listener(), the_loop(), list[float]()

    def compute() -> bytes:
        loop.move(0.5)
        computed.append(loop.time())
        return b'{"number":%d}' % len(computed)

    async with opened() as (_, listen):
        listen(compute, one)
        while len(one.heard) < 2:
            loop.move(0.5)
            await asyncio.sleep(0.001)
    first, second, *_ = computed
    assert second - first > 0.5 + 0.5 / 0.05


@on_a_loop
async def test_the_same_again_is_not_sent() -> None:
    one, asked = Listener(), 0

    def compute() -> bytes:
        nonlocal asked
        asked += 1
        return b'{"number":%d}' % (asked // 5)

    async with opened() as (_, listen):
        listen(compute, one)
        await one.hears(3)
    assert one.heard == [f'data: {{"number":{number}}}' for number in range(len(one.heard))]
    assert asked >= 5 * (len(one.heard) - 1)


@on_a_loop
async def test_the_ledger_is_away() -> None:
    """Streams end, so that their clients know; a new one is refused until there is a status again."""
    computed, listeners, last = Computed(), [Listener() for _ in range(20)], Listener()
    async with opened() as (streams, listen):
        tasks = listen(computed, *listeners)
        await listeners[-1].hears(1)
        computed.error = True
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
        assert all(one.ended for one in listeners)
        with pytest.raises(LedgerBusy):
            await Listener().listen(streams, computed)
        computed.error = False
        asyncio.create_task(last.hears(1)).add_done_callback(lambda _: last.gone.set())
        while not last.heard:  # until it has a status again it is refused
            with suppress(LedgerBusy):
                await last.listen(streams, computed)


@on_a_loop
async def test_too_many_and_too_late() -> None:
    computed, few = Computed(), [Listener(), Listener()]
    async with opened(most=2) as (streams, listen):
        listen(computed, *few)
        for one in few:
            await one.hears(1)
        with pytest.raises(NoMoreStreams):
            await Listener().listen(streams, computed)
    with pytest.raises(NoMoreStreams):
        await Listener().listen(streams, computed)


async def one_by_one(listen: Listen, computed: Computed, *listeners: Listener) -> list[asyncio.Task[None]]:
    tasks = []
    for one in listeners:
        tasks += listen(computed, one)
        await one.hears(1)
    return tasks


@on_a_loop
async def test_the_oldest_of_a_token_gives_way() -> None:
    computed = Computed()
    everyone = other, *tabs = [Listener(bearer="other"), *(Listener() for _ in range(5))]
    async with opened(5, of_a_token=3) as (streams, listen):
        tasks = await one_by_one(listen, computed, other, *tabs)
        await asyncio.gather(tasks[1], tasks[2])
        assert [one.crowded for one in everyone] == [False, True, True, False, False, False]
        assert [one.ended for one in everyone] == [False, True, True, False, False, False]
        assert streams.open == 4
        await one_by_one(listen, computed, Listener(bearer="third"))
        with pytest.raises(NoMoreStreams):  # all places are taken, by tokens that have few
            await Listener(bearer="fourth").listen(streams, computed)
        await one_by_one(listen, computed, Listener())  # in the place of its own oldest one
        assert streams.open == 5


@on_a_loop
async def test_the_greediest_of_an_address_gives_way() -> None:
    computed, elsewhere = Computed(), Listener(address="elsewhere")
    few, many = [Listener(bearer="few") for _ in range(2)], [Listener(bearer="many") for _ in range(3)]
    async with opened(50, of_a_token=3, of_an_address=5) as (_, listen):
        tasks = await one_by_one(listen, computed, elsewhere, *few, *many, Listener(bearer="new"))
        await tasks[3]
        assert [one.crowded for one in (elsewhere, *few, *many)] == [False] * 3 + [True, False, False]
