"""How often strangers at one address may ask."""

from __future__ import annotations

import threading

from jobs.clock import SYSTEM, Clock
from jobs.farm.guard.bounds import BURST, REMEMBERED, REQUESTS_PER_SECOND
from langford.errors import LangfordError

LOOK_SECONDS = 1.0
"""Time between two searches for addresses that may be forgotten."""


class RateLimit:
    """A limit on the requests per second of strangers at one address; short bursts may exceed it."""

    def __init__(
        self, per_second: float = REQUESTS_PER_SECOND, burst: float = BURST, clock: Clock = SYSTEM
    ) -> None:
        self._per_second, self._burst, self._clock = per_second, burst, clock
        # By address: requests that it may send now, and the time of its last request.
        self._allowances: dict[str, tuple[float, float]] = {}
        self._lock, self._next_look = threading.Lock(), 0.0

    def wait(self, address: str, cost: float = 1.0) -> float:
        """Seconds until the address may send a request; 0 when it may send this one.

        ``cost``: how many requests this one counts as.
        """
        now, cost = self._clock.monotonic(), min(cost, self._burst)
        with self._lock:
            if len(self._allowances) > REMEMBERED and now >= self._next_look:
                self._next_look = now + LOOK_SECONDS
                # An address that has sent nothing since then has its whole burst again, like a new one.
                full_since = now - self._burst / self._per_second
                self._allowances = {
                    known: allowance for known, allowance in self._allowances.items() if allowance[1] > full_since
                }
            allowed, last = self._allowances.get(address, (self._burst, now))
            allowed = min(self._burst, allowed + (now - last) * self._per_second)
            accepted = allowed >= cost
            self._allowances[address] = (allowed - cost * accepted, now)
            return 0.0 if accepted else (cost - allowed) / self._per_second


class TooManyRequests(LangfordError):
    """An address sends more requests without a valid token than it may."""

    def __init__(self, seconds: float) -> None:
        """``seconds``: until the client may send its next request."""
        super().__init__("too many requests; wait and repeat")
        self.headers = {"Retry-After": f"{seconds:.2f}"}
