"""The record of one run: its finished tasks, its dead workers, and how many tasks it leases at once."""

from __future__ import annotations

from jobs.clock import SYSTEM, Clock
from langford.errors import MachineFailed

STOCK = 64
"""Short tasks that a run leases beyond its idle slots: enough for thousands of tasks a second."""
SHORT_TASK_SECONDS = 0.1
DEATHS_IN_A_ROW = 5
"""How many worker processes may die before the run ends, when no task is finished in between."""


class WorkersKeepDying(MachineFailed):
    """Worker processes die again and again before they finish a task."""


class Effort:
    """What the workers of one run have done so far, and how many of them died."""

    def __init__(self, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._started = self._clock.monotonic()
        self._slowest = 0.0
        self._deaths = 0
        self.tasks = 0

    @property
    def seconds(self) -> float:
        return self._clock.monotonic() - self._started

    def finished(self, seconds: float) -> None:
        """``seconds``: of computing."""
        self._deaths = 0
        self._slowest = max(self._slowest, seconds)
        self.tasks += 1

    def died(self, reason: str) -> None:
        """Raises WorkersKeepDying after too many deaths in a row."""
        self._deaths += 1
        if self._deaths >= DEATHS_IN_A_ROW:
            raise WorkersKeepDying(
                f"{self._deaths} worker processes died in a row without finishing a task "
                f"(last: {reason}): check memory (use fewer --workers) and run again"
            )

    def batch(self, idle_slots: int) -> int:
        """How many tasks to lease: one per idle slot, and more when tasks are short.

        Args:
            idle_slots: how many tasks the pool would take now.
        """
        return idle_slots + (STOCK if self.tasks and self._slowest < SHORT_TASK_SECONDS else 0)
