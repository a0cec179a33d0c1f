"""The whole history of a campaign, from which reports are made.

A campaign may have a million attempts: they are columns of numpy, not objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import func, select

from db.look import events
from db.look.figures import attempts as figures
from db.look.figures.attempts import CutShort
from db.machines import Machine
from db.records import CampaignRecord, EventRecord
from db.schema import measures
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
BATCH_ROWS = 10_000


@dataclass(frozen=True)
class Attempts:
    """The attempts of a campaign by id, as columns; times are seconds since 1970, nan if unknown."""

    task: NDArray[np.int32]
    worker: NDArray[np.int32]  # position of the worker in History.workers
    granted: NDArray[np.float64]  # when the lease began
    ended: NDArray[np.float64]  # when it ended, nan while it runs
    outcome: NDArray[np.int8]  # position in OUTCOMES
    seconds: NDArray[np.float64]  # computing time of its result, accepted or not; nan without a result
    accepted: NDArray[np.bool_]  # whether its result is the accepted one of its task
    begun: NDArray[np.bool_]  # see db.schema.measures
    started: NDArray[np.float64]  # when computing began, see there; nan: it brought a result, and does not say when


@dataclass(frozen=True)
class AcceptedResults:
    """The accepted results of a campaign by task, as columns."""

    task: NDArray[np.int32]
    seconds: NDArray[np.float64]
    accepted: NDArray[np.float64]  # when its worker delivered it, in seconds since 1970; nan: unknown
    source: NDArray[np.int32]  # position of its provenance in History.sources
    confirmed: NDArray[np.bool_]  # whether an independent voter found the same value
    worker: NDArray[np.int32]  # position of the worker in History.workers; -1: unknown


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
    results: AcceptedResults
    sources: tuple[str, ...]  # the provenances of the results, each once, as JSON
    attempts: Attempts | None  # the attempts; None: only results are known
    workers: tuple[PastWorker, ...] | None  # the workers with attempts; None: only results are known
    # Up to a thousand events except confirmations, oldest first; None: only results are known
    events: tuple[EventRecord, ...] | None
    event_counts: Mapping[str, int]
    conflicts: tuple[int, ...]  # tasks whose results disagree and are not settled
    cut_short: tuple[CutShort, ...]  # what was lost; empty also where that is not known, see tells_losses

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
    select(Result.task_index, Result.attempt_id, Result.seconds, Result.accepted)
    .add_columns(Result.confirmed_by.is_not(None), Result.provenance)
    .where(Result.campaign_id == CAMPAIGN)
    .order_by(Result.task_index)
)
_OF_RESULTS = select(Result.attempt_id, Result.seconds).where(Result.campaign_id == CAMPAIGN)
_FURTHER = select(Witness.attempt_id, Witness.seconds).where(Witness.campaign_id == CAMPAIGN)
_ATTEMPTS = (
    select(Attempt.id, Attempt.task_index, Attempt.granted, Attempt.began, Attempt.ended)
    .add_columns(Attempt.outcome, Attempt.worker_id)
    .where(Attempt.campaign_id == CAMPAIGN)
    .order_by(Attempt.id)
)
_BEGINNINGS = tuple(
    select(cut.c.id, cut.c.begun, cut.c.started)
    for cut in (
        measures.cut_short(Attempt.campaign_id == CAMPAIGN),
        measures.cut_short(Attempt.campaign_id == CAMPAIGN, running=True),
    )
)


def history(transaction: Transaction, campaign: CampaignRecord, where: str) -> History:
    """The history of a campaign; imported results without times have no attempts in it."""
    workers = _workers(transaction)
    ids, attempts = _attempts(transaction, workers)
    results, sources = _results(transaction, ids, attempts, workers)
    counts = transaction.execute(
        select(Event.kind, func.count()).where(Event.campaign_id == CAMPAIGN).group_by(Event.kind)
    ).all()
    ended = figures.ended(transaction, [worker.worker_id for worker in workers], few=True)
    return History(
        name=campaign.name,
        uuid=campaign.uuid,
        key=campaign.key,
        tasks=campaign.tasks,
        created=campaign.created,
        now=float(transaction.connection.scalar(select(Now())) or 0.0),
        source=where,
        results=results,
        sources=sources,
        attempts=attempts if len(ids) else None,
        workers=tuple(workers) if len(ids) else None,
        events=tuple(EventRecord(*row) for row in transaction.execute(_EVENTS)),
        event_counts={row[0]: row[1] for row in counts},
        conflicts=tuple(waiting.in_conflict(transaction)),
        cut_short=tuple(figures.cut_short(transaction, ended, few=True)),
    )


def _attempts(transaction: Transaction, workers: Sequence[PastWorker]) -> tuple[NDArray[np.int64], Attempts]:
    """The attempts of these workers, and their ids, ascending."""
    places: dict[str, int] = defaultdict(lambda: -1, {each.worker_id: place for place, each in enumerate(workers)})
    outcomes = {outcome: place for place, outcome in enumerate(OUTCOMES)}
    # None becomes nan.
    kinds = np.int64, np.int32, np.float64, np.float64, np.float64, outcomes, places
    ids, task, granted, began, ended, outcome, worker = _columns(transaction, _ATTEMPTS, kinds)
    own = worker >= 0
    if not own.all():
        ids, task, granted, began = ids[own], task[own], granted[own], began[own]
        ended, outcome, worker = ended[own], outcome[own], worker[own]
    seconds, accepted = np.full(len(ids), np.nan), np.zeros(len(ids), dtype=np.bool_)
    for query in (_FURTHER, _OF_RESULTS):
        attempt, took = _columns(transaction, query, (np.int64, np.float64))
        found, known = _places(ids, attempt)
        seconds[found] = took[known]
        accepted[found] = query is _OF_RESULTS
    begun, started = np.isfinite(seconds), began.copy()
    for query in _BEGINNINGS:
        attempt, is_begun, since = _columns(transaction, query, (np.int64, np.bool_, np.float64))
        found, known = _places(ids, attempt)
        begun[found] |= is_begun[known]
        started[found] = since[known]
    return ids, Attempts(task, worker, granted, ended, outcome.astype(np.int8), seconds, accepted, begun, started)


def _results(
    transaction: Transaction, ids: NDArray[np.int64], attempts: Attempts, workers: Sequence[PastWorker]
) -> tuple[AcceptedResults, tuple[str, ...]]:
    """The accepted results, and their provenances, each once; ``ids``: of the attempts."""
    sources: dict[str, int] = defaultdict(lambda: len(sources))
    kinds = np.int32, np.int64, np.float64, np.float64, np.bool_, sources
    task, attempt, seconds, accepted, confirmed, source = _columns(transaction, _RESULTS, kinds)
    found, known = _places(ids, attempt)
    worker = np.full(len(task), -1, dtype=np.int32)
    worker[known] = attempts.worker[found]
    # An imported result was accepted when its file was read, not when it was computed.
    accepted[worker < 0] = np.nan
    elsewhere = np.isin(worker, [place for place, each in enumerate(workers) if each.is_imported])
    ends = np.full(len(task), np.nan)
    ends[known] = attempts.ended[found]
    accepted[elsewhere] = ends[elsewhere]
    return AcceptedResults(task, seconds, accepted, source, confirmed, worker), tuple(sources)


def _places(ids: NDArray[np.int64], attempts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The places in ``ids`` of those of some attempts that are among them, and which these are."""
    places = np.searchsorted(ids, attempts)
    known = np.zeros(len(attempts), dtype=np.bool_)
    inside = places < len(ids)
    known[inside] = ids[places[inside]] == attempts[inside]
    return places[known], known


def _columns(transaction: Transaction, query: Any, kinds: Sequence[Any]) -> list[NDArray[Any]]:
    """The columns of the rows of a query, read in batches: Python's objects would take ten times the memory.

    ``kinds``: the type of each; a mapping: numbers of its values.
    """
    parts: list[list[NDArray[Any]]] = [
        [np.zeros(0, np.int32 if isinstance(kind, dict) else kind)] for kind in kinds
    ]
    for rows in transaction.execute(query.execution_options(yield_per=BATCH_ROWS)).partitions():
        for column, part, kind in zip(zip(*rows, strict=True), parts, kinds, strict=True):
            if isinstance(kind, dict):
                part.append(np.fromiter((kind[value] for value in column), np.int32, len(column)))
            else:
                part.append(np.array(column, dtype=kind))
    columns = []
    while parts:
        columns.append(np.concatenate(parts.pop(0)))
    return columns


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
