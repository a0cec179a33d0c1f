"""Sub-tasks on their way from the cores to the streams of a GPU."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from langford.arithmetic.residue import residue
from langford.kernels.gpu.program import DeviceStream, Program

EARLY = 8
"""A stream with this part of its sub-tasks starts when the GPU has nothing to do."""
Counted = tuple[int, int, int]
"""Arrangements, the same mod 2^64 − 1, nodes."""


class Feed:
    """Collects the sub-tasks of a task in the buffers of the streams, and launches them.

    Attributes:
        sent, kept: sub-tasks for the GPU, and sub-tasks that the cores evaluate themselves.
    """

    def __init__(
        self, method: str, program: Program, streams: list[DeviceStream], room: int, row_words: int
    ) -> None:
        """``room``: sub-tasks that a stream takes at once, of ``row_words`` words each."""
        self._method, self._program, self._streams, self._words = method, program, streams, row_words
        self._room = room
        self._totals = [program.zeros(3, np.int64) for _ in streams]
        self._current = self._filled = 0
        self._lock = threading.Lock()
        self.sent = self.kept = 0

    def send(self, frees: NDArray[np.uint64], wait: bool) -> int:
        """Put as many sub-tasks as fit into a stream's buffer; how many.

        0 when the streams are busy; with ``wait``, when one is free.
        """
        if not self._lock.acquire(blocking=wait):
            return 0
        try:
            stream = self._streams[self._current]
            if not self._filled and not stream.idle:
                if not wait:
                    return 0
                stream.wait()
            taken = min(len(frees), self._room - self._filled)
            start = self._filled * self._words
            stream.words[start : start + taken * self._words] = frees[:taken].reshape(-1)
            self._filled += taken
            self.sent += taken
            if self._filled == self._room or (self._filled >= self._room // EARLY and self._all_idle()):
                self._launch()
            return taken
        finally:
            self._lock.release()

    def keep(self, count: int) -> None:
        """Note that a core evaluates ``count`` sub-tasks itself."""
        with self._lock:
            self.kept += count

    def finish(self) -> Counted:
        """Launch the rest and wait for all streams; what the device counted."""
        if self._filled:
            self._launch()
        for stream in self._streams:
            stream.wait()
        totals = [self._program.download(total).tolist() for total in self._totals]
        arrangements, again, nodes = (sum(column) for column in zip(*totals, strict=True))
        return arrangements, residue(again), nodes

    def _all_idle(self) -> bool:
        return all(stream.idle for stream in self._streams)

    def _launch(self) -> None:
        self._streams[self._current].launch(
            self._method, self._filled * self._words, np.int32(self._filled), None, self._totals[self._current]
        )
        self._current = (self._current + 1) % len(self._streams)
        self._filled = 0
