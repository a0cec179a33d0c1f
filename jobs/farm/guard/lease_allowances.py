"""How many leases without a result the workers of a token get: each of them stays in the ledger for good.

Workers give tasks back when they are preempted, and lose them when they die.  One that leases and gives back over
and over would fill the ledger, whatever names its bearer invents for it; so the limit is that of a token.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from jobs.clock import SYSTEM, Clock
from langford.errors import LangfordError

SPARE, SPARE_PER_HOUR = 10_000, 10_000
"""Leases without a result that a token may have, besides those that run, and how many more it gets per hour."""
LEASES_PER_RESULT = 10
"""Leases that the first result of a token at a task allows; so nine of ten leases may end without a result."""
RUNNING_PER_TASK = 2
"""Leases of a task that may run at the same time: the first one, and a copy."""


class TooManyLeases(LangfordError):
    """The workers of a token have had too many leases without a result."""

    def __init__(self, without: int) -> None:
        """``without``: how many."""
        super().__init__(
            f"the workers with this token had {without:,} leases more than their results allow: deliver results, "
            f"or wait ({SPARE_PER_HOUR:,} more are granted per hour); if workers are preempted before a task is "
            "done, create the campaign with a larger --depth"
        )


class _Token:
    """The leases of one token.

    Attributes:
        open: leases less those that its results have allowed, and those that time has.
        at: when that was updated, by a clock that only goes forward.
        delivered: a bit for each task of which it has delivered a result.
    """

    def __init__(self, tasks: int, at: float) -> None:
        self.open, self.at, self.delivered = 0.0, at, bytearray(tasks // 8 + 1)


class LeaseAllowances:
    """The allowances of all tokens of one campaign; they start afresh with the server."""

    def __init__(self, tasks: int, clock: Clock = SYSTEM) -> None:
        """``tasks``: of the campaign."""
        self._tasks, self._clock, self._lock = tasks, clock, threading.Lock()
        self._most = SPARE + RUNNING_PER_TASK * tasks
        self._tokens: dict[str, _Token] = {}

    def take(self, token: str, count: int) -> int:
        """Up to ``count`` leases that a token may get now, which count from now on; raises TooManyLeases."""
        with self._lock:
            known = self._updated(token)
            allowed = min(count, int(self._most - known.open))
            if allowed <= 0 < count:
                raise TooManyLeases(int(known.open))
            known.open += allowed
            return allowed

    def give_back(self, token: str, count: int) -> None:
        """Leases that were taken and not granted."""
        with self._lock:
            known = self._updated(token)
            known.open = max(0.0, known.open - count)

    def delivered(self, token: str, results: Iterable[tuple[int, bool]]) -> None:
        """Results of a token were accepted, or confirm others.

        A further one of the same task, as of a recheck, pays for its own lease only; a repeated one for none.

        Args:
            token: the token.
            results: (task, whether it is the first result of its lease) of each.
        """
        with self._lock:
            known = self._updated(token)
            for task, is_new in results:
                byte, bit = task >> 3, 1 << (task & 7)
                allowed = int(is_new) if known.delivered[byte] & bit else LEASES_PER_RESULT
                known.delivered[byte] |= bit
                known.open = max(0.0, known.open - allowed)

    def _updated(self, token: str) -> _Token:
        """The leases of a token, updated to this moment."""
        now = self._clock.monotonic()
        known = self._tokens.get(token)
        if known is None:
            known = self._tokens[token] = _Token(self._tasks, now)
        known.open = max(0.0, known.open - (now - known.at) * SPARE_PER_HOUR / 3600)
        known.at = now
        return known
