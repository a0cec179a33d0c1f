"""An overview, from the questions that the other modules ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, func, select

from db import queries, waiting
from db.dialects import Now
from db.models import Attempt, Event
from db.overview import attendance, cautions, figures, timeline, voting
from db.overview.attendance import Running
from db.overview.records import (
    Eta,
    Happened,
    Overview,
    Parts,
    Preempted,
    Presence,
    Speed,
    WorkerView,
)
from db.records import CampaignRecord, Standing
from db.states import Outcome, TaskState, VoterKind
from db.transitions import CAMPAIGN
from langford.methods import METHODS

EVENTS = 50
MOST_WORKERS = 500
"""Workers that an overview names; those that are present come first."""
SILENT_SECONDS = 150.0
"""A worker asks for something at least every minute, or when half of its lease is over."""
GONE_SECONDS = 3600.0
"""After which nobody waits for a silent worker without leases."""
ID_LENGTH = 8
"""Characters of a worker's UUID that are shown: the whole is a secret between it and the server."""
LOST = {Outcome.RELEASED, Outcome.PREEMPTED, Outcome.EXPIRED}


def overview(
    connection: Connection,
    campaign: CampaignRecord,
    folders: Collection[Path],
    count: Callable[[], tuple[int | None, bool | None]],
) -> Overview:
    """The overview of a campaign now.

    Args:
        connection: a transaction that sees one state of the database.
        campaign: the campaign.
        folders: the disks to look at.
        count: the merged count, and whether it is the published one; asked when all is done.
    """
    campaign_id = campaign.campaign_id
    now: float = connection.execute(select(Now())).scalar_one()
    standing = queries.standing(connection, campaign)
    everybody = attendance.workers(connection, campaign_id)
    workers = [row for row in everybody if row.kind in (None, VoterKind.WORKER)]
    running = attendance.running(connection, campaign_id)
    not_done = attendance.not_done(connection, campaign_id)
    conflicts = waiting.in_conflict(connection, campaign_id)
    rechecks = waiting.tasks(connection, campaign_id) if standing.rechecks else []
    tasks, work = _parts(connection, campaign, standing, rechecks)
    is_finished = tasks.done == tasks.total and not (rechecks or conflicts)

    held = Counter(attempt.worker for attempt in running)
    lease_seconds = {attempt.worker: attempt.seconds for attempt in running}
    presence = {row.id: _presence(row, now, held[row.id], lease_seconds.get(row.id, 0.0)) for row in workers}
    present = [row for row in workers if presence[row.id] in (Presence.WORKING, Presence.IDLE)]
    seconds, arrived = 0.0, []
    if any(held[row.id] for row in present):
        since = min(row.started for row in present)
        seconds, arrived = figures.arrivals_of_late(
            now, since, lambda after: attendance.arrivals(connection, campaign_id, after)
        )
    pace = figures.pace_of(now, seconds, arrived)
    paces = attendance.paces(connection, campaign_id, now - GONE_SECONDS) if present else {}
    eta = None if is_finished else _eta(now, campaign, tasks, work, running, pace, paces)
    views = _views(workers, presence, held, not_done, arrived, seconds, paces)
    begun = min((row.started for row in workers), default=None)
    last = max((row.last_ended for row in everybody if row.last_ended is not None), default=campaign.created)
    until = last if is_finished else now
    done_work = work.done * campaign.work
    average = done_work / (until - begun) if begun is not None and done_work and until > begun else None
    checked = voting.checked(connection, campaign, conflicts)
    rechecked_now = {attempt.task for attempt in running if attempt.again}
    without_voter = voting.without_voter(
        connection,
        campaign_id,
        [task for task in rechecks if task not in rechecked_now],
        {row.voter_id for row in present if row.voter_id is not None},
    )
    merged, agrees = count() if is_finished else (None, None)
    shown = sorted(views, key=_importance)[:MOST_WORKERS]
    return Overview(
        campaign=campaign.name,
        uuid=campaign.uuid,
        problem=campaign.key.problem.name,
        method=campaign.key.method,
        depth=campaign.key.depth,
        seed=campaign.key.seed,
        created=campaign.created,
        finished=last if is_finished else None,
        now=now,
        tasks=tasks,
        work=work,
        speed=Speed(
            pace and pace.work,
            average,
            pace and pace.results * 60,
            METHODS[campaign.key.method].unit,
            pace and pace.seconds,
        ),
        eta=eta,
        workers=tuple(shown),
        workers_left_out=len(views) - len(shown),
        warnings=cautions.cautions(campaign.name, tasks, views, checked, conflicts, without_voter, folders),
        timeline=tuple(timeline.timeline(connection, campaign_id, begun, until, len(workers)) if begun else ()),
        events=_events(connection, campaign_id),
        attempts=_attempts(connection, campaign_id, not_done, len(running)),
        checked=checked,
        count=merged,
        agrees=agrees,
    )


def _parts(
    connection: Connection, campaign: CampaignRecord, standing: Standing, rechecks: Sequence[int]
) -> tuple[Parts, Parts]:
    """Numbers of tasks, and shares of the work, by state."""
    again = sum(queries.work(connection, campaign.campaign_id, rechecks).values()) if rechecks else 0.0
    tasks, work = standing.tasks, standing.work
    whole = campaign.work or 1.0
    states = TaskState.DONE, TaskState.LEASED, TaskState.READY, TaskState.SET_ASIDE
    # A campaign without work is done when its tasks are.
    shares = [work.get(state, 0.0) / whole for state in states] if campaign.work else [1.0, 0.0, 0.0, 0.0]
    return (
        Parts(campaign.tasks, *(tasks.get(state, 0) for state in states), len(rechecks)),
        Parts(1.0, *shares, again / whole),
    )


