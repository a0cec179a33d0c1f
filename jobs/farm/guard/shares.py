"""Fair shares of a server by what was used: of what waits, that of the payer with the least charge is done next.

All strangers are one payer (:mod:`jobs.farm.guard.charges`) beside the tokens, and share among each other what it
gets.  So one rule bounds what anybody can take of a server, whatever is sent: beside a single other payer the half,
and only while that one waits.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from enum import IntEnum
from typing import Generic, TypeVar

from jobs.farm.guard.bounds import (
    ALONE_SECONDS,
    MAX_RETRY_SECONDS,
    MIN_RETRY_SECONDS,
    OF_A_PAYER,
    WAIT_SECONDS,
)
from jobs.farm.guard.charges import Charges, Payer
from langford.errors import LangfordError

T = TypeVar("T")
W = TypeVar("W")


class Rank(IntEnum):
    """What goes first of what one payer asks for."""

    RUNNING = 0  # what arrives, and what is about tasks that are computed: renewals, and how they ended
    TASKS = 1  # results and leases
    WORKERS = 2  # enrolments
    OTHERS = 3


class NoTime(LangfordError):
    """A request has waited for too long: the server has no time for it now."""

    def __init__(self, seconds: float = 0.0) -> None:
        """``seconds``: until those that wait have had their turns."""
        super().__init__("the server has no time for this request now: repeat it later")
        self.headers = {"Retry-After": f"{min(max(MIN_RETRY_SECONDS, math.ceil(seconds)), MAX_RETRY_SECONDS)}"}


class Queue(Generic[W]):
    """What waits, by payer and rank."""

    def __init__(self, charges: Charges) -> None:
        self._charges, self._waiting = charges, dict[Payer, dict[Rank, deque[W]]]()
        self._size, self._taken = 0, 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, payer: Payer, what: W, rank: Rank = Rank.RUNNING) -> None:
        self._waiting.setdefault(payer, {}).setdefault(rank, deque()).append(what)
        self._size += 1

    def next(self, may: Callable[[Payer], bool] = lambda _: True) -> tuple[Payer, W] | None:
        """What goes first of the payer with the least charge, among those that may go now; None: nobody may."""
        payer = self._charges.least(filter(may, self._waiting))
        if payer is None:
            return None
        theirs = self._waiting[payer]
        rank = min(theirs)
        what = theirs[rank].popleft()
        if not theirs[rank]:
            del theirs[rank]
        if not theirs:
            del self._waiting[payer]
        self._size -= 1
        self._taken += 1
        return payer, what

    async def in_time(self, turn: asyncio.Future[T]) -> T:
        """Wait for a turn in this queue, or its outcome; raises NoTime, with the time that all who wait will take.

        They are as fast as those whose turns came meanwhile.
        """
        before = self._taken
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                return await turn
        except TimeoutError:
            raise NoTime(self._size * WAIT_SECONDS / max(1, self._taken - before)) from None


class Turns:
    """Turns of the event loop: in each of its rounds one piece of what arrived is handled, or one request started.

    A round that handled all that has arrived would let each step of a request wait for hundreds of others.  What
    comes while the turn of its round is free takes it at once: nothing else waits then.
    """

    def __init__(self, charges: Charges) -> None:
        self._charges, self._queue = charges, Queue[Callable[[], object]](charges)
        self._taken = False  # the turn of this round; what waits gets that of the next one

    def enqueue(self, payer: Payer, action: Callable[[], object], rank: Rank = Rank.RUNNING) -> None:
        """Call it at the turn of its payer, who is charged for it."""
        if self._taken:
            self._queue.put(payer, action, rank)
        else:
            self._take(payer, action)

    async def wait(self, payer: Payer, rank: Rank) -> None:
        """Until it is the turn of this payer; raises NoTime."""
        turn = asyncio.get_running_loop().create_future()

        def begin() -> None:
            if not turn.done():  # the request may have been cancelled
                turn.set_result(None)

        self.enqueue(payer, begin, rank)
        await self._queue.in_time(turn)

    def _take(self, payer: Payer, action: Callable[[], object]) -> None:
        self._taken = True
        asyncio.get_running_loop().call_soon(self._next)
        with self._charges.charging(payer):
            action()

    def _next(self) -> None:
        self._taken = False
        found = self._queue.next()
        if found is not None:
            self._take(*found)


class Places:
    """Places for requests, few of one payer; used on the event loop only."""

    def __init__(self, charges: Charges, at_once: int, of_a_payer: int) -> None:
        self._charges, self._queue = charges, Queue[asyncio.Future[None]](charges)
        self._at_once, self._of_a_payer, self._running = at_once, of_a_payer, Counter[str]()

    @asynccontextmanager
    async def of(self, payer: Payer, rank: Rank) -> AsyncIterator[None]:
        """A place for a payer, at its turn, until the end of the block; raises NoTime."""
        turn = asyncio.get_running_loop().create_future()
        self._queue.put(payer, turn, rank)
        self._start()
        try:
            await self._queue.in_time(turn)
        except (NoTime, asyncio.CancelledError):
            if not turn.cancelled():  # it was its turn already
                self._end(payer)
            raise
        try:
            yield
        finally:
            self._end(payer)

    @property
    def most(self) -> int:
        """How many places one payer may have now."""
        return self._of_a_payer

    def _start(self) -> None:
        while self._running.total() < self._at_once:
            found = self._queue.next(lambda payer: self._running[payer.group] < self.most)
            if found is None:
                return
            payer, turn = found
            if not turn.done():
                self._running[payer.group] += 1
                turn.set_result(None)

    def _end(self, payer: Payer) -> None:
        self._running[payer.group] -= 1
        if not self._running[payer.group]:
            del self._running[payer.group]
        self._start()


class Lane(Places):
    """Threads in which requests are answered, few of one payer at a time."""

    def __init__(self, charges: Charges, at_once: int) -> None:
        super().__init__(charges, at_once, OF_A_PAYER)
        self._threads = ThreadPoolExecutor(at_once)
        # The payer that asked last, and when another one than before asked.
        self._asked, self._changed = "", -math.inf

    async def run(self, payer: Payer, function: Callable[[], T], rank: Rank = Rank.OTHERS) -> T:
        """Call a function in a thread at the turn of its payer, who is charged for it; raises NoTime."""
        if self._asked not in ("", payer.group):
            self._changed = self._charges.now
        self._asked = payer.group

        def charged() -> T:
            with self._charges.charging(payer):
                return function()

        async with self.of(payer, rank):
            return await asyncio.get_running_loop().run_in_executor(self._threads, charged)

    @property
    def most(self) -> int:
        is_alone = self._charges.now - self._changed > ALONE_SECONDS
        return self._of_a_payer if is_alone else 1
