"""When to repeat a request that was not answered."""

from __future__ import annotations

import random

from jobs.clock import SYSTEM, Clock

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0


class Backoff:
    """When to ask again: each failure doubles the wait, and a random part keeps workers from asking all at once."""

    def __init__(self, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT, *, clock: Clock = SYSTEM) -> None:
        self._first, self._longest, self._clock = first, longest, clock
        self._failures = 0
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to ask."""
        return self._clock.monotonic() >= self._next

    def failed(self) -> None:
        """Record a failure: wait longer before the next request."""
        seconds = min(self._longest, self._first * 2**self._failures)
        self._failures += 1
        self.pause(seconds)

    def succeeded(self) -> None:
        """Record an answer: the next request may be sent at once, and the next wait is the shortest."""
        self._failures = 0
        self._next = 0.0

    def pause(self, seconds: float) -> None:
        """Wait for a random time from half of ``seconds`` to all of it."""
        self._next = self._clock.monotonic() + seconds * random.uniform(0.5, 1.0)
