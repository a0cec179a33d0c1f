"""Whom the server could not hear of late: the leases of their workers do not expire meanwhile.

A worker renews its leases in time, but the server may have been stopped, or started again, have no ledger, or no
time for it.  The worker asks again within HEARING_SECONDS; until then nobody else gets its tasks.
"""

from __future__ import annotations

import threading
from collections.abc import Collection

from jobs.clock import SYSTEM, Clock
from jobs.farm.guard.bounds import HEARING_SECONDS, SILENCE_SECONDS
from jobs.farm.guard.charges import Payer


class Hearing:
    """Threads may share it."""

    def __init__(self, clock: Clock = SYSTEM, seconds: float | None = None) -> None:
        """From now on; who asked before was not heard.  ``seconds``: None: HEARING_SECONDS."""
        self._clock, self._lock = clock, threading.Lock()
        self._seconds = HEARING_SECONDS if seconds is None else seconds
        # By the clock that leases expire by; it also runs while the computer sleeps.
        self._last_sign = self._deaf = clock.wall()
        self._missed: dict[str, float] = {}

    def sign(self) -> None:
        """The server runs.  To be called much more often than every SILENCE_SECONDS."""
        with self._lock:
            self._look()

    def miss(self, payer: Payer | None) -> None:
        """Note that a request was not answered for lack of time; None: nobody's was, for lack of a ledger."""
        with self._lock:
            if payer is None:
                self._deaf = self._look()
            elif not payer.is_stranger:
                self._missed[payer.group] = self._look()

    @property
    def unheard(self) -> Collection[str] | None:
        """Digests of the tokens whose workers may have asked in vain; None: anybody may have."""
        with self._lock:
            since = self._look() - self._seconds
            self._missed = {token: missed for token, missed in self._missed.items() if missed > since}
            return None if self._deaf > since else list(self._missed)

    def _look(self) -> float:
        """The time; after a silence everybody is unheard."""
        now = self._clock.wall()
        if abs(now - self._last_sign) > SILENCE_SECONDS:
            self._deaf = now
            self._missed = {}
        self._last_sign = now
        return now
