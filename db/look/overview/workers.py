"""The workers of a campaign, as in an overview: their states, and what happened to them."""

from __future__ import annotations

import math
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select

from db.identity import is_dead
from db.look.figures import speeds
from db.look.figures.attempts import CutShort
from db.look.figures.speeds import CurrentSpeeds
from db.look.overview import worker_queries
from db.look.overview.facts import GONE_SECONDS, Facts, last_seen
from db.look.overview.records import ENDINGS, Happened, Lost, WorkerState, WorkerView
from db.machines import ID_LENGTH, slurm_name, worker_name
from db.messages import Time
from db.schema.dialects import among
from db.schema.models import Attempt
from db.states import GONE, Ending, Outcome
from db.store.transaction import CAMPAIGN, Transaction
from langford.words import several

JOINED, LEFT, EXPIRED, DIED, DONE = "joined", "left", "expired", "died", "done"
MAX_SHOWN, MAX_ATTEMPTS = 50, 1_000
"""The maximum numbers of events, and of attempts that are read for them."""
MAX_POINTS, MIN_SECONDS = 100, 1.0
"""Of a timeline: the maximum number of points, and the minimum time between two of them."""
LAST_SECONDS = 60.0
"""What a worker gives back in this time before its end, it gives back because it ends."""


def views(transaction: Transaction, facts: Facts, now: CurrentSpeeds | None) -> list[WorkerView]:
    """Present ones first, then the others by the time of their end, last first."""
    workers = facts.workers
    paces = {}
    if facts.present:
        paces = worker_queries.paces(transaction, {row.id for row in facts.everybody}, facts.now - GONE_SECONDS)
    parts: dict[str, list[CutShort]] = defaultdict(list)
    for part in facts.cut_short:
        parts[part.worker].append(part)
    groups = {row.id: (row.device_kind, row.device_model) for row in workers}
    ratios = speeds.against_peers({id_: paces[id_] for id_ in paces if id_ in groups}, groups)
    gone = {row.id for row in workers if facts.presence[row.id].is_present and _is_gone(row)}
    shown = [
        WorkerView(
            worker_id=row.id[:ID_LENGTH],
            host=row.host,
            process=row.process,
            device_kind=row.device_kind,
            device_model=row.device_model,
            cores=row.cores,
            processes=row.processes,
            slurm=slurm_name(row.slurm_job, row.slurm_index),
            started=Time(row.started),
            last_seen=Time(last_seen(row)),
            state=WorkerState.ENDED if row.id in gone else facts.presence[row.id],
            ending=GONE if row.id in gone else row.ending,
            leased=facts.held[row.id],
            done=facts.delivered[row.id],
            speed=None if now is None else now.of_workers.get(row.id),
            against_peers=ratios.get(row.id),
            lost=_lost(parts[row.id]),
        )
        for row in workers
    ]
    return sorted(shown, key=_importance)


def _is_gone(worker: Row[Any]) -> bool:
    """Whether the process of a worker ended without a word, for example after kill -9.

    Only one that opens the ledger itself can be looked at: with a token, the name of its host is a claim.
    """
    return not worker.token and is_dead(worker.host, worker.process)


def _lost(parts: Sequence[CutShort]) -> Lost:
    attempts, unknown = sum(part.lost for part in parts), sum(part.unknown for part in parts)
    return Lost(attempts, math.fsum(part.seconds for part in parts), unknown)


def timeline(facts: Facts) -> tuple[tuple[Time, int], ...]:
    """(time, number of workers that were there) at equal distances from the first worker on, oldest first.

    A worker is there from its start to its end, or to its last request if it is silent.
    """
    if not facts.workers:
        return ()
    until = facts.now if facts.finished is None else facts.finished
    starts = sorted(row.started for row in facts.workers)
    gone = (row for row in facts.workers if not facts.presence[row.id].is_present)
    ends = sorted(last_seen(row) if row.ended is None else row.ended for row in gone)
    points = max(1, min(MAX_POINTS, int((until - starts[0]) / MIN_SECONDS)))
    moments = (starts[0] + (until - starts[0]) * (place + 0.5) / points for place in range(points))
    return tuple((Time(at), bisect(starts, at) - bisect(ends, at)) for at in moments)


def _importance(worker: WorkerView) -> tuple[bool, float]:
    if worker.state is WorkerState.ENDED:
        return True, -worker.last_seen
    return False, worker.started


