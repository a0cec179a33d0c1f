"""When devices computed, how many at once, and how fast the work went."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from db.look.history import Attempts, History

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Computing:
    """When each attempt of a campaign computed, as columns; times are seconds since 1970.

    Attributes:
        start: when computing began, or as early as it can have begun, float64.
        end: when it ended, or now, float64.
        held: when the lease ended, or now, float64.
        granted: when the lease began, float64.
        worker: position of the worker in the history, int64.
        outcome: position in OUTCOMES, int64.
        begun: whether computing began at all, bool.
        has_result: whether a result came of it, accepted or not, bool.
    """

    start: Times
    end: Times
    held: Times
    granted: Times
    worker: NDArray[np.int64]
    outcome: NDArray[np.int64]
    begun: NDArray[np.bool_]
    has_result: NDArray[np.bool_]

    def most(self) -> int:
        """The largest number of attempts that computed at once."""
        times = np.concatenate([self.start[self.begun], self.end[self.begun]])
        steps = np.concatenate([np.ones(self.begun.sum()), -np.ones(self.begun.sum())])
        # At equal times ends come first: a device that goes from one task to the next is one device.
        order = np.lexsort((steps, times))
        return int(np.cumsum(steps[order]).max(initial=0))


def computing(history: History) -> Computing | None:
    """When each attempt computed; None when the history has no attempts."""
    attempts = history.attempts
    if attempts is None or not len(attempts.task):
        return None
    held = np.where(np.isnan(attempts.ended), history.now, attempts.ended)
    # One whose lease expired may have brought a result all the same, later.
    has_result = np.isfinite(attempts.seconds)
    # A result waits until it is delivered, and a task until a device is free: the computing time lies between.
    latest_start = np.maximum(attempts.granted, held - np.nan_to_num(attempts.seconds))
    unknown = np.where(has_result, latest_start, attempts.granted)
    start = np.minimum(np.where(np.isnan(attempts.began), unknown, attempts.began), held)
    computed = np.minimum(start + np.nan_to_num(attempts.seconds), history.now)
    end = np.where(has_result, computed, held)
    begun = has_result | np.isfinite(attempts.began) | attempts.stepped | ~_tells_beginnings(attempts)
    return Computing(start, end, held, attempts.granted, attempts.worker, attempts.outcome, begun, has_result)


def _tells_beginnings(attempts: Attempts) -> NDArray[np.bool_]:
    """For each attempt, whether its worker says when computing begins: earlier versions do not."""
    telling = np.unique(attempts.worker[np.isfinite(attempts.began) | attempts.stepped])
    return np.isin(attempts.worker, telling)


@dataclass(frozen=True)
class Occupancy:
    """How many devices computed, and how many workers held tasks, in each part of the elapsed time.

    Attributes:
        edges: the parts lie between them, seconds since 1970, float64[parts + 1].
        devices: in the mean over each part, float64[parts].
        workers: in the mean over each part, float64[parts].
    """

    edges: Times
    devices: Times
    workers: Times


def occupancy(spans: Computing, parts: int) -> Occupancy | None:
    """The occupancy in this number of equal parts; None when no time has passed."""
    begin, end = float(spans.start[spans.begun].min(initial=np.inf)), float(spans.held.max())
    if not end > begin:
        return None
    edges = np.linspace(begin, end, parts + 1)
    devices = _mean_number(spans.start[spans.begun], spans.end[spans.begun], edges)
    starts, ends, _ = without_overlap(spans.worker, spans.granted, spans.held)
    return Occupancy(edges, devices, _mean_number(starts, ends, edges))


def _mean_number(start: Times, end: Times, edges: Times) -> Times:
    """How many of the spans of time lie at once in each part, in the mean."""
    return np.asarray(np.diff(_time_since(start, edges) - _time_since(end, edges)) / np.diff(edges))


def _time_since(times: Times, edges: Times) -> Times:
    """For each edge the sum of the time that has passed since each earlier one of the times."""
    # From the first edge on: the sums of seconds since 1970 would lose digits.
    ordered = np.sort(times) - edges[0]
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    earlier = np.searchsorted(ordered, edges - edges[0])
    return np.asarray(earlier * (edges - edges[0]) - sums[earlier])


def without_overlap(owner: NDArray[np.int64], start: Times, end: Times) -> tuple[Times, Times, NDArray[np.int64]]:
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
class Throughput:
    """How fast the work went.

    Attributes:
        edges: the parts of the elapsed time lie between them, seconds since 1970, float64[parts + 1].
        tasks: results that came in each part, per second, float64[parts].
        work: their estimated work per second, in the method's unit, float64[parts].
        share: of all work that was done by the end of each part, float64[parts].
    """

    edges: Times
    tasks: Times
    work: Times
    share: Times


def throughput(history: History, work: Times, begin: float, parts: int) -> Throughput | None:
    """The throughput in this number of equal parts from ``begin`` to the last result; None when no time has passed.

    Args:
        work: estimated work of every task of the campaign, float64[tasks].
        begin: seconds since 1970.
    """
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
    return Throughput(edges, tasks / width, done / width, np.cumsum(done) / max(float(work.sum()), 1e-300))
