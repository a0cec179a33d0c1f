"""The time as a run sees it: what leases, pauses, limits and lines of the log are measured by.

Whatever waits or measures takes a :class:`Clock`.  Commands leave it at :data:`SYSTEM`; tests pass one that they
move, so that a pause of minutes is proven without waiting for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Clock(Protocol):
    """A source of time, in seconds.  Threads may share it."""

    def monotonic(self) -> float:
        """Seconds since an arbitrary moment; never goes back."""

    def wall(self) -> float:
        """Seconds since 1970-01-01 00:00 UTC, as this machine is set."""

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        """Return after ``seconds``, or as soon as the event is set; returns whether it is set."""


class SystemClock:
    """The clock of this machine; implements :class:`Clock`."""

    def monotonic(self) -> float:
        return time.monotonic()

    def wall(self) -> float:
        return time.time()

    def wait(self, seconds: float, event: threading.Event | None = None) -> bool:
        if event is None:
            time.sleep(seconds)
            return False
        return event.wait(seconds)


SYSTEM = SystemClock()
STOP_SECONDS = 5.0
"""How long the end of a block waits for the last call in :func:`repeated`."""


@contextmanager
def repeated(
    action: Callable[[], object],
    seconds: float,
    name: str,
    clock: Clock = SYSTEM,
    last: Callable[[], object] | None = None,
) -> Iterator[None]:
    """Call a function again and again while the block runs, in a thread of its own.

    Args:
        action: what is called; raises nothing.
        seconds: between two calls, and before the first.
        name: of the thread.
        clock: measures.
        last: what is called when the block ends, in the same thread; None: nothing.
    """
    over = threading.Event()

    def run() -> None:
        while not clock.wait(seconds, over):
            action()
        if last is not None:
            last()

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(STOP_SECONDS)
