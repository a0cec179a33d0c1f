"""Live workers that compute nothing: each keeps a connection, holds a task of 20 minutes, and renews its lease.

Thousands share a process.  They send what workers send, as often, and wait as they do: as long as a busy server
asks, and twice as long after each failure.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import ssl
import time
import uuid
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from jobs.reach.remote import SERVER
from jobs.reach.requests import HANDSHAKE_SECONDS, TIMEOUT_SECONDS
from jobs.reach.wire import HEADER, SPOKEN
from jobs.run.tally import FIRST_PAUSE_SECONDS, TIMES_LONGER

TASK_SECONDS = 1200.0
FIRST_WAIT, MAX_WAIT, MAX_RENEWAL = 0.5, 60.0, 60.0
EQUIPMENT = dict.fromkeys(["cores", "device_model", "slurm_job", "slurm_index"])
RESULT = {"value": "0", "residue": "0", "evaluated": "0", "seconds": 1.0, "provenance": "{}", "began": None}


@dataclass(frozen=True)
class Site:
    """Where workers ask, and as whom."""

    port: int
    campaign: str
    uuid: str
    tokens: tuple[str, ...]
    certificate: str | None
    lease: float

    @property
    def renewal(self) -> float:
        return min(self.lease / 4, MAX_RENEWAL)


@dataclass
class Seen:
    """What the workers of a process saw.

    Attributes:
        seconds: of the answered requests since the measurement began, by their last path.
        counts: since the start: requests by path, resets, refusals by status, and what else happened.
        held, first: workers that hold a task now, and those that ever did.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    held: int = 0
    first: int = 0

    def add(self, other: Seen) -> None:
        """Take in what another process saw."""
        for path, more in other.seconds.items():
            self.seconds.setdefault(path, []).extend(more)
        self.counts.update(other.counts)
        self.held, self.first = self.held + other.held, self.first + other.first


