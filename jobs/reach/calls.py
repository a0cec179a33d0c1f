"""Calls to a ledger or a server that may not answer, which are abandoned when they take too long.

A call that waits for a network cannot be interrupted.  It is made in another thread, so that this one hears signals
and can abandon it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from db.errors import Away
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from jobs.reach.patience import LOOK_SECONDS, GivenUp

GRACE_SECONDS = 1.0
"""How long calls may take, all together, after the reason to stop is there."""
T = TypeVar("T")


class Overdue(Away):
    """A call was abandoned, because it took longer than it may."""


class _Call(Generic[T]):
    """One call, and what came of it."""

    def __init__(self, action: Callable[[], T]) -> None:
        self._action = action
        self.ended = threading.Event()
        self._error: BaseException | None = None
        self._value: T

    def make(self) -> None:
        try:
            self._value = self._action()
        except BaseException as error:
            self._error = error
        self.ended.set()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._value


class Calls:
    """Makes calls, one at a time, in a thread of its own."""

    def __init__(self, console: Console = SILENT, whom: str = "the ledger", clock: Clock = SYSTEM) -> None:
        """``console``: may ask to stop; then calls that are not answered are given up."""
        self._console, self._whom, self._clock = console, whom, clock
        self._waiting: SimpleQueue[_Call[Any] | None] | None = None
        self._stop_seen: float | None = None

    def make(self, action: Callable[[], T], seconds: float = math.inf) -> T:
        """The value of an action, or its error.

        Raises Overdue when there is neither after ``seconds``, and GivenUp when it is time to stop.
        """
        if self._waiting is None:
            self._waiting = SimpleQueue()
            threading.Thread(target=_serve, args=(self._waiting,), daemon=True).start()
        call, deadline = _Call(action), self._clock.monotonic() + seconds
        self._waiting.put(call)
        while not self._clock.wait(LOOK_SECONDS, call.ended):
            if self._out_of_grace:
                self._abandon()
                raise GivenUp(f"{self._console.stop_reason()}: {self._whom} does not answer")
            if self._clock.monotonic() > deadline:
                self._abandon()
                raise Overdue(f"{self._whom} has not answered in {seconds:.0f} s")
        return call.result()

    def _abandon(self) -> None:
        """Let the thread, which hangs, end with its call, or with this process."""
        if self._waiting is not None:
            self._waiting.put(None)
        self._waiting = None

    @property
    def _out_of_grace(self) -> bool:
        """Whether there is a reason to stop, and has been for longer than calls may take."""
        if self._console.stop_reason() is None:
            return False
        self._stop_seen = self._stop_seen or self._clock.monotonic()
        return self._clock.monotonic() - self._stop_seen > GRACE_SECONDS


def _serve(calls: SimpleQueue[_Call[Any] | None]) -> None:
    while (call := calls.get()) is not None:
        call.make()
