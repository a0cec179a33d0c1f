"""What payers have used of a server of late: who is charged, and for what.

A payer is the token of a request, or the address of a stranger; it is charged the processor time of its requests
and of what it sends.  A charge fades: of one that is WINDOW_SECONDS old about a third is left.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import coroutine
from typing import Any

from jobs.clock import SYSTEM, Clock
from jobs.farm.guard.bounds import REMEMBERED, WINDOW_SECONDS

STRANGERS = "strangers"


@dataclass(frozen=True)
class Payer:
    """Who is charged.

    Attributes:
        group: the SHA-256 of a token, or STRANGERS.
        address: of a stranger; "" for a token.
        name: of a token, for people; "" for a stranger.
    """

    group: str
    address: str = ""
    name: str = field(default="", compare=False)

    @classmethod
    def stranger(cls, address: str) -> Payer:
        return cls(STRANGERS, address)

    @property
    def is_stranger(self) -> bool:
        return self.group == STRANGERS

    def __str__(self) -> str:
        return self.name or self.address


class Charges:
    """What payers have used of late, in seconds of processor time.  Threads may share it."""

    def __init__(self, clock: Clock = SYSTEM, used: Callable[[], float] = time.thread_time) -> None:
        """
        Args:
            clock: by which charges fade.
            used: returns the processor time of the calling thread, in seconds.
        """
        self._clock, self._processor_time, self._lock = clock, used, threading.Lock()
        # (charge, when it was that much), by group, and by payer of a stranger's address.
        self._used: dict[str | Payer, tuple[float, float]] = {}
        self._unwritten: dict[str, float] = {}

    @property
    def now(self) -> float:
        """The time by their clock."""
        return self._clock.monotonic()

    def add(self, payer: Payer, seconds: float) -> None:
        now = self._clock.monotonic()
        with self._lock:
            if not payer.is_stranger:
                self._unwritten[payer.group] = self._unwritten.get(payer.group, 0.0) + seconds
            for one in (payer.group, payer) if payer.is_stranger else (payer.group,):
                self._used[one] = self._of(one, now) + seconds, now
            if len(self._used) > 2 * REMEMBERED:
                kept = sorted(self._used, key=lambda one: self._of(one, now))[-REMEMBERED:]
                self._used = {one: self._used[one] for one in kept}

    @contextmanager
    def charging(self, *payers: Payer) -> Iterator[None]:
        """A block whose processor time some payers are charged, an equal share each."""
        began = self._processor_time()
        try:
            yield
        finally:
            share = (self._processor_time() - began) / len(payers)
            for payer in payers:
                self.add(payer, share)

    def taken(self) -> dict[str, float]:
        """The seconds that were added since the last call, by the SHA-256 of tokens."""
        with self._lock:
            taken, self._unwritten = self._unwritten, {}
        return taken

    def least(self, payers: Iterable[Payer]) -> Payer | None:
        """The payer whose group has the least charge, and of these the one with the least; None: there is none."""
        now = self._clock.monotonic()
        return min(payers, key=lambda one: (self._of(one.group, now), self._of(one, now)), default=None)

    def _of(self, one: str | Payer, now: float) -> float:
        used, when = self._used.get(one, (0.0, now))
        return used * math.exp((when - now) / WINDOW_SECONDS)


@coroutine
def charged(steps: Any, charges: Charges, payer: Payer) -> Generator[Any, Any, None]:
    """Await a coroutine whose steps on the event loop are charged to a payer."""
    advance, said = steps.send, None
    while True:
        with charges.charging(payer):
            try:
                awaited = advance(said)
            except StopIteration:
                return
        try:
            advance, said = steps.send, (yield awaited)
        except BaseException as error:  # also that it is cancelled
            advance, said = steps.throw, error