_BACK = Outcome.RELEASED, Outcome.PREEMPTED
_UNFINISHED = (
    select(Attempt.worker_id, Attempt.outcome, Attempt.ended, Attempt.task_index, Attempt.note)
    # Not by the index of campaigns (+ 0): otherwise SQLite would read all its attempts.
    .where(among(Attempt.worker_id, "workers"), Attempt.campaign_id + 0 == CAMPAIGN, Attempt.ended.is_not(None))
    .where(Attempt.outcome.in_(sorted((*_BACK, Outcome.EXPIRED, Outcome.DIED))))
    .order_by(Attempt.ended.desc())
    .limit(MAX_ATTEMPTS)
)


def worker_events(transaction: Transaction, facts: Facts) -> list[Happened]:
    """What happened, newest first, up to MAX_SHOWN."""
    workers, finished = facts.workers, facts.finished
    joined = sorted(workers, key=lambda row: -row.started)[:MAX_SHOWN]
    gone = sorted((row for row in workers if row.ended is not None), key=lambda row: -row.ended)[:MAX_SHOWN]
    failing = {part.worker for part in facts.cut_short if part.outcome in (Outcome.EXPIRED, Outcome.DIED)}
    asked = {row.id for row in gone} | set(sorted(failing)[:MAX_SHOWN])
    unfinished: Any = transaction.execute(_UNFINISHED, workers=sorted(asked)).all() if asked else []
    named = {row.id: row for row in workers}
    of_worker = defaultdict[str, list[Row[Any]]](list)
    for row in unfinished:
        of_worker[row.worker_id].append(row)
    happened = [
        *(Happened(Time(row.started), JOINED, f"{_name(row)}: {_equipment(row)}") for row in joined),
        *(Happened(Time(row.ended), LEFT, f"{_name(row)}: {_departure(row, of_worker[row.id])}") for row in gone),
        *_expired(unfinished, named),
        *(
            Happened(Time(row.ended), DIED, f"{_name(named[row.worker_id])}, task {row.task_index}: {row.note}")
            for row in unfinished
            if row.outcome == Outcome.DIED
        ),
        *([] if finished is None else [Happened(Time(finished), DONE, several(facts.campaign.tasks, "task"))]),
    ]
    return sorted(happened, key=lambda each: -each.at)[:MAX_SHOWN]


def _expired(unfinished: Sequence[Row[Any]], named: Mapping[str, Row[Any]]) -> Iterator[Happened]:
    """Unless the worker ended with them."""
    rows = [row for row in unfinished if row.outcome == Outcome.EXPIRED]
    for (worker_id, ended), number in Counter((row.worker_id, row.ended) for row in rows).items():
        worker = named[worker_id]
        if worker.ending != Ending.LOST or not _at_its_end(worker, ended):
            yield Happened(Time(ended), EXPIRED, f"{_name(worker)}: {several(number, 'lease')}")


def _departure(worker: Row[Any], unfinished: Sequence[Row[Any]]) -> str:
    """How a worker ended, and what became of the tasks that it held; ``unfinished``: its attempts."""
    how, is_lost = ENDINGS.get(worker.ending, worker.ending or ""), worker.ending == Ending.LOST
    wanted = (Outcome.EXPIRED,) if is_lost else _BACK
    held = [row for row in unfinished if row.outcome in wanted and _at_its_end(worker, row.ended)]
    if worker.ending == Ending.STOPPED and held and held[0].note:
        how = f"{how} ({held[0].note})"
    if not held:
        return how
    return (
        f"{how}; {several(len(held), 'lease')} expired"
        if is_lost
        else f"{how}, gave back {several(len(held), 'task')}"
    )


def _at_its_end(worker: Row[Any], ended: float) -> bool:
    return bool(worker.ended - LAST_SECONDS <= ended <= worker.ended)


def _name(worker: Row[Any]) -> str:
    return worker_name(worker.id, worker.host)


def _equipment(worker: Row[Any]) -> str:
    slurm = slurm_name(worker.slurm_job, worker.slurm_index)
    processes = several(worker.processes, "process", "processes") if worker.processes else ""
    parts = worker.device_model or worker.device_kind, processes, f"SLURM job {slurm}" if slurm else ""
    return ", ".join(filter(None, parts))
