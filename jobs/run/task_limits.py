"""The time limit of each task, from the speeds measured so far; a task that exceeds it is taken to hang."""

from __future__ import annotations

from collections.abc import Mapping

from jobs.clock import SYSTEM, Clock

PATIENCE_SECONDS = 120.0
LIMIT_FACTOR = 20.0
"""A task may take up to this multiple of its expected time at the slowest speed measured."""
START_SECONDS, UNKNOWN_SECONDS = 900.0, 86_400.0
"""How long a process may take before its first task, and a task whose expected time is unknown."""
LONGEST_LOOK = 5.0
"""The most that one look counts: this process, or its machine, may have been stopped meanwhile."""


class Watch:
    """How long tasks have been evaluated, and how long they may be.

    Attributes:
        pace: seconds per unit of work at the slowest speed measured; None: none was.
    """

    def __init__(self, patience: float = PATIENCE_SECONDS, clock: Clock = SYSTEM) -> None:
        """``patience``: seconds that every task may take, however small it is."""
        self._patience, self._clock = patience, clock
        self._seconds: dict[tuple[int, bool], float] = {}
        self._looked = self._clock.monotonic()
        self.pace: float | None = None

    def saw(self, work: float, seconds: float) -> None:
        if work > 0:
            self.pace = max(self.pace or 0.0, seconds / work)

    def look(self, computing: Mapping[int, int | None]) -> None:
        """Count the time since the last look for these tasks, see :attr:`jobs.pools.pool.Pool.computing`."""
        now = self._clock.monotonic()
        passed, self._looked = min(now - self._looked, LONGEST_LOOK), now
        tasks = [(token, steps is not None) for token, steps in computing.items()]
        # What is seen for the first time has just begun.
        self._seconds = {task: self._seconds.get(task, -passed) + passed for task in tasks}

    def seconds(self, token: int) -> float | None:
        """None: it has not begun."""
        return self._seconds.get((token, True))

    def overdue(self, token: int, work: float) -> str | None:
        """None while there is time."""
        waited = self._seconds.get((token, False), 0.0)
        if waited > max(START_SECONDS, self._patience):
            return f"has not begun after {waited:.0f} s"
        seconds = self._seconds.get((token, True), 0.0)
        expected = None if self.pace is None else self.pace * work
        limit = UNKNOWN_SECONDS if expected is None else LIMIT_FACTOR * expected
        if seconds <= max(limit, self._patience):
            return None
        usual = "" if expected is None else f", {expected:.2g} s were expected"
        return f"has been evaluated for {seconds:.0f} s{usual}"
