"""The whole history of a campaign, from which reports are made.

A campaign may have a million attempts: they are columns of numpy, not objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from db.states import Outcome
from langford.methods import PlanKey

OUTCOMES: tuple[Outcome | None, ...] = (None, *Outcome)
"""The meaning of the numbers in :attr:`Attempts.outcome`; the first is that of a running attempt."""


@dataclass(frozen=True)
class Attempts:
    """The attempts of a campaign by id, as columns; times are seconds since 1970, nan if unknown."""

    task: NDArray[np.int64]
    worker: NDArray[np.int64]  # position of the worker in History.workers
    granted: NDArray[np.float64]  # when the lease began
    began: NDArray[np.float64]  # when computing began
    ended: NDArray[np.float64]  # when it ended, nan while it runs
    outcome: NDArray[np.int64]  # position in OUTCOMES
    seconds: NDArray[np.float64]  # computing time of its result, accepted or not; nan without a result
    stepped: NDArray[np.bool_]  # whether its worker reported steps while it ran


@dataclass(frozen=True)
class Results:
    """The accepted results of a campaign by task, as columns."""

    task: NDArray[np.int64]
    seconds: NDArray[np.float64]
    accepted: NDArray[np.float64]  # when its worker delivered it, in seconds since 1970; nan: unknown
    source: NDArray[np.int64]  # position of its provenance in History.sources
    confirmed: NDArray[np.bool_]  # whether an independent voter found the same value
    worker: NDArray[np.int64]  # position of the worker in History.workers; -1: unknown


@dataclass(frozen=True)
class PastWorker:
    """A worker that had attempts at the campaign; times are seconds since 1970, None if unknown."""

    worker_id: str  # its UUID
    host: str
    device_kind: str
    device_model: str | None
    cores: int | None
    processes: int | None  # number of its processes that computed
    slurm: str | None  # number of its SLURM job, with its index in an array: "1234_7"
    kernels: str | None
    started: float | None  # when it enrolled
    last_seen: float | None  # when it made its last request
    ended: float | None  # when it ended
    ending: str | None  # how it ended, a value of db.states.Ending
    distrusted: float | None  # when others found one of its results wrong
    is_imported: bool = False  # whether it worked for another ledger, and is known from an export


@dataclass(frozen=True)
class PastEvent:
    """An event of the campaign."""

    at: float
    kind: str  # a value of db.states.EventKind
    task: int | None
    detail: str  # what happened, in words


@dataclass(frozen=True)
class History:
    """A campaign with all its results, attempts, workers and events."""

    name: str
    uuid: str | None  # UUID of the campaign; None: read from an export, which does not contain it
    key: PlanKey
    tasks: int
    created: float | None  # when, in seconds since 1970; None: unknown
    now: float
    source: str  # the ledger or file from which it was read, without passwords
    results: Results
    sources: tuple[str, ...]  # the provenances of the results, each once, as JSON
    attempts: Attempts | None  # the attempts; None: only results are known
    workers: tuple[PastWorker, ...] | None  # the workers with attempts; None: only results are known
    # Up to a thousand events except confirmations, oldest first; None: only results are known
    events: tuple[PastEvent, ...] | None
    event_counts: Mapping[str, int]
    conflicts: tuple[int, ...]  # tasks whose results disagree and are not settled

    @property
    def tells_losses(self) -> bool:
        """Whether attempts without a result, further results and events are known."""
        if self.events is None:
            return False
        if self.attempts is None:
            return not len(self.results.task)
        return self.workers is None or any(not worker.is_imported for worker in self.workers)
