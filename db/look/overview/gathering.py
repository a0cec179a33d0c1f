"""An overview, put together from the queries of the other modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Row, select

from db.files.messages import Time
from db.look import progress
from db.look.overview import attendance, cautions, checks, figures, happenings, timeline, worker_views
from db.look.overview.attendance import Running
from db.look.overview.counting import MergedCount
from db.look.overview.records import (
    Eta,
    Happened,
    Overview,
    Parts,
    Presence,
    Speed,
    Total,
)
from db.records import CampaignRecord, Standing
from db.states import Outcome, TaskState, VoterKind
from db.store.dialects import Now
from db.store.models import Campaign, Event
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import waiting
from db.work import queries
from langford.methods import METHODS, Plan

EVENTS = 50
"""The maximum number of recorded events in an overview, besides what happened to workers."""
MOST_WORKERS = 500
"""Maximum number of workers in an overview; present ones come first."""


_NOW = select(Campaign.name, Campaign.recheck_share, Now().label("now")).where(Campaign.id == CAMPAIGN)


def overview(
    transaction: Transaction,
    campaign: CampaignRecord,
    folders: Mapping[str, Path],
    plan: Callable[[], Plan],
    merged: MergedCount,
    with_timeline: bool = True,
) -> Overview:
    """The overview of a campaign now.

    Args:
        transaction: one that sees one state of the database.
        campaign: the campaign.
        folders: folders whose disks are checked, by their name in warnings.
        plan: returns the plan of the campaign.
        merged: its count, once it is finished.
        with_timeline: whether to query the timeline; otherwise it is empty.
    """
    known = transaction.execute(_NOW).one()
    now, campaign = known.now, replace(campaign, name=known.name, recheck_share=known.recheck_share)
    standing = progress.standing(transaction, campaign)
    everybody = attendance.workers(transaction)
    workers = [row for row in everybody if row.kind in (None, VoterKind.WORKER)]
    running = attendance.running(transaction)
    not_done = attendance.not_done(transaction.connection, {row.id for row in everybody})
    conflicts = waiting.in_conflict(transaction)
    rechecks = waiting.tasks(transaction) if standing.rechecks else []
    tasks, work = _parts(transaction, campaign, standing, rechecks)
    is_finished = tasks.done == tasks.total and not (rechecks or conflicts)

    held = Counter(attempt.worker for attempt in running)
    lease_seconds = {attempt.worker: attempt.seconds for attempt in running}
    presence = {
        row.id: worker_views.presence(row, now, held[row.id], lease_seconds.get(row.id, 0.0)) for row in workers
    }
    present = [row for row in workers if presence[row.id] in (Presence.WORKING, Presence.IDLE)]
    seconds, arrived = 0.0, list[figures.Arrival]()
    if present and not is_finished:
        since = min(row.started for row in present)
        seconds, arrived = figures.arrivals_of_late(
            now, since, lambda after: attendance.arrivals(transaction, after)
        )
    pace = figures.pace_of(now, seconds, arrived)
    paces = attendance.paces(transaction, now - worker_views.GONE_SECONDS) if present else {}
    eta = None if is_finished else _eta(now, campaign, tasks, work, running, workers, pace, paces)
    shown = worker_views.views(workers, presence, held, not_done, arrived, seconds, paces)
    begun = min((row.started for row in workers), default=None)
    last = max((row.last_ended for row in everybody if row.last_ended is not None), default=campaign.created)
    until = last if is_finished else now
    done_work = work.done * campaign.work
    average = done_work / (until - begun) if begun is not None and done_work and until > begun else None
    checked = checks.checked(transaction, campaign, conflicts)
    rechecked_now = {attempt.task for attempt in running if attempt.again}
    without_voter = checks.without_voter(
        transaction,
        [task for task in rechecks if task not in rechecked_now],
        {row.voter_id for row in present if row.voter_id is not None},
    )
    count, agrees = merged.get(transaction, campaign, plan, last) if is_finished else (None, None)
    occupation = (
        timeline.timeline(transaction.connection, sorted(presence), begun, until) if begun and with_timeline else []
    )
    done_at = last if is_finished else None
    happened = happenings.happenings(transaction, workers, not_done, done_at, campaign.tasks)
    return Overview(
        campaign=campaign.name,
        uuid=campaign.uuid,
        problem=campaign.key.problem.name,
        method=campaign.key.method,
        depth=campaign.key.depth,
        seed=campaign.key.seed,
        created=Time(campaign.created),
        finished=None if done_at is None else Time(done_at),
        now=Time(now),
        tasks=tasks,
        work=work,
        speed=Speed(
            None if pace is None else pace.work,
            average,
            None if pace is None else 60 * pace.results,
            METHODS[campaign.key.method].unit,
            None if pace is None else pace.seconds,
        ),
        eta=eta,
        workers=tuple(shown[:MOST_WORKERS]),
        workers_left_out=len(shown[MOST_WORKERS:]),
        warnings=cautions.cautions(campaign.name, tasks, shown, conflicts, without_voter, folders),
        timeline=tuple((Time(at), occupied) for at, occupied in occupation),
        events=tuple(sorted([*happened, *_events(transaction)], key=lambda event: -event.at)),
        attempts=_attempts(everybody, not_done, len(running)),
        checked=checked,
        count=None if count is None else Total(count),
        agrees=agrees,
    )


def _parts(
    transaction: Transaction, campaign: CampaignRecord, standing: Standing, rechecks: Sequence[int]
) -> tuple[Parts[int], Parts[float]]:
    """(numbers of tasks, shares of the work) by state."""
    again = sum(queries.work(transaction, rechecks).values()) if rechecks else 0.0
    tasks, work = standing.tasks, standing.work
    whole = campaign.work or 1.0
    done = work.get(TaskState.DONE, 0.0) / whole if campaign.work else 1.0
    return (
        Parts(
            campaign.tasks,
            tasks.get(TaskState.DONE, 0),
            tasks.get(TaskState.LEASED, 0),
            tasks.get(TaskState.READY, 0),
            tasks.get(TaskState.SET_ASIDE, 0),
            len(rechecks),
        ),
        Parts(
            1.0,
            done,
            work.get(TaskState.LEASED, 0.0) / whole,
            work.get(TaskState.READY, 0.0) / whole,
            work.get(TaskState.SET_ASIDE, 0.0) / whole,
            again / whole,
        ),
    )


def _eta(
    now: float,
    campaign: CampaignRecord,
    tasks: Parts[int],
    work: Parts[float],
    running: Sequence[Running],
    workers: Sequence[Row[Any]],
    pace: figures.Pace | None,
    paces: Mapping[str, float],
) -> Eta | None:
    """When the campaign will be done, see :mod:`db.look.overview.figures`."""
    if not (tasks.ready + tasks.leased + tasks.recheck):
        return None  # the remaining tasks need an operator
    done_by_task: dict[int, float] = {}
    left_by_task: dict[int, float] = {}
    by_worker = {row.id: row for row in workers}
    for attempt in running:
        speed, worker = paces.get(attempt.worker), by_worker.get(attempt.worker)
        if speed is None or worker is None:
            continue
        done = _done(now, attempt, worker, speed)
        done_by_task[attempt.task] = max(done, done_by_task.get(attempt.task, 0.0))
        seconds_left = (attempt.work - done) / speed
        left_by_task[attempt.task] = min(seconds_left, left_by_task.get(attempt.task, seconds_left))
    remaining = (work.ready + work.leased + work.recheck) * campaign.work - sum(done_by_task.values())
    return figures.eta_of(now, max(0.0, remaining), max(left_by_task.values(), default=0.0), pace)


def _done(now: float, attempt: Running, worker: Row[Any], speed: float) -> float:
    """The work that a running attempt has probably done.

    A worker with one process began it when its last result was ready.  With more, on average half of it is done.
    """
    if not attempt.has_begun:
        return 0.0
    began = attempt.granted
    if worker.processes == 1 and worker.last_ended is not None:
        began = max(began, worker.last_ended)
    most = attempt.work if worker.processes == 1 else attempt.work / 2
    return min(most, speed * (now - began))


_EVENTS = select(Event.at, Event.kind, Event.task_index, Event.detail).where(Event.campaign_id == CAMPAIGN)


def _events(transaction: Transaction) -> list[Happened]:
    """The last recorded events."""
    rows = transaction.execute(_EVENTS.order_by(Event.id.desc()).limit(EVENTS))
    return [
        Happened(
            Time(row.at), row.kind, row.detail if row.task_index is None else f"task {row.task_index}: {row.detail}"
        )
        for row in rows
    ]


def _attempts(everybody: Sequence[Row[Any]], not_done: Sequence[Row[Any]], running: int) -> dict[str, int]:
    """Numbers of attempts by outcome."""
    numbers: Counter[str] = Counter()
    for row in not_done:
        numbers[row.outcome] += row.attempts
    numbers[Outcome.DONE] = sum(row.attempts for row in everybody) - numbers.total()
    numbers["running"] = running
    return {outcome: number for outcome, number in sorted(numbers.items()) if number}
