"""The time limits of a run and of each task, from the speeds measured so far.

No task starts that would end after the limit of the run; a task that exceeds its own limit is taken to hang."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


PATIENCE_SECONDS = 120.0
LIMIT_FACTOR = 20.0
"""A task may take up to this multiple of its expected time at the slowest speed measured."""
START_SECONDS, UNKNOWN_SECONDS = 900.0, 86_400.0
"""How long a process may take before its first task, and a task whose expected time is unknown."""
MAX_LOOK = 5.0
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
        passed, self._looked = min(now - self._looked, MAX_LOOK), now
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
            return f"has not started after {waited:.0f} s"
        seconds = self._seconds.get((token, True), 0.0)
        expected = None if self.pace is None else self.pace * work
        limit = UNKNOWN_SECONDS if expected is None else LIMIT_FACTOR * expected
        if seconds <= max(limit, self._patience):
            return None
        usual = "" if expected is None else f", {expected:.2g} s were expected"
        return f"has been evaluated for {seconds:.0f} s{usual}"
