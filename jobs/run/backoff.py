"""When to ask again."""

from __future__ import annotations

import random

from jobs.run.clock import SYSTEM, Clock

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0


class Backoff:
    """When to ask again: each failure doubles the wait; a random part keeps workers from asking all at once."""

    def __init__(self, first: float = FIRST_WAIT, longest: float = LONGEST_WAIT, *, clock: Clock = SYSTEM) -> None:
        self._first, self._longest, self._clock = first, longest, clock
        self._failures = 0
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether it is time to ask."""
        return self._clock.monotonic() >= self._next

    def failed(self) -> None:
        """Note that there was no answer: wait longer."""
        seconds = min(self._longest, self._first * 2**self._failures)
        self._failures += 1
        self.pause(seconds)

    def succeeded(self) -> None:
        """Note that there was an answer: ask at once, and wait the shortest time after the next failure."""
        self._failures = 0
        self._next = 0.0

    def pause(self, seconds: float) -> None:
        """Ask again after a random part of these seconds, from half to all."""
        self._next = self._clock.monotonic() + seconds * random.uniform(0.5, 1.0)
