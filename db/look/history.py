"""The whole history of a campaign: what a report is made of.

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
"""What the numbers in :attr:`Attempts.outcome` mean; the first is that of an attempt that runs."""


@dataclass(frozen=True)
class Attempts:
    """The attempts of a campaign by number, as columns; times are seconds since 1970, nan where nobody knows.

    Attributes:
        task: index of the task, int64.
        worker: position of the worker in :attr:`History.workers`, int64.
        granted: when the lease began, float64.
        began: when computing began, float64.
        ended: when it ended, nan while it runs, float64.
        outcome: position in OUTCOMES, int64.
        seconds: computing time of its result, accepted or not; nan without a result, float64.
        stepped: whether its worker said while it ran that it had begun, bool.
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
        task: index of the task, int64.
        seconds: computing time, float64.
        accepted: when it came from its worker, in seconds since 1970; nan where nobody knows, float64.
        source: position of its provenance in :attr:`History.sources`, int64.
        confirmed: whether an independent voter found the same value, bool.
        worker: position of the worker in :attr:`History.workers`, -1 where nobody knows it, int64.
    """

    task: NDArray[np.int64]
    seconds: NDArray[np.float64]
    accepted: NDArray[np.float64]
    source: NDArray[np.int64]
    confirmed: NDArray[np.bool_]
    worker: NDArray[np.int64]


@dataclass(frozen=True)
class PastWorker:
    """A worker that had attempts at the campaign; times are seconds since 1970, None where nobody knows.

    Attributes:
        worker_id: its UUID.
        host: name of its machine.
        device_kind: "cpu" or "cuda".
        device_model: what the maker calls the device.
        cores: that it could use.
        processes: that computed.
        slurm: number of its SLURM job, with the index in its array: "1234_7".
        kernels: hash of the code that computes there.
        started: when it enrolled.
        last_seen: its last request.
        ended: when it ended.
        ending: how, a value of db.states.Ending.
        distrusted: when others found one of its results wrong.
        is_imported: whether it worked for another ledger, whose export tells of it.
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
        at: when, in seconds since 1970.
        kind: a value of db.states.EventKind.
        task: its index; None for an event of the whole campaign.
        detail: what happened, in words.
    """

    at: float
    kind: str
    task: int | None
    detail: str


@dataclass(frozen=True)
class History:
    """A campaign with all that happened to it.

    Attributes:
        name: of the campaign.
        uuid: of the campaign; None in an export, which does not have it.
        key: its plan: problem, method, depth and seed.
        tasks: number of tasks.
        created: when, in seconds since 1970; None: not known.
        now: when the history was read, by the clock of the database.
        source: where it was read, fit to be shown.
        results: the accepted results.
        sources: the provenances of the results, each once, JSON.
        attempts: None where only results are known.
        workers: those with attempts; None where only results are known.
        events: oldest first, but for confirmations, not more than a thousand; None where only results are known.
        event_counts: how many events there are of each kind.
        conflicts: tasks whose results disagree, not settled yet.
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
