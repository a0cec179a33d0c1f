"""What the benchmarks of the irregular problems measure on: one core, or GPU 0."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness import Figure, Report, Timing, required, timed
from langford.kernels.gpu.runtime import device_name

CALLS = 10
"""Calls behind each other of which the mean is taken."""
COPIES = 8
"""Copies of a GiB, read and written, that keep a GPU busy while Python queues what is timed alone: some 2 ms."""


def ms(seconds: float) -> Figure:
    """Milliseconds, for a cell of a table."""
    return Figure(1000 * seconds, "{:.3g}")


class Bench:
    """A device: where arrays go, and when what was started is done.

    Attributes:
        report: where the tables go.
        xp: numpy or cupy.
        device: "cpu" or "cuda".
        quick: smaller sizes, for a test of the program.
        bandwidth: bytes per second that a copy reads and writes.
        figures: what sections keep for pictures, by name.
    """

    def __init__(self, report: Report, device: str, quick: bool) -> None:
        self.report = report
        self.xp: Any = np
        self.device, self.quick = device, quick
        self.figures: dict[str, dict[str, float]] = {}
        if device == "cuda":
            report.note(device_name(0))
            self.xp = required("cupy")
        self._source = self.xp.zeros(2**20 if quick and device == "cpu" else 2**26, np.int64)
        self._there = self.xp.empty_like(self._source)
        self.bandwidth = 2 * self._source.nbytes / self.timed(5, self._copy).median

    def _copy(self) -> None:
        self.xp.copyto(self._there, self._source)

    def put(self, array: Any) -> Any:
        """The array on the device."""
        return self.xp.asarray(array)

    def timed(self, runs: int, action: Callable[[], Any], warm: bool = False) -> Timing[Any]:
        """Time an action; once before for the compiler, unless that has its code already."""

        def whole() -> Any:
            outcome = action()
            if self.xp is not np:
                self.xp.cuda.Device().synchronize()
            return outcome

        if not warm:
            whole()
        # Time of the processor on a core: other programs on the machine take none of it.
        return timed(runs, whole, time.process_time if self.xp is np else time.perf_counter)

    def in_a_row(self, runs: int, action: Callable[[], Any]) -> float:
        """Seconds of one of many calls that a GPU does behind each other, while Python prepares the next ones.

        On a core the same as alone.
        """
        if self.xp is np:
            return self.timed(runs, action).median

        def calls() -> None:
            for _ in range(CALLS):
                action()

        return self.timed(runs, calls).median / CALLS

    def alone(self, runs: int, action: Callable[[], Any], calls: int = CALLS) -> float:
        """Seconds that a GPU works for a call, without what Python takes: it queues all calls while copies run.

        The action must not wait for the GPU.  Two events enclose the calls, the copies before them excluded; the
        median of the runs.  On a core the same as alone.
        """
        if self.xp is np:
            return self.timed(runs, action).median
        action()  # the first call loads what it needs
        events = self.xp.cuda.Event(), self.xp.cuda.Event()
        seconds = []
        for _ in range(runs):
            self.xp.cuda.Device().synchronize()
            for _ in range(COPIES):
                self._copy()
            events[0].record()
            for _ in range(calls):
                action()
            if events[0].done:
                raise SystemExit("the GPU was not kept busy until all calls were queued: raise COPIES")
            events[1].record()
            events[1].synchronize()
            seconds.append(self.xp.cuda.get_elapsed_time(*events) / 1000 / calls)
        return float(median(seconds))

    def share(self, moved: int, seconds: float) -> str:
        """Bytes that must be moved per second, as a share of what a copy moves."""
        return f"{moved / seconds / self.bandwidth:.0%}"
