"""An overview, put together from the queries of the other modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, partial

from sqlalchemy import select

from db.look import progress
from db.look.figures import attempts, speeds
from db.look.figures.speeds import Arrival
from db.look.overview import forecast, warnings, worker_queries
from db.look.overview.facts import Facts
from db.look.overview.forecast import SteadyEta
from db.look.overview.records import Eta, Happened, Lost, Overview, Parts, Total, WorkerView, WorkRate
from db.look.overview.schedule import DeviceGroup, Remaining
from db.look.overview.workers import timeline, views, worker_events
from db.look.progress import MergedCount
from db.messages import Time
from db.records import CampaignRecord
from db.schema.models import Event
from db.states import Outcome, TaskState, VoterKind
from db.store.database import Database
from db.store.transaction import CAMPAIGN, Transaction
from db.work.computations import IMPORTED
from langford.methods import METHODS, Plan
from langford.words import speed

EVENTS = 50
"""The maximum number of recorded events in an overview, besides what happened to workers."""
MAX_WORKERS = 500
"""Maximum number of workers in an overview; present ones come first."""


class OverviewReader:
    """Reads the overviews of one campaign; each continues from the last one's estimate and count."""

    def __init__(self, plan: Callable[[], Plan]) -> None:
        self._count, self._forecast = MergedCount(plan), SteadyEta()

    def read(
        self,
        transaction: Transaction,
        campaign: CampaignRecord,
        database: Database,
    ) -> Overview:
        facts = Facts.read(transaction, campaign)
        campaign, now, finished = facts.campaign, facts.now, facts.finished
        tasks, work = _parts(facts)
        current, eta = None, None
        if facts.present and finished is None:
            # The speed and the time left look at the same windows of time.
            arrivals = cache(partial(worker_queries.arrivals, transaction, facts.everybody))
            current = speeds.current(now, {row.id: row.started for row in facts.present}, arrivals)
            eta = _eta(transaction, facts, arrivals, self._forecast)
        shown = views(transaction, facts, current)
        count, agrees = (None, None) if finished is None else self._count.get(transaction, campaign, finished)
        return Overview(
            campaign=campaign.name,
            uuid=campaign.uuid,
            problem=campaign.key.problem.name,
            method=campaign.key.method,
            depth=campaign.key.depth,
            seed=campaign.key.seed,
            created=Time(campaign.created),
            finished=None if finished is None else Time(finished),
            now=Time(now),
            tasks=tasks,
            work=work,
            speed=WorkRate(
                None if current is None else current.together,
                _average(transaction, facts),
                None if current is None else current.tasks_per_minute,
                _unit(campaign.key.method),
                None if current is None else current.seconds,
            ),
            eta=eta,
            workers=tuple(shown[:MAX_WORKERS]),
            workers_by_state=_by_state(shown),
            warnings=warnings.warnings_of(transaction, facts, tasks, shown, database),
            timeline=timeline(facts),
            events=tuple(
                sorted([*worker_events(transaction, facts), *_events(transaction)], key=lambda event: -event.at)
            ),
            attempts=_attempts(facts),
            lost=_lost(facts),
            checked=warnings.checked(transaction, facts),
            count=None if count is None else Total(count),
            agrees=agrees,
            title=str(campaign.key.problem),
        )


def _by_state(workers: Sequence[WorkerView]) -> dict[str, dict[str, int]]:
    numbers: dict[str, dict[str, int]] = {}
    for worker in workers:
        of_state = numbers.setdefault(worker.state, {})
        of_state[worker.device_kind] = of_state.get(worker.device_kind, 0) + 1
    return numbers


def _unit(method: str) -> str:
    """What it counts its work in; that of a method of a later version is not known."""
    return METHODS[method].unit if method in METHODS else "units"


def _parts(facts: Facts) -> tuple[Parts[int], Parts[float]]:
    """(numbers of tasks, shares of the work) by state."""
    standing, whole = facts.standing, facts.campaign.work or 1.0
    states = TaskState.LEASED, TaskState.READY, TaskState.SET_ASIDE
    leased, ready, set_aside = (standing.tasks.get(state, 0) for state in states)
    tasks = Parts(facts.campaign.tasks, standing.tasks_done, leased, ready, set_aside, len(facts.rechecks))
    leased_work, ready_work, set_aside_work = (standing.work.get(state, 0.0) / whole for state in states)
    recheck = sum(facts.rechecks.values()) / whole
    return tasks, Parts(1.0, standing.share_done, leased_work, ready_work, set_aside_work, recheck)


def _average(transaction: Transaction, facts: Facts) -> float | None:
    """Results of imported files that do not say when they were computed are left out."""
    untimed = {row.id for row in facts.everybody if row.kind == VoterKind.IMPORT and row.process != IMPORTED}
    timed = (each for each in facts.ended if each.worker not in untimed)
    elapsed = attempts.elapsed((*timed, *facts.cut_short))
    if elapsed is None:
        return None
    imported = {each.worker for each in facts.ended if each.done and each.worker in untimed}
    done = facts.standing.work_done - worker_queries.work_of(transaction, imported)
    return speed(done, elapsed.seconds)


def _eta(
    transaction: Transaction, facts: Facts, arrivals: Callable[[float], Sequence[Arrival]], forecasts: SteadyEta
) -> Eta | None:
    """See :mod:`db.look.overview.forecast`."""
    ready = facts.standing.tasks.get(TaskState.READY, 0)
    if not (ready or facts.running or facts.rechecks):
        return None  # the remaining tasks need an operator
    models = {row.id: (row.device_kind, row.device_model) for row in facts.workers}
    tokens = {row.id: row.token for row in facts.workers if row.token}
    groups = [DeviceGroup(row.id, models[row.id], row.processes or 1, row.started) for row in facts.present]
    _, arrived = speeds.arrivals_of_late(facts.now, 0.0, arrivals, forecast.results_wanted(groups))
    again = facts.again
    waiting = [(work, 1) for task, work in facts.rechecks.items() if task not in again]
    if ready:
        waiting += progress.waiting_work(transaction, facts.standing, facts.sizes)
    remaining = Remaining(facts.standing.share_done, waiting, facts.running)
    return forecasts.eta(facts.now, forecast.estimate(facts.now, remaining, arrived, models, groups, tokens))


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


def _attempts(facts: Facts) -> dict[str, int]:
    numbers: Counter[str] = Counter()
    for each in facts.ended:
        numbers[Outcome.DONE] += each.done
        numbers[Outcome.SUPERSEDED] += each.further
    for part in facts.cut_short:
        numbers[part.outcome] += part.attempts
    numbers["running"] = len(facts.running)
    return {outcome: number for outcome, number in sorted(numbers.items()) if number}


def _lost(facts: Facts) -> dict[str, Lost]:
    losses = sorted(attempts.lost_by_outcome(facts.cut_short), key=lambda loss: loss.outcome)
    return {
        loss.outcome: Lost(loss.attempts, loss.seconds, loss.unknown)
        for loss in losses
        if loss.attempts or loss.unknown
    }
