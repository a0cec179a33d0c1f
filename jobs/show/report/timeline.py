"""When devices computed, how many at once, and how fast the work went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from db.look.history import OUTCOMES, History
from db.states import Outcome

Times = NDArray[np.float64]
DONE, SUPERSEDED = (OUTCOMES.index(outcome) for outcome in (Outcome.DONE, Outcome.SUPERSEDED))


@dataclass(frozen=True)
class Computing:
    """When each attempt of a campaign computed, as columns; times are seconds since 1970."""

    start: Times  # when computing began, or as early as it can have begun, float64
    end: Times  # when it ended, or now, float64
    held: Times  # when the lease ended, or now, float64
    granted: Times  # when the lease began, float64
    worker: NDArray[np.int32]  # position of the worker in the history
    devices: Times  # how many devices its worker has, float64; inf where that is unknown
    outcome: NDArray[np.int8]  # position in OUTCOMES
    begun: NDArray[np.bool_]  # whether computing began at all
    has_result: NDArray[np.bool_]
    is_first: NDArray[np.bool_]  # whether its result is the first of its task
    told: Times  # when computing began, nan where that is unknown, float64

    def first(self) -> float | None:
        """When the first computing, or lease, began that brought the first result of its task; None: none did."""
        began = np.where(np.isnan(self.told), self.granted, self.told)[self.is_first]
        return float(began.min()) if len(began) else None

    def most(self) -> int:
        times, changes = self.changes()
        return int(np.cumsum(changes[np.lexsort((changes, times))]).max(initial=0))

    def changes(self) -> tuple[Times, Times]:
        """(times, changes of the number of devices that compute), by worker.

        A device computes one task at a time.  Attempts of one worker seem to overlap where the time of a task is
        known only as that of its lease, and by the milliseconds by which clocks differ: its further attempts
        occupy no device.
        """
        begun = self.begun
        owners = np.tile(self.worker[begun], 2)
        times = np.concatenate([self.start[begun], self.end[begun]])
        steps = np.repeat([1.0, -1.0], int(begun.sum()))
        # At equal times ends come first: a device that goes from one task to the next is one device.
        order = np.lexsort((steps, times, owners))
        computed = np.minimum(np.cumsum(steps[order]), np.tile(self.devices[begun], 2)[order])
        return times[order], np.diff(computed, prepend=0.0)


def computing(history: History) -> Computing | None:
    """When each attempt computed; None when the history has no attempts."""
    attempts = history.attempts
    if attempts is None or not len(attempts.task):
        return None
    held = np.where(np.isnan(attempts.ended), history.now, attempts.ended)
    # An attempt whose lease expired may still have delivered a result.
    has_result = np.isfinite(attempts.seconds)
    # A result waits until it is delivered, and a task until a device is free: the computing time lies between.
    latest_start = np.maximum(attempts.granted, held - np.nan_to_num(attempts.seconds))
    start = np.minimum(np.where(np.isnan(attempts.started), latest_start, attempts.started), held)
    computed = np.minimum(start + np.nan_to_num(attempts.seconds), history.now)
    end = np.where(has_result, computed, held)
    devices = np.array([worker.machine.processes or np.inf for worker in history.workers or ()], dtype=np.float64)
    return Computing(
        start,
        end,
        held,
        attempts.granted,
        attempts.worker,
        devices[attempts.worker] if len(devices) else np.full(len(start), np.inf),
        attempts.outcome,
        attempts.begun,
        has_result,
        (attempts.outcome == DONE) | (attempts.accepted & (attempts.outcome != SUPERSEDED)),
        attempts.started,
    )


@dataclass(frozen=True)
class Occupancy:
    """How many devices computed, and how many workers held tasks, in each part of the elapsed time."""

    edges: Times
    devices: Times
    workers: Times


def occupancy(spans: Computing, parts: int) -> Occupancy | None:
    """In this number of equal parts; None when no time has passed."""
    begin, end = float(spans.start[spans.begun].min(initial=np.inf)), float(spans.held.max())
    if not end > begin:
        return None
    edges = np.linspace(begin, end, parts + 1)
    starts, ends, _ = without_overlap(spans.worker, spans.granted, spans.held)
    steps = np.repeat([1.0, -1.0], len(starts))
    workers = _mean_number(np.concatenate([starts, ends]), steps, edges)
    return Occupancy(edges, _mean_number(*spans.changes(), edges), workers)


def _mean_number(times: Times, changes: Times, edges: Times) -> Times:
    """The mean in each part of a number that is 0 before all times, and changes at these."""
    # From the first edge on: the sums of seconds since 1970 would lose digits.
    order = np.argsort(times)
    passed, since = times[order] - edges[0], edges - edges[0]
    numbers = np.concatenate([[0.0], np.cumsum(changes[order])])
    sums = np.concatenate([[0.0], np.cumsum(changes[order] * passed)])
    earlier = np.searchsorted(passed, since)
    integral = numbers[earlier] * since - sums[earlier]
    return np.asarray(np.diff(integral) / np.diff(edges))


def without_overlap(owner: NDArray[np.int32], start: Times, end: Times) -> tuple[Times, Times, NDArray[np.int32]]:
    """The spans of each owner, those joined that overlap: (starts, ends, owners), by owner."""
    # Each owner gets a stretch of time of its own, so that one pass serves all.
    origin = float(start.min())
    stretch = owner * (float(end.max()) - origin + 1.0)
    order = np.lexsort((start, owner))
    starts, ends = (start - origin + stretch)[order], (end - origin + stretch)[order]
    reached = np.maximum.accumulate(ends)
    first = np.concatenate([[True], starts[1:] > reached[:-1]])
    last = np.concatenate([first[1:], [True]])
    moved = (origin - stretch)[order]
    return np.asarray(starts[first] + moved[first]), np.asarray(reached[last] + moved[last]), owner[order][first]


@dataclass(frozen=True)
class ArrivalRates:
    edges: Times
    tasks: Times
    work: Times  # their estimated work per second, in the method's unit, float64[parts]
    share: Times  # of all work that was done by the end of each part, float64[parts]


def throughput(history: History, work: Times, begin: float, parts: int) -> ArrivalRates | None:
    """In equal parts from ``begin`` to the last result; None when no time has passed."""
    known = np.isfinite(history.results.accepted)
    accepted = history.results.accepted[known]
    end = float(accepted.max(initial=-np.inf))
    if not end > begin:
        return None
    edges = np.linspace(begin, end, parts + 1)
    weights = work[history.results.task[known]]
    tasks, _ = np.histogram(accepted, edges)
    done, _ = np.histogram(accepted, edges, weights=weights)
    width = np.diff(edges)
    return ArrivalRates(edges, tasks / width, done / width, np.cumsum(done) / max(float(work.sum()), 1e-300))
