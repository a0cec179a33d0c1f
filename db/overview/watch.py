"""An overview for many who look: asked from the ledger seldom enough to cost little."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from db.overview.records import Overview

FRESH_SECONDS = 2.0
SHARE = 0.05
"""Of the time, at most, in which overviews are asked from the ledger."""


class Watch:
    """The overview of one campaign.  Threads may share it."""

    def __init__(self, ask: Callable[[], Overview]) -> None:
        """``ask``: :meth:`db.Campaign.overview`."""
        self._ask = ask
        self._lock = Lock()
        self._overview: Overview | None = None
        self._due = 0.0

    def overview(self) -> Overview:
        """The overview, some seconds old: 2, or as many as keep the ledger free for most of the time.

        While one thread asks the ledger, the others do not wait for it, but for the first time.
        """
        known = self._overview
        if known is not None and (time.monotonic() < self._due or not self._lock.acquire(blocking=False)):
            return known
        if known is None:
            self._lock.acquire()
        try:
            if self._overview is None or time.monotonic() >= self._due:
                start = time.monotonic()
                self._overview = self._ask()
                end = time.monotonic()
                self._due = end + max(FRESH_SECONDS, (end - start) / SHARE)
            return self._overview
        finally:
            self._lock.release()
