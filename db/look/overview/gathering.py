"""An overview, put together from the queries of the other modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from sqlalchemy import Row, select

from db.look import progress
from db.look.overview import figures, forecast, warnings, worker_queries
from db.look.overview.figures import Arrival, Running
from db.look.overview.forecast import Forecast
from db.look.overview.records import (
    Eta,
    Happened,
    Overview,
    Parts,
    Presence,
    Speed,
    Total,
)
from db.look.overview.schedule import DeviceGroup, Remaining
from db.look.overview.worker_queries import FirstResults
from db.look.overview.workers import GONE_SECONDS, state_of, timeline, views, worker_events
from db.look.progress import MergedCount
from db.messages import Time
from db.records import CampaignRecord, Standing
from db.schema.dialects import Now
from db.schema.models import Attempt, Campaign, Event
from db.states import Outcome, TaskState, VoterKind
from db.store.transaction import CAMPAIGN, Transaction
from db.trust import complaints, waiting
from db.work import queries
from db.work.computations import IMPORTED
from langford.methods import METHODS, Plan
from langford.words import speed

EVENTS = 50
"""The maximum number of recorded events in an overview, besides what happened to workers."""
MAX_WORKERS = 500
"""Maximum number of workers in an overview; present ones come first."""


_NOW = select(
    Campaign.name,
    Campaign.recheck_share,
    Now().label("now"),
    select(Attempt.id).where(Attempt.campaign_id == CAMPAIGN).exists().label("began"),
).where(Campaign.id == CAMPAIGN)


def overview(
    transaction: Transaction,
    campaign: CampaignRecord,
    folders: Mapping[str, Path],
    plan: Callable[[], Plan],
    merged: MergedCount,
    forecasts: Forecast,
    with_timeline: bool = True,
) -> Overview:
    """``folders``: folders whose disks are checked, by their name in warnings.

    ``with_timeline``: false leaves the timeline empty, which saves a query.
    """
    known = transaction.execute(_NOW).one()
    now, campaign = known.now, replace(campaign, name=known.name, recheck_share=known.recheck_share)
    standing = progress.standing(transaction, campaign)
    # A ledger may have thousands of campaigns that nobody has begun: these are queries for each of them.
    everybody = worker_queries.workers(transaction) if known.began else []
    workers = [row for row in everybody if row.kind in (None, VoterKind.WORKER)]
    running = worker_queries.running(transaction) if known.began else []
    ids = {row.id for row in everybody}
    not_done = worker_queries.not_done(transaction.connection, ids) if ids else []
    firsts = worker_queries.first_results(transaction.connection, ids) if ids else {}
    conflicts = waiting.in_conflict(transaction) if known.began else []
    rechecks = queries.work(transaction, waiting.tasks(transaction)) if standing.rechecks else {}
    tasks, work = _parts(campaign, standing, rechecks)
    is_finished = tasks.done == tasks.total and not (rechecks or conflicts)

    held = Counter(attempt.worker for attempt in running)
    lease_seconds = {attempt.worker: attempt.seconds for attempt in running}
    presence = {row.id: state_of(row, now, held[row.id], lease_seconds.get(row.id, 0.0)) for row in workers}
    present = [row for row in workers if presence[row.id] in (Presence.WORKING, Presence.IDLE)]
    seconds, arrived, eta = 0.0, list[Arrival](), None
    if present and not is_finished:
        # The speed and the time left look at the same windows of time.
        arrivals = cache(partial(worker_queries.arrivals, transaction, everybody))
        seconds, arrived = figures.arrivals_of_late(now, min(row.started for row in present), arrivals)
        eta = _eta(transaction, now, campaign, standing, rechecks, running, workers, present, arrivals, forecasts)
    pace = figures.pace_of(seconds, arrived)
    paces = worker_queries.paces(transaction, ids, now - GONE_SECONDS) if present else {}
    shown = views(workers, presence, held, firsts, not_done, arrived, seconds, paces)
    begun = min((row.started for row in workers), default=None)
    last = max((row.last_ended for row in everybody if row.last_ended is not None), default=campaign.created)
    until = last if is_finished else now
    checked = warnings.checked(transaction, campaign, standing, conflicts)
    rechecked_now = {attempt.task for attempt in running if attempt.again}
    without_voter = warnings.without_voter(
        transaction,
        [task for task in rechecks if task not in rechecked_now],
        {row.voter_id for row in present if row.voter_id is not None},
    )
    count, agrees = merged.get(transaction, campaign, plan, last) if is_finished else (None, None)
    occupation = timeline(transaction.connection, sorted(presence), begun, until) if begun and with_timeline else []
    done_at = last if is_finished else None
    happened = worker_events(transaction, workers, not_done, done_at, campaign.tasks)
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
            _average(transaction, work.done * campaign.work, everybody, firsts),
            None if pace is None else 60 * pace.results,
            METHODS[campaign.key.method].unit,
            None if pace is None else pace.seconds,
        ),
        eta=eta,
        workers=tuple(shown[:MAX_WORKERS]),
        workers_left_out=len(shown[MAX_WORKERS:]),
        warnings=warnings.warnings_of(
            campaign.name,
            tasks,
            shown,
            conflicts,
            without_voter,
            warnings.held_in_vain(transaction, campaign.name) if running and not is_finished else [],
            complaints.in_words(transaction) if tasks.set_aside else "",
            folders,
        ),
        timeline=tuple((Time(at), occupied) for at, occupied in occupation),
        events=tuple(sorted([*happened, *_events(transaction)], key=lambda event: -event.at)),
        attempts=_attempts(firsts, not_done, len(running)),
        checked=checked,
        count=None if count is None else Total(count),
        agrees=agrees,
    )


def _parts(
    campaign: CampaignRecord, standing: Standing, rechecks: Mapping[int, float]
) -> tuple[Parts[int], Parts[float]]:
    """(numbers of tasks, shares of the work) by state."""
    tasks, work = standing.tasks, standing.work
    whole = campaign.work or 1.0
    done = standing.work_done / whole if campaign.work else 1.0
    return (
        Parts(
            campaign.tasks,
            standing.tasks_done,
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
            sum(rechecks.values()) / whole,
        ),
    )


def _average(
    transaction: Transaction, done: float, everybody: Sequence[Row[Any]], firsts: Mapping[str, FirstResults]
) -> float | None:
    """From the first computing that led to a result to the last result.

    Results of imported files that do not say when they were computed are left out.
    """
    untimed = {row.id for row in everybody if row.kind == VoterKind.IMPORT and row.process != IMPORTED}
    timed = [each for worker, each in firsts.items() if worker not in untimed]
    if not timed:
        return None
    seconds = max(each.ended for each in timed) - min(each.began for each in timed)
    return speed(done - worker_queries.work_of(transaction, untimed & firsts.keys()), seconds)


def _eta(
    transaction: Transaction,
    now: float,
    campaign: CampaignRecord,
    standing: Standing,
    rechecks: Mapping[int, float],
    running: Sequence[Running],
    workers: Sequence[Row[Any]],
    present: Sequence[Row[Any]],
    arrivals: Callable[[float], Sequence[Arrival]],
    forecasts: Forecast,
) -> Eta | None:
    """See :mod:`db.look.overview.forecast`."""
    ready = standing.tasks.get(TaskState.READY, 0)
    if not (ready or running or rechecks):
        return None  # the remaining tasks need an operator
    models = {row.id: (row.device_kind, row.device_model) for row in workers}
    tokens = {row.id: row.token for row in workers if row.token}
    groups = [
        DeviceGroup(row.id, models[row.id], row.processes or 1, row.started, row.last_ended) for row in present
    ]
    _, arrived = figures.arrivals_of_late(now, 0.0, arrivals, forecast.results_wanted(groups))
    again = {attempt.task for attempt in running if attempt.again}
    waiting = [(work, 1) for task, work in rechecks.items() if task not in again]
    if ready:
        waiting += progress.waiting_work(transaction, ready, standing.work.get(TaskState.READY, 0.0))
    done = standing.work_done / campaign.work if campaign.work else 1.0
    remaining = Remaining(done, waiting, running)
    return forecasts.eta(now, forecast.estimate(now, remaining, arrived, models, groups, tokens))


_EVENTS = (
    select(Event.at, Event.kind, Event.task_index, Event.detail)
    .where(Event.campaign_id == CAMPAIGN)
    .order_by(Event.id.desc())
    .limit(EVENTS)
)


def _events(transaction: Transaction) -> list[Happened]:
    return [
        Happened(
            Time(row.at), row.kind, row.detail if row.task_index is None else f"task {row.task_index}: {row.detail}"
        )
        for row in transaction.execute(_EVENTS)
    ]


def _attempts(firsts: Mapping[str, FirstResults], not_done: Sequence[Row[Any]], running: int) -> dict[str, int]:
    numbers: Counter[str] = Counter()
    for row in not_done:
        numbers[row.outcome] += row.attempts
    numbers[Outcome.DONE] = sum(each.results for each in firsts.values())
    numbers["running"] = running
    return {outcome: number for outcome, number in sorted(numbers.items()) if number}
