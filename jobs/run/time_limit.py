"""The time limit of a run: no task starts that would end later, by the speed measured so far."""

from __future__ import annotations

from collections.abc import Callable

from jobs.clock import SYSTEM, Clock

MARGIN = 1.25
"""Tasks may take this multiple of what their work says, at the mean speed of the run."""
OVERRUN = 2.0
"""A task that has taken this multiple of its expected time is given back once the limit is over."""


class TimeLimit:
    """The time limit of one run, and its forecast of each task."""

    def __init__(
        self,
        seconds: float | None,
        probe: Callable[[], float | None] = lambda: None,
        clock: Clock = SYSTEM,
    ) -> None:
        """``probe``: measures seconds per unit of work before the first task, where nothing is known of it."""
        self._seconds, self._probe, self._clock = seconds, probe, clock
        self._started = clock.monotonic()
        self._forecast: float | None = None
        self._spent = self._work = 0.0

    @property
    def left(self) -> float:
        """Infinite without a limit."""
        passed = self._clock.monotonic() - self._started
        return float("inf") if self._seconds is None else self._seconds - passed

    def saw(self, work: float, seconds: float) -> None:
        self._work, self._spent = self._work + work, self._spent + seconds

    def begin(self, work: float, recorded: float | None) -> None:
        """Forecast the first tasks.

        The record of others, ``recorded`` seconds per unit of work, is enough where it leaves time for a task.
        Otherwise this machine is probed: one slow result must not keep all workers from starting.
        """
        if self._seconds is None or self._forecast is not None or self._work:
            return
        fits = recorded is not None and recorded * work <= self.left
        measured = [recorded, None if fits else self._probe()]
        self._forecast = min((pace for pace in measured if pace is not None), default=None)

    def expected(self, work: float) -> float | None:
        """None: unknown."""
        if self._work:
            return MARGIN * work * self._spent / self._work
        return None if self._forecast is None else work * self._forecast

    def fits(self, work: float, ahead: float = 0.0) -> bool:
        """Whether a task that starts after ``ahead`` seconds would end in time; true while that is unknown."""
        return ahead + (self.expected(work) or 0.0) <= self.left

    def is_worth_waiting_for(self, work: float, computed: float | None) -> bool:
        """Whether to wait for a task, after ``computed`` seconds of its evaluation; None: it has not begun."""
        if self.left > 0:
            return True
        if computed is None or computed < -self.left:
            return False  # it has begun after the limit
        return computed < OVERRUN * (self.expected(work) or 0.0)
