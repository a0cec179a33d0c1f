"""The whole history of a campaign, from which reports are made.

A campaign may have a million attempts: they are columns of numpy, not objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, func, select

from db.look import events
from db.machines import Machine
from db.records import CampaignRecord, EventRecord
from db.schema.dialects import Now
from db.schema.models import Attempt, Event, Result, Voter, Witness, Worker
from db.states import EventKind, Outcome, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from db.work.computations import IMPORTED
from langford.methods import PlanKey

OUTCOMES: tuple[Outcome | None, ...] = (None, *Outcome)
"""The meaning of the numbers in :attr:`Attempts.outcome`; the first is that of a running attempt."""
MAX_EVENTS = 1_000


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
    machine: Machine
    kernels: str | None = None
    started: float | None = None  # when it enrolled
    last_seen: float | None = None  # when it made its last request
    ended: float | None = None  # when it ended
    ending: str | None = None  # how it ended, a value of db.states.Ending
    distrusted: float | None = None  # when others found one of its results wrong
    is_imported: bool = False  # whether it worked for another ledger, and is known from an export


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
    events: tuple[EventRecord, ...] | None
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


_EVENTS = (
    select(*events.COLUMNS)
    .where(Event.campaign_id == CAMPAIGN, Event.kind != EventKind.CONFIRMED)
    .order_by(Event.id)
    .limit(MAX_EVENTS)
)


_RESULTS = (
    select(Result.task_index, Result.attempt_id, Result.seconds, Result.accepted, Result.provenance)
    .add_columns(Result.confirmed_by.is_not(None))
    .where(Result.campaign_id == CAMPAIGN)
    .order_by(Result.task_index)
)
_FURTHER = select(Witness.attempt_id, Witness.seconds).where(Witness.campaign_id == CAMPAIGN)
_ATTEMPTS = (
    select(Attempt.id, Attempt.task_index, Attempt.worker_id, Attempt.granted, Attempt.began, Attempt.ended)
    .add_columns(Attempt.outcome, Attempt.steps.is_not(None))
    .where(Attempt.campaign_id == CAMPAIGN)
    .order_by(Attempt.id)
)


def history(transaction: Transaction, campaign: CampaignRecord, where: str) -> History:
    """The history of a campaign; imported results without times have no attempts in it."""
    workers = _workers(transaction)
    positions = {worker.worker_id: place for place, worker in enumerate(workers)}
    results = transaction.execute(_RESULTS).all()
    further = transaction.execute(_FURTHER).all()
    attempts = transaction.execute(_ATTEMPTS).all()
    seconds = {row[1]: row[2] for row in results} | {row[0]: row[1] for row in further}
    own = [row for row in attempts if row.worker_id in positions]
    workers_of = {row.id: positions[row.worker_id] for row in own}
    elsewhere = {worker.worker_id for worker in workers if worker.is_imported}
    ended_elsewhere = {row.id: row.ended for row in own if row.worker_id in elsewhere}
    sources = {source: place for place, source in enumerate(dict.fromkeys(row.provenance for row in results))}
    counts = transaction.execute(
        select(Event.kind, func.count()).where(Event.campaign_id == CAMPAIGN).group_by(Event.kind)
    ).all()
    return History(
        name=campaign.name,
        uuid=campaign.uuid,
        key=campaign.key,
        tasks=campaign.tasks,
        created=campaign.created,
        now=float(transaction.connection.scalar(select(Now())) or 0.0),
        source=where,
        results=_results(results, sources, workers_of, ended_elsewhere),
        sources=tuple(sources),
        attempts=_attempts(own, positions, seconds) if own else None,
        workers=tuple(workers) if own else None,
        events=tuple(EventRecord(*row) for row in transaction.execute(_EVENTS)),
        event_counts={row[0]: row[1] for row in counts},
        conflicts=tuple(waiting.in_conflict(transaction)),
    )


def _results(
    rows: Sequence[Row[*tuple[Any, ...]]],
    sources: Mapping[str, int],
    workers: Mapping[int, int],
    elsewhere: Mapping[int, float],
) -> Results:
    return Results(
        task=np.array([row[0] for row in rows], dtype=np.int64),
        seconds=np.array([row[2] for row in rows], dtype=np.float64),
        # An imported result was accepted when its file was read, not when it was computed.
        accepted=np.array(
            [elsewhere.get(row[1], row[3]) if row[1] in workers else np.nan for row in rows], dtype=np.float64
        ),
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


def _workers(transaction: Transaction) -> list[PastWorker]:
    """Except those that stand for a whole file."""
    taken = select(Attempt.worker_id).distinct().where(Attempt.campaign_id == CAMPAIGN)
    rows = transaction.execute(
        select(Worker.__table__, Voter.kind.label("voter_kind"), Voter.distrusted)
        .outerjoin(Voter, Voter.id == Worker.voter_id)
        .where(Worker.id.in_(taken))
        .order_by(Worker.started, Worker.id)
    ).all()
    return [
        PastWorker(
            row.id,
            Machine.of(row),
            row.kernels,
            row.started,
            row.last_seen,
            row.ended,
            row.ending,
            row.distrusted,
            is_imported=row.process == IMPORTED,
        )
        for row in rows
        if row.voter_kind != VoterKind.IMPORT or row.process == IMPORTED
    ]
