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
    """The attempts of a campaign by id, as columns; times are seconds since 1970, nan if unknown.

    Attributes:
        worker: position of the worker in :attr:`History.workers`, int64.
        granted: when the lease began, float64.
        began: when computing began, float64.
        ended: when it ended, nan while it runs, float64.
        outcome: position in OUTCOMES, int64.
        seconds: computing time of its result, accepted or not; nan without a result, float64.
        stepped: whether its worker reported steps while it ran, bool.
    """

    task: NDArray[np.int64]
    worker: NDArray[np.int64]
    granted: NDArray[np.float64]
    began: NDArray[np.float64]
    ended: NDArray[np.float64]
    outcome: NDArray[np.int64]
    seconds: NDArray[np.float64]
    stepped: NDArray[np.bool_]


@dataclass(frozen=True)
class Results:
    """The accepted results of a campaign by task, as columns.

    Attributes:
        accepted: when its worker delivered it, in seconds since 1970; nan: unknown, float64.
        source: position of its provenance in :attr:`History.sources`, int64.
        confirmed: whether an independent voter found the same value, bool.
        worker: position of the worker in :attr:`History.workers`; -1: unknown, int64.
    """

    task: NDArray[np.int64]
    seconds: NDArray[np.float64]
    accepted: NDArray[np.float64]
    source: NDArray[np.int64]
    confirmed: NDArray[np.bool_]
    worker: NDArray[np.int64]


@dataclass(frozen=True)
class PastWorker:
    """A worker that had attempts at the campaign; times are seconds since 1970, None if unknown.

    Attributes:
        worker_id: its UUID.
        processes: number of its processes that computed.
        slurm: number of its SLURM job, with its index in an array: "1234_7".
        started: when it enrolled.
        last_seen: when it made its last request.
        ended: when it ended.
        ending: how it ended, a value of db.states.Ending.
        distrusted: when others found one of its results wrong.
        is_imported: whether it worked for another ledger, and is known from an export.
    """

    worker_id: str
    host: str
    device_kind: str
    device_model: str | None
    cores: int | None
    processes: int | None
    slurm: str | None
    kernels: str | None
    started: float | None
    last_seen: float | None
    ended: float | None
    ending: str | None
    distrusted: float | None
    is_imported: bool = False


@dataclass(frozen=True)
class PastEvent:
    """An event of the campaign.

    Attributes:
        kind: a value of db.states.EventKind.
        detail: what happened, in words.
    """

    at: float
    kind: str
    task: int | None
    detail: str


@dataclass(frozen=True)
class History:
    """A campaign with all its results, attempts, workers and events.

    Attributes:
        uuid: UUID of the campaign; None: read from an export, which does not contain it.
        created: when, in seconds since 1970; None: unknown.
        source: the ledger or file from which it was read, without passwords.
        sources: the provenances of the results, each once, as JSON.
        attempts: the attempts; None: only results are known.
        workers: the workers with attempts; None: only results are known.
        events: up to a thousand events except confirmations, oldest first; None: only results are known.
        conflicts: tasks whose results disagree and are not settled.
    """

    name: str
    uuid: str | None
    key: PlanKey
    tasks: int
    created: float | None
    now: float
    source: str
    results: Results
    sources: tuple[str, ...]
    attempts: Attempts | None
    workers: tuple[PastWorker, ...] | None
    events: tuple[PastEvent, ...] | None
    event_counts: Mapping[str, int]
    conflicts: tuple[int, ...]

    @property
    def tells_losses(self) -> bool:
        """Whether attempts without a result, further results and events are known."""
        if self.events is None:
            return False
        if self.attempts is None:
            return not len(self.results.task)
        return self.workers is None or any(not worker.is_imported for worker in self.workers)
