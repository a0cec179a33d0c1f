"""Events of which an operator is notified, in words, one alone or many of a kind; and the states of workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from db.look.overview.records import Overview, WarningKind, WorkerState, WorkerView
from db.records import EventRecord
from db.states import EventKind
from langford.words import coarse_duration, some

NAMED = 10
"""The maximum number of tasks or machines that a line names."""
UNSEEN_SECONDS = {WorkerState.WORKING: 70.0, WorkerState.IDLE: 90.0}
"""A worker that holds tasks makes a request at least every 60 s (:data:`jobs.run.source.RENEWAL_SECONDS`), and one
that waits for tasks every 60 s: after a longer time it may have died."""
LISTED = 100
"""The maximum number of entries of a list for programs."""


@dataclass(frozen=True)
class Wording:
    """The words for one event of a kind, and for many."""

    one: Callable[[EventRecord], str]
    many: Callable[[Sequence[EventRecord]], str]


WORDINGS = {
    EventKind.CONFLICT: Wording(
        lambda event: f"results of task {event.task} disagree: {event.detail}",
        lambda events: f"results disagree {len(events):,} times, of tasks {tasks_in_words(events)}",
    ),
    EventKind.DISTRUSTED: Wording(
        lambda event: (
            f"{event.detail}, is distrusted: its result of task {event.task} is wrong, and all its results are "
            "evaluated again"
        ),
        lambda events: f"{len(events):,} voters are distrusted: {'; '.join(e.detail for e in events[:NAMED])}",
    ),
    EventKind.SET_ASIDE: Wording(
        lambda event: _set_aside(event),
        lambda events: (
            f"tasks were set aside {len(events):,} times: {tasks_in_words(events) or _set_aside(events[-1])}"
        ),
    ),
}
"""The events of which an operator is notified."""


def state_in_words(worker: WorkerView, now: float) -> str:
    """How it ended, where that is known; how long it was not seen, where it is late."""
    if is_late(worker, now):
        return f"not seen for {coarse_duration(now - worker.last_seen)}"
    if worker.state is WorkerState.ENDED and worker.ending:
        return worker.ending
    return worker.state.value


def is_late(worker: WorkerView, now: float) -> bool:
    """Whether it should have made another request by now."""
    return now - worker.last_seen >= UNSEEN_SECONDS.get(worker.state, inf)


def at_work(overview: Overview) -> int:
    """How many workers hold tasks, without those that are late."""
    working = (worker for worker in overview.workers if worker.state is WorkerState.WORKING)
    return sum(not is_late(worker, overview.now) for worker in working)


def standstill(overview: Overview) -> str:
    """Why an unfinished campaign has no workers although nothing is wrong: "new" or "paused"; else empty."""
    tasks = overview.tasks
    warned = {warning.kind for warning in overview.warnings}
    is_here = any(worker.state.is_present for worker in overview.workers)
    if is_here or WarningKind.NO_WORKERS in warned or not tasks.ready + tasks.leased + tasks.recheck:
        return ""
    return "paused" if tasks.done or overview.workers else "new"


def _set_aside(event: EventRecord) -> str:
    """A task failed, or ended its process, too often, or the operator has cancelled a campaign."""
    if event.task is None:
        return f"set aside: {event.detail}"
    return f"task {event.task} is set aside: {event.detail}"


def tasks_of(events: Sequence[EventRecord]) -> list[int]:
    return sorted({event.task for event in events if event.task is not None})


def tasks_in_words(events: Sequence[EventRecord]) -> str:
    return some(tasks_of(events), NAMED)
