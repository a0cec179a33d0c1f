"""A campaign in figures, from its rows: each is read once, and none is kept.

The rows are those of a ledger (:mod:`db.look.figures.rows`) or of exported files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from db.look.figures.arrivals import Arrivals
from db.look.figures.attempts import Elapsed, LostAttempts
from db.look.figures.durations import Times, TimesByTask
from db.look.figures.occupancy import Occupancy, Spans, computed
from langford.words import speed


@dataclass(frozen=True)
class AcceptedResults:
    """Accepted results by task, as columns."""

    task: NDArray[np.int32]
    seconds: Times
    arrived: Times  # when its worker delivered it, in seconds since 1970; nan: unknown
    source: NDArray[np.int32]  # position of its provenance in Rows.sources
    confirmed: NDArray[np.bool_]  # whether an independent voter found the same value
    worker: NDArray[np.int32]  # position of the worker; -1: unknown


class Rows(Protocol):
    @property
    def elapsed(self) -> Elapsed | None: ...

    @property
    def last_held(self) -> float | None:
        """When the last lease ended, or now; None: there are no attempts."""

    @property
    def sources(self) -> Sequence[str]:
        """The provenances of the results that were read, each once, as JSON."""

    @property
    def devices(self) -> Sequence[int | None]:
        """How many devices each worker has; None: unknown."""

    @property
    def models(self) -> Sequence[str | None]:
        """What the maker calls the device of each worker; None: unknown."""

    @property
    def lost(self) -> tuple[LostAttempts, ...] | None:
        """None: not known."""

    def results(self) -> Iterator[AcceptedResults]:
        """By task."""

    @property
    def further(self) -> tuple[int, float]:
        """(number of further results, their computing time)."""

    def spans(self) -> Iterator[Spans]:
        """By the start of their leases."""


@dataclass(frozen=True)
class SourceFigures:
    """The results with one provenance."""

    text: str  # JSON
    model: str | None  # the device of the worker of the first of them, as its maker calls it; None: unknown
    number: int
    seconds: float
    work: float


@dataclass(frozen=True)
class CampaignFigures:
    """Times are seconds; work is in the unit of the method."""

    tasks: int
    done: int
    confirmed: int  # for how many of them an independent voter found the same value
    times: TimesByTask | None  # None: nothing is done
    effective: float  # computing time of the accepted results
    work: float  # of their tasks
    timed: int  # how many of them are known to have come at a time; files may not say so of theirs
    timed_seconds: float
    timed_work: float
    span: Elapsed | None  # None: no times are known
    lost: tuple[LostAttempts, ...] | None  # attempts without a result, by how they ended; None: not known
    repeated: int | None  # further results, which confirm or contradict the accepted ones; None: not known
    repeated_seconds: float
    devices: Occupancy | None  # None: not known
    throughput: Arrivals | None
    sources: tuple[SourceFigures, ...]

    @property
    def began(self) -> float | None:
        return None if self.span is None else self.span.began

    @property
    def ended(self) -> float | None:
        return None if self.span is None else self.span.arrived

    @property
    def elapsed(self) -> float | None:
        return None if self.span is None else self.span.seconds

    @property
    def most_devices(self) -> int:
        """The largest number of devices that computed at once; 0: not known."""
        return 0 if self.devices is None else self.devices.most

    @property
    def occupancy(self) -> float | None:
        """How many devices computed accepted results at once, in the mean; None: not known."""
        return self.timed_seconds / self.elapsed if self.elapsed else None

    @property
    def hourly(self) -> float | None:
        return self.timed / self.elapsed * 3600 if self.elapsed else None

    @property
    def of_computation(self) -> float | None:
        """Work of the results by their computing time; None without results."""
        return speed(self.work, self.effective)

    @property
    def since_the_start(self) -> float | None:
        """The speed of all devices together, by elapsed time; None: times are not known."""
        return None if self.elapsed is None else speed(self.timed_work, self.elapsed)

    @property
    def aborted(self) -> int | None:
        return None if self.lost is None else sum(kind.attempts for kind in self.lost)

    @property
    def aborted_seconds(self) -> float:
        return sum(kind.seconds for kind in self.lost or ())


class _Totals:
    """What is summed up of the results."""

    def __init__(self, work: Times) -> None:
        self._work = work
        self.confirmed, self.timed, self.timed_seconds, self.timed_work = 0, 0, 0.0, 0.0
        self.first = np.zeros(0, np.int32)
        # The number of results of each source, their computing time and their work.
        self.of_source = np.zeros((3, 0))

    def add(self, part: AcceptedResults, sources: int) -> None:
        work = self._work[part.task]
        timed = np.isfinite(part.arrived)
        self.confirmed += int(part.confirmed.sum())
        self.timed += int(timed.sum())
        self.timed_seconds += float(part.seconds[timed].sum())
        self.timed_work += float(work[timed].sum())
        known = self.of_source.shape[1]
        sums = [np.bincount(part.source, weights, sources) for weights in (None, part.seconds, work)]
        self.of_source = np.pad(self.of_source, ((0, 0), (0, sources - known))) + np.array(sums)
        if sources > known:
            positions, places = np.unique(part.source, return_index=True)
            self.first = np.concatenate([self.first, part.worker[places[positions >= known]]])


def measured(rows: Rows, work: Times) -> CampaignFigures:
    """All figures; ``work``: of every task, float64[tasks]."""
    elapsed, whole = rows.elapsed, float(work.sum())
    totals = _Totals(work)
    arrivals = None if elapsed is None else Arrivals(elapsed, whole)
    times = TimesByTask(len(work))
    for part in rows.results():
        times.add(part.task, part.seconds)
        totals.add(part, len(rows.sources))
        if arrivals is not None:
            timed = np.isfinite(part.arrived)
            arrivals.add(part.arrived[timed], work[part.task[timed]])
    repeated, repeated_seconds = rows.further
    last = rows.last_held
    found = None if last is None else computed(rows.spans(), rows.devices, last)
    _, effective, done_work = totals.of_source.sum(axis=1).tolist()
    lost = None if found is None else rows.lost
    return CampaignFigures(
        tasks=len(work),
        done=times.number,
        confirmed=totals.confirmed,
        times=times if times.number else None,
        effective=effective,
        work=done_work,
        timed=totals.timed,
        timed_seconds=totals.timed_seconds,
        timed_work=totals.timed_work,
        span=elapsed,
        lost=lost,
        repeated=None if lost is None else repeated,
        repeated_seconds=0.0 if lost is None else repeated_seconds,
        devices=found,
        throughput=arrivals if arrivals is not None and arrivals.are_known else None,
        sources=tuple(
            SourceFigures(text, rows.models[worker] if worker >= 0 else None, int(number), seconds, done)
            for text, worker, (number, seconds, done) in zip(
                rows.sources, totals.first.tolist(), totals.of_source.T.tolist(), strict=True
            )
        ),
    )