def _presence(worker: Row[Any], now: float, held: int, lease_seconds: float) -> Presence:
    """What a worker does; ``held``: how many tasks, which it must renew before half of ``lease_seconds`` are over."""
    if worker.distrusted is not None:
        return Presence.DISTRUSTED
    if worker.ended is not None and not held:
        return Presence.ENDED
    silence = now - _last_seen(worker)
    if silence <= max(SILENT_SECONDS, lease_seconds / 2):
        return Presence.WORKING if held else Presence.IDLE
    return Presence.SILENT if held or silence <= GONE_SECONDS else Presence.ENDED


def _last_seen(worker: Row[Any]) -> float:
    """When a worker last asked for something; in ledgers of earlier versions, when its last attempt ended."""
    return max(at for at in (worker.last_seen, worker.last_ended, worker.started) if at is not None)


def _eta(
    now: float,
    campaign: CampaignRecord,
    tasks: Parts,
    work: Parts,
    running: Sequence[Running],
    pace: figures.Pace | None,
    paces: Mapping[str, float],
) -> Eta | None:
    """When the campaign will be done.  What running attempts have done follows from the pace of their workers."""
    if not (tasks.ready + tasks.leased + tasks.recheck):
        return None  # what is left needs an operator
    done_by_task: dict[int, float] = {}
    left_by_task: dict[int, float] = {}
    for attempt in running:
        speed = paces.get(attempt.worker)
        if speed is None or attempt.began is None:
            continue
        done = min(attempt.work, speed * (now - attempt.began))
        done_by_task[attempt.task] = max(done, done_by_task.get(attempt.task, 0.0))
        seconds_left = (attempt.work - done) / speed
        left_by_task[attempt.task] = min(seconds_left, left_by_task.get(attempt.task, seconds_left))
    remaining = (work.ready + work.leased + work.recheck) * campaign.work - sum(done_by_task.values())
    return figures.eta_of(now, max(0.0, remaining), max(left_by_task.values(), default=0.0), pace)


def _views(
    workers: Sequence[Row[Any]],
    presence: Mapping[str, Presence],
    held: Mapping[str, int],
    not_done: Sequence[Row[Any]],
    arrived: Sequence[figures.Arrival],
    seconds: float,
    paces: Mapping[str, float],
) -> list[WorkerView]:
    """The workers as an overview shows them; ``seconds``: in which the results arrived."""
    delivered = {Outcome.DONE, Outcome.SUPERSEDED}
    lost: Counter[str] = Counter()
    lost_seconds: Counter[str] = Counter()
    without_result: Counter[str] = Counter()
    for row in not_done:
        if row.outcome not in delivered:
            without_result[row.worker_id] += row.attempts
        if row.outcome in LOST:
            lost[row.worker_id] += row.attempts
            lost_seconds[row.worker_id] += row.seconds
    work: Counter[str] = Counter()
    for arrival in arrived:
        work[arrival.worker] += arrival.work  # type: ignore[assignment]  # counters may hold floats
    groups = {row.id: (row.device_kind, row.device_model) for row in workers}
    ratios = figures.against_peers({id_: paces[id_] for id_ in paces if id_ in groups}, groups)
    return [
        WorkerView(
            worker_id=row.id[:ID_LENGTH],
            host=row.host,
            process=row.process,
            device_kind=row.device_kind,
            device_model=row.device_model,
            cores=row.cores,
            processes=row.processes,
            slurm=_slurm(row),
            started=row.started,
            last_seen=_last_seen(row),
            state=presence[row.id],
            ending=row.ending,
            leased=held.get(row.id, 0),
            done=row.attempts - without_result[row.id],
            speed=work[row.id] / seconds if row.id in work else None,
            against_peers=ratios.get(row.id),
            preempted=Preempted(lost[row.id], float(lost_seconds[row.id])),
        )
        for row in workers
    ]


def _slurm(worker: Row[Any]) -> str | None:
    """The name of a worker's log in SLURM: its job, and its place in the array."""
    if worker.slurm_job is None or worker.slurm_index is None:
        job: str | None = worker.slurm_job
        return job
    return f"{worker.slurm_job}_{worker.slurm_index}"


def _importance(worker: WorkerView) -> tuple[bool, float]:
    """Those that are present first, then those that left last."""
    return worker.state is Presence.ENDED, -worker.started if worker.state is not Presence.ENDED else -worker.last_seen


_EVENTS = select(Event.at, Event.kind, Event.task_index, Event.detail).where(Event.campaign_id == CAMPAIGN)


def _events(connection: Connection, campaign_id: int) -> tuple[Happened, ...]:
    rows = connection.execute(_EVENTS.order_by(Event.id.desc()).limit(EVENTS), {"campaign": campaign_id})
    return tuple(
        Happened(row.at, row.kind, row.detail if row.task_index is None else f"task {row.task_index}: {row.detail}")
        for row in rows
    )


_ALL_ATTEMPTS = select(func.count()).select_from(Attempt).where(Attempt.campaign_id == CAMPAIGN)


def _attempts(
    connection: Connection, campaign_id: int, not_done: Sequence[Row[Any]], running: int
) -> dict[str, int]:
    """Numbers of attempts by outcome."""
    numbers: Counter[str] = Counter()
    for row in not_done:
        numbers[row.outcome] += row.attempts
    everything = connection.scalar(_ALL_ATTEMPTS, {"campaign": campaign_id}) or 0
    numbers["running"] = running
    numbers[Outcome.DONE] = everything - numbers.total()
    return {outcome: number for outcome, number in sorted(numbers.items()) if number}
