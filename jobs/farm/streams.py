"""Streams of a campaign's status as server-sent events; each status is computed once for all who listen.

A stream holds no thread and no connection to the database.  Who reads slowly misses some statuses and gets the
newest one.  Used on the event loop of the server only.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jobs.farm.connections import LimitedLog
from langford.errors import LangfordError

EVERY_SECONDS = 2.0
LARGEST_SHARE = 0.04
"""Of one core's time, for the statuses of a campaign: where one takes long, they come more rarely."""
LONGEST_PAUSE = 60.0
ALIVE_SECONDS, ALLOWED_SECONDS = 10.0, 15.0
MOST_STREAMS = 256
ALIVE = b"event: alive\ndata:\n\n"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Accel-Buffering": "no",  # a proxy shall pass events on at once
}

Allowed = Callable[[], Awaitable[bool]]


class NoMoreStreams(LangfordError):
    """The server ends, or as many listen already as may."""


class Broadcast:
    """The statuses of one campaign, as events."""

    def __init__(self, compute: Callable[[], dict[str, Any]], every: float) -> None:
        """
        Args:
            compute: makes a status; it is called in a thread, once at a time.
            every: seconds from one status to the next, at least.
        """
        self._compute, self._every, self._lock = compute, every, asyncio.Lock()
        self._number = 0
        self._outcome: tuple[bytes, Exception | None] = b"", None
        # Until when the newest status is new enough, by time.monotonic.
        self._due = 0.0

    async def newer(self, number: int) -> tuple[int, bytes]:
        """The number and the event of a status after the one of that number.  Raises what computing it raised."""
        if not self._has_newer(number):
            # Who holds the lock computes the status for all who wait for the lock.
            async with self._lock:
                while not self._has_newer(number):
                    await self._compute_next()
        event, error = self._outcome
        if error is not None:
            raise error
        return self._number, event

    def _has_newer(self, number: int) -> bool:
        return self._number > number and time.monotonic() < self._due

    async def _compute_next(self) -> None:
        await asyncio.sleep(self._due - time.monotonic())
        began = time.monotonic()
        self._due = began + self._every
        outcome = await run_in_threadpool(self._computed)
        if outcome != self._outcome:  # the same status again is no news
            self._number, self._outcome = self._number + 1, outcome
        ended = time.monotonic()
        self._due = ended + max(self._every, min((ended - began) / LARGEST_SHARE, LONGEST_PAUSE))

    def _computed(self) -> tuple[bytes, Exception | None]:
        try:
            text = json.dumps(self._compute(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except Exception as error:
            return b"", error
        return b"data: " + text.encode("utf-8", "replace") + b"\n\n", None


class Streams:
    """All streams of a server."""

    def __init__(self, log: LimitedLog, most: int = MOST_STREAMS, every: float = EVERY_SECONDS) -> None:
        """
        Args:
            log: for what ends a stream.
            most: how many may be open.
            every: seconds from one status to the next, at least.
        """
        self.log, self._most, self._every = log, most, every
        self.closing, self.open = asyncio.Event(), 0
        self._broadcasts: dict[str, Broadcast] = {}

    def close(self) -> None:
        """End all streams, and open no more."""
        self.closing.set()

    async def answer(
        self, name: str, compute: Callable[[], dict[str, Any]], allowed: Allowed, version: str
    ) -> Response:
        """A stream of a campaign.  Raises NoMoreStreams, and what computing the first status raises.

        Args:
            name: of the campaign.
            compute: makes its status.
            allowed: whether the listener still has the right to listen.
            version: of the server's pages.
        """
        if self.closing.is_set() or self.open >= self._most:
            raise NoMoreStreams("no further stream is opened now: ask for the status from time to time")
        broadcast = self._broadcasts.setdefault(name, Broadcast(compute, self._every))
        number, event = await broadcast.newer(0)
        hello = f"event: version\ndata: {version}\n\n".encode()
        return Stream(self, broadcast, number, hello + event, allowed)


class Stream(Response):
    """The events of one listener, until it or the server ends, or it loses its right to listen."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, broadcast: Broadcast, number: int, first: bytes, allowed: Allowed) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._streams, self._broadcast, self._allowed = streams, broadcast, allowed
        self._number, self._first = number, first
        self._checked = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            self._streams.open += 1
            try:
                await self._first_to_end(self._events(send), _hung_up(receive), self._streams.closing.wait())
            finally:
                self._streams.open -= 1
        await send({"type": "http.response.body", "body": b"", "more_body": False})

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
        if time.monotonic() < self._checked + ALLOWED_SECONDS:
            return True
        self._checked = time.monotonic()
        return await self._allowed()


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
