"""What to do while a ledger, a server or a scheduler is away: say so, and ask again.

A call that waits for a network cannot be interrupted.  It is made in another thread, so that this one hears signals
and can abandon it.
"""

from __future__ import annotations

import math
import random
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar, cast

from db.errors import Away
from db.messages import iso
from jobs.clock import SYSTEM, Clock
from jobs.console import SILENT, Console
from langford.words import duration

FIRST_WAIT, MAX_WAIT = 0.5, 60.0
LOOK_SECONDS = 0.1
"""Time between two looks for signals."""
GRACE_SECONDS = 1.0
"""How long calls may take, all together, after the reason to stop is there."""
T = TypeVar("T")
N = TypeVar("N")


class GivenUp(Away):
    """A call was abandoned, because there was a reason to stop and no answer."""


class Postponed(Away):
    """A server has no time, or this worker or its token had as much as it may have: it may be asked again later."""

    def __init__(self, reason: str, seconds: float) -> None:
        """
        Args:
            reason: for people.
            seconds: until it may be asked again.
        """
        super().__init__(reason)
        self.seconds = seconds


class Backoff:
    """When to ask again: each failure doubles the wait, and a random part keeps workers from asking all at once."""

    def __init__(self, first: float = FIRST_WAIT, longest: float = MAX_WAIT, *, clock: Clock = SYSTEM) -> None:
        """
        Args:
            first, longest: seconds; each wait is twice as long as the one before.
            clock: waits.
        """
        self._first, self._longest, self._clock = first, longest, clock
        self._failures = 0
        self._next = 0.0

    @property
    def due(self) -> bool:
        return self._clock.monotonic() >= self._next

    def failed(self) -> None:
        """Wait longer before the next request."""
        seconds = min(self._longest, self._first * 2.0 ** min(self._failures, 30))
        self._failures += 1
        self.pause(seconds)

    def succeeded(self) -> None:
        """The next request may be sent at once, and the next wait is the shortest."""
        self._failures = 0
        self._next = 0.0

    def pause(self, seconds: float) -> None:
        """Wait for a random time from half of ``seconds`` to all of it."""
        self._next = self._clock.monotonic() + seconds * random.uniform(0.5, 1.0)


class Patience:
    """Calls something that may be unavailable, and reports each new reason once, with the time of the first
    failure.
    """

    def __init__(self, console: Console, whom: str, clock: Clock = SYSTEM) -> None:
        """
        Args:
            console: gets the remarks; when it asks to stop, :meth:`insist` ends.
            whom: who is asked, in words: "the server".
            clock: waits.
        """
        self._console, self._whom, self._clock = console, whom, clock
        self._backoff = Backoff(clock=clock)
        self._since: float | None = None
        self._said, self._postponed = set[str](), set[str]()

    @property
    def is_away(self) -> bool:
        return self._since is not None

    @property
    def due(self) -> bool:
        """Whether it is time to ask: always, unless the last question was not answered."""
        return self._backoff.due

    def ask(self, question: Callable[[], T]) -> T:
        """The answer to one question, whether or not it is due; raises Away.

        Args:
            question: raises Away when there is no answer now; other errors pass.
        """
        try:
            answer = question()
        except Postponed as error:
            self._say_new(self._said, error, "; asking again")
            self._backoff.pause(2 * error.seconds)
            raise
        except Away as error:
            self._backoff.failed()
            self._note(error)
            raise
        if self.is_away:
            self._console.say(f"{self._whom} is back")
        self._backoff.succeeded()
        self._since, self._said = None, set()
        return answer

    def insist(self, question: Callable[[], T], seconds: float = math.inf) -> T:
        """The answer to a question, asked until there is one.

        Args:
            question: as for :meth:`ask`.
            seconds: to wait at most.

        Raises Away when there is none after that, or a reason to stop.
        """
        end = self._clock.monotonic() + seconds
        while True:
            try:
                return self.ask(question)
            except Away:
                while not self.due:
                    if self._console.stop_reason() is not None or self._clock.monotonic() >= end:
                        raise
                    self._clock.wait(LOOK_SECONDS)

    def note_postponed(self, error: Postponed) -> None:
        """Say why, once, although other questions are answered: a worker may meet a limit again and again."""
        self._say_new(self._postponed, error, "; asking again")

    def _note(self, error: Away) -> None:
        """Say a reason, unless one was said since the last answer."""
        self._since = self._since or self._clock.wall()
        again = "" if isinstance(error, GivenUp) else f"; asking again (away since {iso(self._since)})"
        self._say_new(self._said, error, again)

    def _say_new(self, said: set[str], error: Away, consequence: str) -> None:
        """Say an error, unless one was said that differs only in words with digits."""
        known = re.sub(r"\w*\d\w*", "", str(error))  # errors in a log have hexadecimal numbers
        if known not in said:
            self._console.say(f"{error}{consequence}")
        said.add(known)


# -- calls that are abandoned ------------------------------------------------------------------


class Overdue(Away):
    """A call was abandoned, because it took longer than it may."""


class Calls:
    """Makes calls, one at a time, in a thread of its own."""

    def __init__(self, console: Console = SILENT, whom: str = "the ledger", clock: Clock = SYSTEM) -> None:
        """
        Args:
            console: may ask to stop; then calls that are not answered are given up.
            whom: who is called, in words.
            clock: measures.
        """
        self._console, self._whom, self._clock = console, whom, clock
        self._waiting: SimpleQueue[Callable[[], None] | None] | None = None
        self._stop_seen: float | None = None

    def make(self, action: Callable[[], T], seconds: float = math.inf) -> T:
        """The value of an action, or its error.

        Args:
            action: called in another thread, which a call that is given up keeps.
            seconds: to wait at most.

        Raises Overdue when there is neither after that, and GivenUp when it is time to stop.
        """
        if self._waiting is None:
            self._waiting = SimpleQueue()
            threading.Thread(target=_serve, args=(self._waiting,), daemon=True).start()
        outcome, ended = Future[T](), threading.Event()

        def call() -> None:
            try:
                outcome.set_result(action())
            except BaseException as error:
                outcome.set_exception(error)
            ended.set()

        began = self._clock.monotonic()
        self._waiting.put(call)
        while not self._clock.wait(LOOK_SECONDS, ended):
            if self._out_of_grace:
                self._abandon()
                raise GivenUp(f"{self._console.stop_reason()}: {self._whom} does not answer")
            if self._clock.monotonic() - began > seconds:
                self._abandon()
                raise Overdue(f"{self._whom} has not answered in {duration(seconds)}")
        return outcome.result()

    def through(self, noun: N) -> N:
        """The same object, whose methods are called by :meth:`make`.

        Args:
            noun: a ledger or a campaign.
        """
        return cast(N, _Through(noun, self))

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


class _Through:
    def __init__(self, noun: object, calls: Calls) -> None:
        self._noun, self._calls = noun, calls

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._noun, name)
        if not callable(value):
            return value
        return lambda *arguments, **options: self._calls.make(partial(value, *arguments, **options))


def _serve(calls: SimpleQueue[Callable[[], None] | None]) -> None:
    while (call := calls.get()) is not None:
        call()
