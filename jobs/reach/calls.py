"""Calls to a ledger or a server that may not answer: repeated until it does, and given up when the run is to stop.

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
from jobs.reach.backoff import Backoff
from langford.errors import LangfordError

LOOK_SECONDS = 0.1
"""Time between two looks for signals."""
GRACE_SECONDS = 1.0
"""How long calls may take, all together, after the reason to stop is there."""
LONGEST_WAIT = 30.0
T = TypeVar("T")


class GivenUp(LangfordError):
    """A call was abandoned, because there was a reason to stop and no answer."""


class Overdue(LangfordError):
    """A call was abandoned, because it took longer than it may."""


class _Call(Generic[T]):
    """One call, and what came of it.

    Attributes:
        ended: is set when there is a value or an error.
    """

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
        """
        Args:
            console: may ask to stop; then calls that are not answered are given up.
            whom: what is called, as messages name it.
            clock: measures how long a call takes.
        """
        self._console, self._whom, self._clock = console, whom, clock
        self._waiting: SimpleQueue[_Call[Any] | None] | None = None
        self._stop_seen: float | None = None

    def make(self, action: Callable[[], T]) -> T:
        """The value of an action, or its error; raises GivenUp when it is time to stop and there is neither."""
        return self._made(action, math.inf)

    def within(self, seconds: float, action: Callable[[], T]) -> T:
        """As :meth:`make`, but raises Overdue when there is neither after ``seconds``."""
        return self._made(action, seconds)

    def _made(self, action: Callable[[], T], seconds: float) -> T:
        if self._waiting is None:
            self._waiting = SimpleQueue()
            threading.Thread(target=_serve, args=(self._waiting,), daemon=True).start()
        call, deadline = _Call(action), self._clock.monotonic() + seconds
        self._waiting.put(call)
        while not self._clock.wait(LOOK_SECONDS, call.ended):
            if self.out_of_grace:
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
    def out_of_grace(self) -> bool:
        """Whether there is a reason to stop, and has been for longer than calls may take."""
        if self._console.stop_reason() is None:
            return False
        self._stop_seen = self._stop_seen or self._clock.monotonic()
        return self._clock.monotonic() - self._stop_seen > GRACE_SECONDS


class PatientCalls(Calls):
    """Calls that are repeated while the ledger is away or busy."""

    def __init__(self, console: Console, clock: Clock = SYSTEM) -> None:
        """As for :class:`Calls`; the console also hears when the ledger is away, and back."""
        super().__init__(console, clock=clock)

    def once(self, action: Callable[[], T]) -> T:
        """As :meth:`Calls.make`: an action that is not worth repeating."""
        return super().make(action)

    def make(self, action: Callable[[], T]) -> T:
        """As :meth:`Calls.make`; an action whose ledger is away, or busy, is repeated after a while."""
        backoff, away = Backoff(longest=LONGEST_WAIT, clock=self._clock), False
        while True:
            try:
                value = super().make(action)
            except Away as error:
                if not away:
                    self._console.say(f"{error}; the work goes on, asking again")
                away = True
                backoff.failed()
                while not backoff.due:
                    if self._console.stop_reason() is not None:
                        raise GivenUp(f"{self._console.stop_reason()}: {self._whom} does not answer") from error
                    self._clock.wait(LOOK_SECONDS)
            else:
                if away:
                    self._console.say("the ledger is back")
                return value


def _serve(calls: SimpleQueue[_Call[Any] | None]) -> None:
    while (call := calls.get()) is not None:
        call.make()
