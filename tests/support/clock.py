"""A clock that tests move: what takes minutes is proven in milliseconds."""

from __future__ import annotations

import threading

LOOK_SECONDS = 0.001
"""Real time between two looks whether an event is set, or the clock was moved."""


class MovableClock:
    """Implements :class:`jobs.clock.Clock`: time passes when someone waits, and when the test moves it."""

    def __init__(self, now: float = 1000.0) -> None:
        self._now, self._lock = now, threading.Lock()

    def move(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._now += seconds

    def monotonic(self) -> float:
        """The time, from 1000 s on."""
        return self._now

    def wall(self) -> float:
        """The same time, as if it were a date."""
        return self._now

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        """Let time pass, and return at once; with an event, wait until it is set or the clock was moved so far."""
        if event is None:
            self.move(seconds)
            return False
        until = self._now + seconds
        while self._now < until:
            if event.wait(LOOK_SECONDS):
                return True
        return event.is_set()


class HurriedClock(MovableClock):
    """Time passes while an event is awaited, too."""

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        self.move(seconds)
        return event is not None and event.wait(0.001)