class Refused(Exception):
    """A request was not answered, or with another status than 200."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds


class Live:
    """One worker; it works until it is cancelled."""

    def __init__(self, site: Site, number: int, seen: Seen, context: ssl.SSLContext | None) -> None:
        self._site, self._seen, self._context = site, seen, context
        self._token, self._number = site.tokens[number % len(site.tokens)], number
        self._id, self._failures = str(uuid.uuid4()), 0
        self._identity: dict[str, Any] | None = None  # while it has not enrolled
        self._reader: asyncio.StreamReader | None = None
        self._pause, self._look = FIRST_PAUSE_SECONDS, math.inf

    async def work(self, delay: float) -> None:
        await asyncio.sleep(delay)
        self._look = time.monotonic() + self._pause * random.uniform(0.5, 1.0)
        await self._insist("", None)
        identity = {"worker": self._id, "host": f"h{self._number}", "process": "1", "device_kind": "cpu"}
        self._identity = {**identity, "kernels": "k", "processes": 1, **EQUIPMENT}
        left = random.uniform(0, TASK_SECONDS)  # as in a farm that has run for long
        held: dict[str, Any] | None = None
        while True:
            if held is None:
                held = await self._next(None)
                self._seen.first += held is not None
            else:
                held = await self._hold(held, left)
                left = TASK_SECONDS
            if held is None:
                await self._insist("", None)
                await asyncio.sleep(random.uniform(5.0, 10.0))

    async def _hold(self, held: dict[str, Any], left: float) -> dict[str, Any] | None:
        """Renew the lease of a task until it is done, and exchange its result for the next task."""
        self._seen.held += 1
        shown = {"attempt": held["attempt"], "nonce": held["nonce"]}
        try:
            steps = 0
            while left > self._site.renewal:
                await asyncio.sleep(self._site.renewal)
                left, steps = left - self._site.renewal, steps + 1
                request = {"attempts": [shown], "seconds": self._site.lease, "steps": [[held["attempt"], steps]]}
                try:
                    answer = await self._ask("renewals", request)
                except Refused:
                    continue  # the next renewal is due soon enough
                self._seen.counts["expired"] += held["attempt"] not in answer["running"]
                await self._look_at_all()
            await asyncio.sleep(left)
            return await self._next({**shown, "index": held["index"], **RESULT})
        finally:
            self._seen.held -= 1

    async def _look_at_all(self) -> None:
        """As a run does for its line of progress."""
        if time.monotonic() > self._look:
            with suppress(Refused):
                await self._ask("status", None)
            self._pause = min(SERVER.overview_seconds, self._pause * TIMES_LONGER)
            self._look = time.monotonic() + self._pause * random.uniform(0.5, 1.0)

    async def _next(self, result: dict[str, Any] | None) -> dict[str, Any] | None:
        """The next lease, for a result."""
        lease = {
            "campaign": self._site.uuid,
            "worker": self._id,
            "count": 1,
            "seconds": self._site.lease,
            "held": [],
        }
        lease["copies"] = 0
        if self._identity is not None:
            answer = await self._insist("workers", {"worker": self._identity, "lease": lease})
            self._identity = None
        elif result is None:
            answer = await self._insist("leases", lease)
        else:
            results = {"deliveries": [result], "now": time.time()}
            answer = await self._insist("exchanges", {"results": results, "lease": lease})
        return next(iter(answer["leases"]), None)

    async def _insist(self, path: str, message: Any) -> Any:
        while True:
            try:
                answer = await self._ask(path, message)
            except Refused as refused:
                wait = max(min(MAX_WAIT, FIRST_WAIT * 2.0 ** min(self._failures, 30)), 2 * refused.seconds)
                self._failures += 1
                await asyncio.sleep(wait * random.uniform(0.5, 1.0))
            else:
                self._failures = 0
                return answer

    async def _ask(self, path: str, message: Any) -> Any:
        """``path``: after that of the campaign; ``message``: None: it is read."""
        began, counts = time.monotonic(), self._seen.counts
        counts[path] += 1
        try:
            if self._reader is None or self._reader.at_eof():
                self._close()
                await asyncio.wait_for(self._connect(), HANDSHAKE_SECONDS)
            body = "" if message is None else json.dumps(message)
            status, head, content = await asyncio.wait_for(self._exchange(path, body), TIMEOUT_SECONDS)
        except TimeoutError:
            counts["no answer in time"] += 1
            counts["no connection in time" if self._reader is None else f"no answer in time: /{path}"] += 1
            self._close()
            raise Refused from None
        except (OSError, asyncio.IncompleteReadError) as error:
            counts["resets"] += 1
            counts[f"reset: {type(error).__name__}"] += 1
            self._close()
            raise Refused from None
        if status != 200:
            counts[f"status {status}"] += 1
            named = head.lower().partition(b"retry-after: ")[2].partition(b"\r\n")[0]
            raise Refused(float(named or 0))
        self._seen.seconds.setdefault(path, []).append(time.monotonic() - began)
        return json.loads(content)

    async def _connect(self) -> None:
        self._seen.counts["connections"] += 1
        options: dict[str, Any] = {"ssl_handshake_timeout": HANDSHAKE_SECONDS} if self._context else {}
        self._reader, self._writer = await asyncio.open_connection(
            "localhost", self._site.port, ssl=self._context, **options
        )

    async def _exchange(self, path: str, message: str) -> tuple[int, bytes, bytes]:
        address = f"/campaigns/{self._site.campaign}/{path}".rstrip("/")
        head = (
            f"{'POST' if message else 'GET'} {address} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {self._token}\r\n{HEADER}: {SPOKEN}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(message)}\r\n\r\n"
        )
        assert self._reader is not None
        self._writer.write((head + message).encode())
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return int(answer[9:12]), answer, await self._reader.readexactly(int(length))

    def _close(self) -> None:
        if self._reader is not None:
            self._writer.transport.abort()
            self._reader = None


def work(site: Site, numbers: range, arrivals: float, settled: Any, measured: Any, pipe: Any) -> None:
    """Be these workers until told to stop; send what they saw.

    Args:
        arrivals: how many workers of all processes start in a second.
        settled, measured: events: the measurement begins, and all ends.
        pipe: takes what was seen, several times.
    """

    async def all_of_them() -> None:
        context = ssl.create_default_context(cafile=site.certificate) if site.certificate else None
        seen = Seen()
        tasks = [
            asyncio.create_task(Live(site, number, seen, context).work(number / arrivals)) for number in numbers
        ]
        begun = False
        while not measured.is_set():
            await asyncio.sleep(0.5)
            if settled.is_set() and not begun:
                begun, seen.seconds = True, {}
            pipe.send(seen.first)
        pipe.send(seen)
        for task in tasks:
            task.cancel()

    asyncio.run(all_of_them())
