"""The workers of a campaign, as in an overview."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from db.look.overview import figures
from db.look.overview.records import ID_LENGTH, Preempted, Presence, WorkerView
from db.look.overview.worker_queries import FirstResults
from db.machines import Equipment
from db.messages import Time
from db.states import Outcome
from langford.speed import speed

SILENT_SECONDS = 150.0
"""A worker makes a request at least every minute, or when half of its lease is over."""
GONE_SECONDS = 3600.0
"""Time after which a silent worker without leases counts as ended."""
LOST = {Outcome.RELEASED, Outcome.PREEMPTED, Outcome.EXPIRED}


def presence(worker: Row[Any], now: float, held: int, lease_seconds: float) -> Presence:
    """The state of a worker that holds ``held`` leases, which last for ``lease_seconds``."""
    if worker.distrusted is not None:
        return Presence.DISTRUSTED
    if worker.ended is not None and not held:
        return Presence.ENDED
    silence = now - _last_seen(worker)
    if silence <= max(SILENT_SECONDS, lease_seconds / 2):
        return Presence.WORKING if held else Presence.IDLE
    return Presence.SILENT if held or silence <= GONE_SECONDS else Presence.ENDED


def _last_seen(worker: Row[Any]) -> float:
    """In ledgers of earlier versions, when its last attempt ended."""
    return max(float(at) for at in (worker.last_seen, worker.last_ended, worker.started) if at is not None)


def views(
    workers: Sequence[Row[Any]],
    states: Mapping[str, Presence],
    held: Mapping[str, int],
    firsts: Mapping[str, FirstResults],
    not_done: Sequence[Row[Any]],
    arrived: Sequence[figures.Arrival],
    seconds: float,
    paces: Mapping[str, float],
) -> list[WorkerView]:
    """Present ones first, then the others by the time of their end, last first.

    ``held``: numbers of tasks; ``arrived``: in the last ``seconds``.
    """
    lost: dict[str, int] = defaultdict(int)
    lost_seconds: dict[str, float] = defaultdict(float)
    further: dict[str, int] = defaultdict(int)
    for row in not_done:
        if row.outcome == Outcome.SUPERSEDED:
            further[row.worker_id] += row.attempts
        if row.outcome in LOST:
            lost[row.worker_id] += row.attempts
            lost_seconds[row.worker_id] += row.seconds
    work: dict[str, float] = defaultdict(float)
    for arrival in arrived:
        work[arrival.worker] += arrival.work
    groups = {row.id: (row.device_kind, row.device_model) for row in workers}
    ratios = figures.against_peers({id_: paces[id_] for id_ in paces if id_ in groups}, groups)
    shown = [
        WorkerView(
            worker_id=row.id[:ID_LENGTH],
            host=row.host,
            process=row.process,
            device_kind=row.device_kind,
            device_model=row.device_model,
            cores=row.cores,
            processes=row.processes,
            slurm=Equipment(slurm_job=row.slurm_job, slurm_index=row.slurm_index).slurm,
            started=Time(row.started),
            last_seen=Time(_last_seen(row)),
            state=states[row.id],
            ending=row.ending,
            leased=held.get(row.id, 0),
            done=(firsts[row.id].results if row.id in firsts else 0) + further[row.id],
            speed=speed(work[row.id], seconds) if row.id in work else None,
            against_peers=ratios.get(row.id),
            preempted=Preempted(lost[row.id], lost_seconds[row.id]),
        )
        for row in workers
    ]
    return sorted(shown, key=_importance)


def _importance(worker: WorkerView) -> tuple[bool, float]:
    if worker.state is Presence.ENDED:
        return True, -worker.last_seen
    return False, worker.started
