"""Answers that many readers share, so that the ledger is queried rarely."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

FRESH_SECONDS = 2.0
SHARE = 0.05
"""Maximum share of the time in which the ledger answers the same query."""
T = TypeVar("T")


class Shared(Generic[T]):
    """An answer of the ledger for all readers.  Threads may share it."""

    def __init__(self, ask: Callable[[], T], now: Callable[[], float] = time.monotonic) -> None:
        """``ask`` is called by one thread at a time; ``now``: a monotonic clock, in seconds."""
        self._ask, self._now = ask, now
        self._lock = Lock()
        self._known: T | None = None
        self._due = 0.0

    def newest(self) -> T:
        """The answer, up to FRESH_SECONDS old, or older if queries would take more than SHARE of the time.

        While one thread queries the ledger, others get the previous answer; only for the first one they wait.
        """
        known = self._known
        if known is not None and (self._now() < self._due or not self._lock.acquire(blocking=False)):
            return known
        if known is None:
            self._lock.acquire()
        try:
            if self._known is None or self._now() >= self._due:
                start = self._now()
                self._known = self._ask()
                end = self._now()
                self._due = end + max(FRESH_SECONDS, (end - start) / SHARE)
            return self._known
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Have the next one who asks get a new answer."""
        with self._lock:
            self._known = None
