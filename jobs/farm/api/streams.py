"""Streams of a campaign's status as server-sent events; each status is computed once for all listeners.

A stream holds no thread and no connection to the database.  A slow client misses some statuses, but gets the newest
one.  Used on the event loop of the server only.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jobs.farm.guard.limited_log import LimitedLog
from langford.errors import LangfordError

EVERY_SECONDS = 2.0
MAX_SHARE = 0.04
"""Share of one core's time for the statuses of a campaign: when one takes long, the next one comes later."""
MAX_PAUSE_SECONDS = 60.0
ALIVE_SECONDS, ALLOWED_SECONDS = 10.0, 15.0
MAX_STREAMS, MAX_OF_A_TOKEN, MAX_OF_AN_ADDRESS = 256, 32, 192
ALIVE = b"event: alive\ndata:\n\n"
CROWDED = b"event: crowded\ndata:\n\n"
"""The last event of a stream that was closed for a newer one."""
HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # a proxy passes events on at once
}


@dataclass(frozen=True)
class Listener:
    """Who listens to a stream."""

    address: str
    bearer: str  # digest of the token that opens the campaign
    allowed: Callable[[], Awaitable[bool]]  # whether it still has the right to listen


class NoMoreStreams(LangfordError):
    """The server is shutting down, or has as many streams as it may."""


class Broadcast:
    """The statuses of one campaign, as events."""

    def __init__(self, compute: Callable[[], bytes], every: float, threads: CapacityLimiter) -> None:
        """
        Args:
            compute: returns a status, one line of JSON; it is called in a thread, once at a time.
            every: least time between two calls, in seconds.
            threads: of which it takes one.
        """
        self._compute, self._every, self._lock, self._threads = compute, every, asyncio.Lock(), threads
        self._number = 0
        self._outcome: tuple[bytes, Exception | None] = b"", None
        # When the newest status becomes too old, by the clock of the event loop.
        self._due = 0.0
        self._computing: asyncio.Future[None] | None = None

    async def newer(self, number: int) -> tuple[int, bytes]:
        """The number and the event of the first status after the one of this number.

        Raises what the computation of the status raised.
        """
        if not self._has_newer(number):
            # The holder of the lock computes the status for all that wait for the lock.
            async with self._lock:
                while not self._has_newer(number):
                    await self._compute_next()
        event, error = self._outcome
        if error is not None:
            raise error
        return self._number, event

    def _has_newer(self, number: int) -> bool:
        return self._number > number and _now() < self._due

    async def _compute_next(self) -> None:
        if self._computing is None:
            await asyncio.sleep(self._due - _now())
            self._computing = asyncio.ensure_future(self._compute_now())
        # A thread cannot be interrupted: it continues without a listener that leaves, for the next one.
        await asyncio.shield(self._computing)

    async def _compute_now(self) -> None:
        began = _now()
        self._due = began + self._every
        try:
            outcome = await anyio.to_thread.run_sync(self._computed, limiter=self._threads)
        finally:
            self._computing = None
        if outcome != self._outcome:  # the same status again is no news
            self._number, self._outcome = self._number + 1, outcome
        ended = _now()
        self._due = ended + max(self._every, min((ended - began) / MAX_SHARE, MAX_PAUSE_SECONDS))

    def _computed(self) -> tuple[bytes, Exception | None]:
        try:
            return b"data: " + self._compute() + b"\n\n", None
        except Exception as error:
            return b"", error


