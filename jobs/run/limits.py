"""The time limits of a run and of each task, from the speeds known so far.

No task starts that would end after the limit of the run; a task that exceeds its own limit is taken to hang."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jobs.clock import SYSTEM, Clock
from langford.methods.speed import Speed
from langford.words import duration

MARGIN = 1.25
"""A task may take this multiple of its work divided by the mean speed of the run."""
OVERRUN = 2.0
"""A task that has taken this multiple of its expected time is given back once the limit is over."""


class KnownSpeed:
    """What a run knows of how long its tasks take: by its own results, else by the campaign's or a measurement.

    Attributes:
        recorded: the slowest of the campaign's last results on this kind of device; None: there is none.
    """

    def __init__(self, probe: Callable[[], Speed | None] = lambda: None) -> None:
        """
        Args:
            probe: measures the speed before the first task, where nothing is known of it; may return None.
        """
        self._probe = probe
        self._work = self._seconds = self._slowest = 0.0
        self._own: Speed | None = None
        self.recorded: Speed | None = None
        self._forecast: Speed | None = None

    def saw(self, work: float, seconds: float) -> None:
        """Take note of a result of this run.

        Args:
            work: in the plan's unit.
            seconds: of computing on one device.
        """
        if work > 0:
            self._work, self._seconds = self._work + work, self._seconds + seconds
            self._slowest = max(self._slowest, seconds / work)
            mean = self._seconds / self._work
            self._own = Speed(mean, self._slowest / mean if mean else 1.0)

    def begin(self, work: float, left: float) -> None:
        """Forecast the first tasks.

        The campaign's results are enough where they leave time for a task.  Otherwise this machine is measured: one
        slow result must not keep all workers from starting.

        Args:
            work: of one of them, in the plan's unit.
            left: seconds until the end of the run.
        """
        if self._forecast is not None or self._own is not None:
            return
        fits = self.recorded is not None and self.recorded.expected(work) <= left
        known = [self.recorded, None if fits else self._probe()]
        self._forecast = min((speed for speed in known if speed), key=lambda speed: speed.seconds, default=None)

    def expected(self, work: float) -> float | None:
        """Seconds that a task takes; None: unknown.

        Args:
            work: of the task, in the plan's unit.
        """
        if self._own is not None:
            return MARGIN * self._own.expected(work)
        return None if self._forecast is None else self._forecast.expected(work)

    def longest(self, work: float) -> float | None:
        """Seconds that a task takes at the slowest speed of which a result is known; None: there is none.

        Args:
            work: of the task, in the plan's unit.
        """
        known = [speed.longest.expected(work) for speed in (self.recorded, self._own) if speed is not None]
        return max(known, default=None)


class TimeLimit:
    """The time limit of one run."""

    def __init__(self, seconds: float | None, speed: KnownSpeed, clock: Clock = SYSTEM) -> None:
        """
        Args:
            seconds: from now to the end of the run; None: no limit.
            speed: forecasts.
            clock: measures.
        """
        self._seconds, self._speed, self._clock = seconds, speed, clock
        self._started = clock.monotonic()

    @property
    def left(self) -> float:
        """Infinite without a limit."""
        passed = self._clock.monotonic() - self._started
        return float("inf") if self._seconds is None else self._seconds - passed

    def begin(self, work: float) -> None:
        """Forecast the first tasks, where there is a limit.

        Args:
            work: of one of them, in the plan's unit.
        """
        if self._seconds is not None:
            self._speed.begin(work, self.left)

    def fits(self, work: float, ahead: float = 0.0) -> bool:
        """Whether a task would end in time; true while that is unknown.

        Args:
            work: of the task, in the plan's unit.
            ahead: seconds until it can start.
        """
        return ahead + (self._speed.expected(work) or 0.0) <= self.left

    def is_worth_waiting_for(self, work: float, computed: float | None) -> bool:
        """Whether to wait for a task that the pool has.

        Args:
            work: of the task, in the plan's unit.
            computed: seconds of its evaluation so far; 0: it has not begun, None: unknown.
        """
        if self.left > 0:
            return True
        if not computed or computed < -self.left:
            return False  # it has begun after the limit, or not at all
        return computed < OVERRUN * (self._speed.expected(work) or 0.0)


PATIENCE_SECONDS = 120.0
LIMIT_FACTOR = 20.0
"""A task may take up to this multiple of its expected time at the slowest speed known."""
START_SECONDS, UNKNOWN_SECONDS = 900.0, 86_400.0
"""How long a process may take before its first task, and a task whose expected time is unknown."""
MAX_LOOK = 5.0
"""The most that one look counts: this process, or its machine, may have been stopped meanwhile."""


class Watch:
    """How long tasks have been evaluated, and how long they may be."""

    def __init__(self, speed: KnownSpeed, patience: float = PATIENCE_SECONDS, clock: Clock = SYSTEM) -> None:
        """
        Args:
            speed: forecasts.
            patience: seconds that every task may take, however small it is.
            clock: measures.
        """
        self._speed, self._patience, self._clock = speed, patience, clock
        self._seconds: dict[tuple[int, bool], float] = {}
        self._tells = True
        self._looked = self._clock.monotonic()

    def look(self, computing: Mapping[int, int | None] | None) -> None:
        """Count the time since the last look for the tasks that are evaluated now.

        Args:
            computing: see :attr:`jobs.pools.pool.Pool.computing`.
        """
        now = self._clock.monotonic()
        passed, self._looked = min(now - self._looked, MAX_LOOK), now
        self._tells = computing is not None
        tasks = [(token, steps is not None) for token, steps in (computing or {}).items()]
        # What is seen for the first time has just begun.
        self._seconds = {task: self._seconds.get(task, -passed) + passed for task in tasks}

    def seconds(self, token: int) -> float | None:
        """For how long a task has been evaluated; 0: it has not begun, None: the pool does not tell.

        Args:
            token: the run's number for the task.
        """
        return self._seconds.get((token, True), 0.0) if self._tells else None

    def overdue(self, token: int, work: float) -> str | None:
        """Why a task takes too long, for people; None while there is time.

        Args:
            token: the run's number for the task.
            work: of the task, in the plan's unit.
        """
        waited = self._seconds.get((token, False), 0.0)
        if waited > max(START_SECONDS, self._patience):
            return f"has not started after {duration(waited)}"
        seconds = self._seconds.get((token, True), 0.0)
        expected = self._speed.longest(work)
        limit = UNKNOWN_SECONDS if expected is None else LIMIT_FACTOR * expected
        if seconds <= max(limit, self._patience):
            return None
        usual = "" if expected is None else f" ({duration(expected)} expected)"
        return f"has been evaluated for {duration(seconds)}{usual}"
