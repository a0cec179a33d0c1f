"""The whole history of a campaign, read at once: what a report is made of.

A campaign may have a million attempts: they are columns of numpy, not objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, func, select

from db import waiting
from db.dialects import Now
from db.models import Attempt, Event, Result, Voter, Witness, Worker
from db.records import CampaignRecord
from db.states import EventKind, Outcome, VoterKind
from langford.methods import PlanKey

OUTCOMES: tuple[Outcome | None, ...] = (None, *Outcome)
"""What the numbers in :attr:`Attempts.outcome` mean; the first is that of an attempt that runs."""

MOST_EVENTS = 1_000


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
        accepted: when it was delivered, in seconds since 1970; nan where nobody knows, float64.
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
        events: oldest first, but for confirmations, and at most MOST_EVENTS; None where only results are known.
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


def history(connection: Connection, campaign: CampaignRecord, where: str) -> History:
    """The history of a campaign; imported results are no attempts of it.

    Args:
        where: the ledger, fit to be shown.
    """
    campaign_id = campaign.campaign_id
    workers = _workers(connection, campaign_id)
    positions = {worker.worker_id: place for place, worker in enumerate(workers)}
    results = connection.execute(
        select(
            Result.task_index,
            Result.attempt_id,
            Result.seconds,
            Result.accepted,
            Result.provenance,
            Result.confirmed_by.is_not(None),
        )
        .where(Result.campaign_id == campaign_id)
        .order_by(Result.task_index)
    ).all()
    further = connection.execute(
        select(Witness.attempt_id, Witness.seconds).where(Witness.campaign_id == campaign_id)
    ).all()
    attempts = connection.execute(
        select(
            Attempt.id,
            Attempt.task_index,
            Attempt.worker_id,
            Attempt.granted,
            Attempt.began,
            Attempt.ended,
            Attempt.outcome,
            Attempt.steps.is_not(None),
        )
        .where(Attempt.campaign_id == campaign_id)
        .order_by(Attempt.id)
    ).all()
    seconds = {row[1]: row[2] for row in results} | {row[0]: row[1] for row in further}
    own = [row for row in attempts if row.worker_id in positions]
    workers_of = {row.id: positions[row.worker_id] for row in own}
    sources = {source: place for place, source in enumerate(dict.fromkeys(row.provenance for row in results))}
    counts = connection.execute(
        select(Event.kind, func.count()).where(Event.campaign_id == campaign_id).group_by(Event.kind)
    ).all()
    return History(
        name=campaign.name,
        uuid=campaign.uuid,
        key=campaign.key,
        tasks=campaign.tasks,
        created=campaign.created,
        now=float(connection.scalar(select(Now())) or 0.0),
        source=where,
        results=_results(results, sources, workers_of),
        sources=tuple(sources),
        attempts=_attempts(own, positions, seconds) if own else None,
        workers=tuple(workers) if own else None,
        events=tuple(_events(connection, campaign_id)),
        event_counts={row[0]: row[1] for row in counts},
        conflicts=tuple(sorted(waiting.in_conflict(connection, campaign_id))),
    )


def _results(
    rows: Sequence[Row[*tuple[Any, ...]]], sources: Mapping[str, int], workers: Mapping[int, int]
) -> Results:
    return Results(
        task=np.array([row[0] for row in rows], dtype=np.int64),
        seconds=np.array([row[2] for row in rows], dtype=np.float64),
        # An import says when the file was read, not when its results were computed.
        accepted=np.array([row[3] if row[1] in workers else np.nan for row in rows], dtype=np.float64),
        source=np.array([sources[row[4]] for row in rows], dtype=np.int64),
        confirmed=np.array([row[5] for row in rows], dtype=np.bool_),
        worker=np.array([workers.get(row[1], -1) for row in rows], dtype=np.int64),
    )


def _attempts(
    rows: Sequence[Row[*tuple[Any, ...]]], workers: Mapping[str, int], seconds: Mapping[int, float]
) -> Attempts:
    outcomes = {outcome: place for place, outcome in enumerate(OUTCOMES)}
    return Attempts(
        task=np.array([row[1] for row in rows], dtype=np.int64),
        worker=np.array([workers[row[2]] for row in rows], dtype=np.int64),
        # None becomes nan.
        granted=np.array([row[3] for row in rows], dtype=np.float64),
        began=np.array([row[4] for row in rows], dtype=np.float64),
        ended=np.array([row[5] for row in rows], dtype=np.float64),
        outcome=np.array([outcomes[row[6]] for row in rows], dtype=np.int64),
        seconds=np.array([seconds.get(row[0], np.nan) for row in rows], dtype=np.float64),
        stepped=np.array([row[7] for row in rows], dtype=np.bool_),
    )


def _workers(connection: Connection, campaign_id: int) -> list[PastWorker]:
    """The workers with attempts at a campaign, but for those that imported files."""
    taken = select(Attempt.worker_id).distinct().where(Attempt.campaign_id == campaign_id)
    rows = connection.execute(
        select(Worker.__table__, Voter.kind.label("voter_kind"), Voter.distrusted)
        .outerjoin(Voter, Voter.id == Worker.voter_id)
        .where(Worker.id.in_(taken))
        .order_by(Worker.started, Worker.id)
    ).all()
    return [
        PastWorker(
            worker_id=row.id,
            host=row.host,
            device_kind=row.device_kind,
            device_model=row.device_model,
            cores=row.cores,
            processes=row.processes,
            slurm=row.slurm_job if row.slurm_index is None else f"{row.slurm_job}_{row.slurm_index}",
            kernels=row.kernels,
            started=row.started,
            last_seen=row.last_seen,
            ended=row.ended,
            ending=row.ending,
            distrusted=row.distrusted,
        )
        for row in rows
        if row.voter_kind != VoterKind.IMPORT
    ]


def _events(connection: Connection, campaign_id: int) -> Iterator[PastEvent]:
    rows = connection.execute(
        select(Event.at, Event.kind, Event.task_index, Event.detail)
        .where(Event.campaign_id == campaign_id, Event.kind != EventKind.CONFIRMED)
        .order_by(Event.id)
        .limit(MOST_EVENTS)
    )
    return (PastEvent(*row) for row in rows)