class Streams:
    """The open streams of a server: how many, of whom, and which one gives way to another."""

    def __init__(
        self,
        log: LimitedLog,
        most: int = MAX_STREAMS,
        every: float = EVERY_SECONDS,
        of_a_token: int = MAX_OF_A_TOKEN,
        of_an_address: int = MAX_OF_AN_ADDRESS,
    ) -> None:
        """
        Args:
            log: gets the errors of streams.
            most: how many streams are open at once.
            every: least time between two statuses, in seconds.
            of_a_token: a stream beyond this number replaces the oldest of its token.
            of_an_address: one beyond this number replaces the oldest of the token with the most streams there.
        """
        self.log, self._most, self._every = log, most, every
        self._most_of_a_token, self._most_of_an_address = of_a_token, of_an_address
        self.closing = asyncio.Event()
        # Ordered by age.
        self._open: dict[Stream, None] = {}
        self._broadcasts: dict[str, Broadcast] = {}
        self._threads = CapacityLimiter(1)

    @property
    def open(self) -> int:
        return len(self._open)

    def close(self) -> None:
        self.closing.set()

    async def answer(self, name: str, compute: Callable[[], bytes], listener: Listener, version: str) -> Response:
        """Raises NoMoreStreams, and what the computation of the first status raises.

        ``compute``: returns the status, one line of JSON; ``version``: of the server's pages.
        """
        self._require_room(listener)
        broadcast = self._broadcasts.setdefault(name, Broadcast(compute, self._every, self._threads))
        number, event = await broadcast.newer(0)
        self._require_room(listener)
        hello = f"event: version\ndata: {version}\n\n".encode()
        return Stream(self, broadcast, number, hello + event, listener)

    def add(self, stream: Stream) -> None:
        """Count a stream that begins; it replaces another one if its token or its address has too many."""
        leaving = self._giving_way(stream.listener)
        if leaving is not None:
            self.remove(leaving)
            leaving.give_way()
        self._open[stream] = None

    def remove(self, stream: Stream) -> None:
        self._open.pop(stream, None)

    def _require_room(self, listener: Listener) -> None:
        full = self.open >= self._most and self._giving_way(listener) is None
        if self.closing.is_set() or full:
            raise NoMoreStreams("no further stream can be opened now: ask for the status from time to time")

    def _giving_way(self, listener: Listener) -> Stream | None:
        """The stream that a new one would replace; None while there is room for both."""
        of_the_token = [stream for stream in self._open if stream.listener.bearer == listener.bearer]
        if len(of_the_token) >= self._most_of_a_token:
            return of_the_token[0]
        here = [stream for stream in self._open if stream.listener.address == listener.address]
        if len(here) < self._most_of_an_address:
            return None
        [(bearer, _)] = Counter(stream.listener.bearer for stream in here).most_common(1)
        return next(stream for stream in here if stream.listener.bearer == bearer)


class Stream(Response):
    """The events of one listener, until it leaves, is replaced or loses its right, or the server stops."""

    media_type = "text/event-stream"

    def __init__(
        self, streams: Streams, broadcast: Broadcast, number: int, first: bytes, listener: Listener
    ) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self.listener, self._streams, self._broadcast = listener, streams, broadcast
        self._crowded = asyncio.Event()
        self._number, self._first = number, first
        self._checked = _now()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            self._streams.add(self)
            ends = _hung_up(receive), self._streams.closing.wait(), self._crowded.wait()
            try:
                await self._first_to_end(self._events(send), *ends)
            finally:
                self._streams.remove(self)
            if self._crowded.is_set():
                await send({"type": "http.response.body", "body": CROWDED, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    def give_way(self) -> None:
        self._crowded.set()

    async def _first_to_end(self, *parts: Awaitable[object]) -> None:
        tasks = [asyncio.ensure_future(part) for part in parts]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            for error in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(error, LangfordError):
                    self._streams.log.say("a stream", str(error))
                elif isinstance(error, Exception):
                    self._streams.log.say("a stream", "an error", error)

    async def _events(self, send: Send) -> None:
        number, event = self._number, self._first
        while await self._still_allowed():
            await send({"type": "http.response.body", "body": event, "more_body": True})
            news = asyncio.ensure_future(self._broadcast.newer(number))
            try:
                while not (await asyncio.wait({news}, timeout=ALIVE_SECONDS))[0]:
                    await send({"type": "http.response.body", "body": ALIVE, "more_body": True})
                    if not await self._still_allowed():
                        return
            finally:
                news.cancel()
            number, event = news.result()

    async def _still_allowed(self) -> bool:
        if _now() < self._checked + ALLOWED_SECONDS:
            return True
        self._checked = _now()
        return await self.listener.allowed()


def _now() -> float:
    """Of the clock by which the loop also ends its pauses."""
    return asyncio.get_running_loop().time()


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
