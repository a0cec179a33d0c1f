"""What one start of a worker has done, and what follows: how much to ask for, when to stop, when to give up."""

from __future__ import annotations

import time

from langford.errors import LangfordError

LEASE_SECONDS = 120.0
STOCK = 64
"""Leases held beyond what the workers are doing: enough for thousands of tasks a second."""
SHORT_TASK_SECONDS = 0.1
DEATHS_IN_A_ROW = 5


class WorkersKeepDying(LangfordError):
    """Worker processes die again and again before they finish anything."""


class Effort:
    """Tasks finished, work done and seconds since the start; deaths of worker processes in a row."""

    def __init__(self, time_limit: float | None) -> None:
        """``time_limit``: seconds; no task should start that would probably not end before."""
        self._time_limit = time_limit
        self._started = time.monotonic()
        self._slowest = 0.0
        self._deaths = 0
        self.tasks = 0
        self.work = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def finished(self, work: float, seconds: float) -> None:
        """A task of that much work took so many seconds."""
        self._deaths = 0
        self._slowest = max(self._slowest, seconds)
        self.tasks += 1
        self.work += work

    def died(self, reason: str) -> None:
        """A worker process died; raises WorkersKeepDying when nothing else happens any more."""
        self._deaths += 1
        if self._deaths >= DEATHS_IN_A_ROW:
            raise WorkersKeepDying(
                f"{self._deaths} worker processes died in a row without finishing a task "
                f"(last: {reason}): check memory (use fewer --workers) and run again"
            )

    def batch(self, idle_slots: int) -> int:
        """How many tasks to lease: few while they are long, many when they are short."""
        return idle_slots + (STOCK if self.tasks and self._slowest < SHORT_TASK_SECONDS else 0)

    def out_of_time(self) -> str | None:
        """Why no further task should start."""
        if self._time_limit is None:
            return None
        return "time limit" if self._time_limit - self.seconds < self._slowest * 1.5 else None
