"""A pool whose tasks take as long as a test says, by its clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from jobs.pools.pool import PREFETCH, Died, Finished
from langford.result import Evaluation
from tests.support.campaigns import TRUE
from tests.support.clock import MovableClock

STEPS = 2
"""What it reports of every task that is evaluated."""


class SlowPool:
    """A pool of one worker that evaluates a task while the clock passes the seconds that it takes."""

    def __init__(self, clock: MovableClock, seconds: Mapping[int, float], times: int = 1) -> None:
        """
        Args:
            clock: passes while the pool is polled.
            seconds: that the first evaluations of some tasks take, by index; of others half a second.
            times: how many evaluations of each of these tasks take that long.

        Attributes:
            meanwhile: called while a slow task is evaluated.
        """
        self._clock, self._seconds = clock, seconds
        self._left = dict.fromkeys(seconds, times)
        self._waiting: list[tuple[int, int]] = []
        self._began, self._killed = 0.0, ""
        self.meanwhile: Callable[[], object] = lambda: None

    @property
    def idle_slots(self) -> int:
        return PREFETCH - len(self._waiting)

    @property
    def idle_workers(self) -> int:
        return int(not self._waiting)

    @property
    def in_flight(self) -> list[int]:
        return [token for token, _ in self._waiting]

    @property
    def computing(self) -> dict[int, int | None]:
        return {token: STEPS for token, _ in self._waiting[:1]}

    @property
    def compiles(self) -> bool:
        return False

    def submit(self, token: int, index: int) -> None:
        if not self._waiting:
            self._began = self._clock.monotonic()
        self._waiting.append((token, index))

    def kill(self, token: int, reason: str) -> None:
        assert token == self._waiting[0][0]
        self._killed = reason

    def poll(self, timeout: float | None) -> Iterator[Finished | Died]:
        if self._killed:
            tokens, reason = tuple(self.in_flight), self._killed
            self._left[self._waiting[0][1]] -= 1
            self._waiting, self._killed = [], ""
            yield Died(tokens, reason, tokens[0])
            return
        self._clock.wait(timeout or 0.0)
        if not self._waiting:
            return
        token, index = self._waiting[0]
        passed = self._clock.monotonic() - self._began
        is_slow = self._left.get(index, 0) > 0
        if passed < (self._seconds[index] if is_slow else 0.5):
            if is_slow:
                self.meanwhile()
            return
        self._left[index] = self._left.get(index, 0) - is_slow
        del self._waiting[0]
        self._began = self._clock.monotonic()
        yield Finished(token, Evaluation(TRUE[index], passed, "{}"))

    def stop(self) -> None:
        self._waiting = []
