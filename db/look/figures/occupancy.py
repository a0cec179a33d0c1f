"""How many devices computed at once, and how many workers held tasks.

A device is occupied for the seconds that its worker says it computed: from when computing began, where that was
said, else up to the end of the attempt, or now.  Without a result they are known up to the worker's last report.  A
device computes one task at a time; by the milliseconds by which clocks differ, attempts of one worker seem to
overlap: its further attempts occupy no device.  A worker holds tasks while it has a lease or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from db.look.figures.durations import Times

PARTS = 240
"""The number of parts into which a report splits the time from the first lease to the last."""
SHORTEST = 0.001
"""Seconds of that time at least: clocks can divide it."""


@dataclass(frozen=True)
class Spans:
    """Attempts as columns, by the start of their leases; times are seconds since 1970, float64."""

    worker: NDArray[np.int32]  # position of the worker
    granted: Times  # when the lease began
    held: Times  # when it ended, or now
    # start, end: of computing; nan: nothing was computed, or nothing is known of it
    start: Times
    end: Times

    @classmethod
    def of(
        cls,
        worker: NDArray[np.int32],
        granted: Times,
        ended: Times,
        began: Times,
        computed: Times,
        now: float,
    ) -> Spans:
        """``ended``: nan if it runs; ``began``, ``computed``: nan if that is unknown."""
        held = np.where(np.isnan(ended), now, ended)
        start = np.where(np.isnan(began), np.maximum(granted, held - computed), began)
        start = np.where(computed > 0, np.minimum(start, held), np.nan)
        return cls(worker, granted, held, start, np.minimum(start + computed, now))


@dataclass(frozen=True)
class Occupancy:
    """How many devices computed, and how many workers held tasks, in the mean of each part of the elapsed time."""

    most: int  # the largest number of devices that computed at once
    edges: Times
    devices: Times
    workers: Times


class _Number:
    """How many spans of each owner run, up to a maximum, summed up over the owners: it changes with time."""

    def __init__(self, limits: Times, edges: Times) -> None:
        self._limits, self._edges = limits, edges
        self._running = np.zeros(len(limits))
        self._waiting = np.zeros(0), np.zeros(0), np.zeros(0, np.int32)
        self._now, self.most = 0.0, 0.0
        # Of the changes before each edge: their sum, and that of changes × times.  From the first edge on: the sums
        # of seconds since 1970 would lose digits.
        self._changes, self._passed = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)

    def add(self, starts: Times, ends: Times, owners: NDArray[np.int32], until: float) -> None:
        """Spans; all later ones start at ``until`` or after it."""
        waiting = self._waiting
        times = np.concatenate([waiting[0], starts, ends])
        steps = np.concatenate([waiting[1], np.repeat([1.0, -1.0], len(starts))])
        owners = np.concatenate([waiting[2], owners, owners])
        waits = times >= until
        self._waiting = times[waits], steps[waits], owners[waits]
        self._pass(times[~waits], steps[~waits], owners[~waits])

    def _pass(self, times: Times, steps: Times, owners: NDArray[np.int32]) -> None:
        # At equal times ends come first: a device that goes from one task to the next is one device.
        order = np.lexsort((steps, times, owners))
        times, steps, owners = times[order], steps[order], owners[order]
        first = np.concatenate([[True], owners[1:] != owners[:-1]])[: len(owners)]
        place = np.maximum.accumulate(np.where(first, np.arange(len(owners)), 0)) if len(owners) else owners
        summed = np.cumsum(steps)
        before = self._running[owners] - (summed - steps)[place]
        after = before + summed
        self._running[owners] = after  # of equal owners the last counts
        changes = np.minimum(after, self._limits[owners]) - np.minimum(after - steps, self._limits[owners])
        order = np.lexsort((changes, times))
        self.most = max(self.most, self._now + float(np.cumsum(changes[order]).max(initial=0.0)))
        self._now += float(changes.sum())
        passed = times - self._edges[0]
        edge = np.searchsorted(self._edges - self._edges[0], passed, side="right")
        self._changes += np.bincount(edge, changes, len(self._edges) + 1)
        self._passed += np.bincount(edge, changes * passed, len(self._edges) + 1)

    def means(self) -> Times:
        """In each part between two edges."""
        since = self._edges - self._edges[0]
        integral = np.cumsum(self._changes)[:-1] * since - np.cumsum(self._passed)[:-1]
        return np.asarray(np.diff(integral) / np.diff(self._edges))


def computed(
    parts: Iterable[Spans], devices: Sequence[int | None], end: float, number: int = PARTS
) -> Occupancy | None:
    """What attempts say of devices and workers; None: there are none.

    Args:
        parts: of the attempts, by the start of their leases.
        devices: how many each worker has; None: unknown.
        end: when the last lease ended, or now.
        number: of the parts of the time, from the first lease on.
    """
    limits = np.array([each or np.inf for each in devices], dtype=np.float64)
    found: tuple[_Number, _Number] | None = None
    edges = np.zeros(0)
    for part in parts:
        if not len(part.granted):
            continue
        if found is None:
            begin = float(part.granted[0])
            edges = np.linspace(begin, max(end, begin + SHORTEST), number + 1)
            found = _Number(limits, edges), _Number(np.ones(len(limits)), edges)
        until = float(part.granted[-1])
        occupies = np.isfinite(part.start)
        found[0].add(part.start[occupies], part.end[occupies], part.worker[occupies], until)
        found[1].add(part.granted, part.held, part.worker, until)
    if found is None:
        return None
    none = np.zeros(0), np.zeros(0), np.zeros(0, np.int32)
    for sweep in found:
        sweep.add(*none, np.inf)
    return Occupancy(int(found[0].most), edges, found[0].means(), found[1].means())
