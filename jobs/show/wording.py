"""The states of workers, and of a campaign that nobody works at, in words."""

from __future__ import annotations

from math import inf

from db.look.overview.records import Overview, WarningKind, WorkerState, WorkerView
from langford.words import duration

UNSEEN_SECONDS = {WorkerState.WORKING: 70.0, WorkerState.IDLE: 90.0}
"""A worker that holds tasks makes a request at least every 60 s (:data:`jobs.run.source.RENEWAL_SECONDS`), and one
that waits for tasks every 60 s: after a longer time it may have died."""


def state_in_words(worker: WorkerView, now: float) -> str:
    """How it ended, where that is known; how long it was not seen, where it is late."""
    if is_late(worker, now):
        return f"not seen for {duration(now - worker.last_seen)}"
    if worker.state is WorkerState.ENDED and worker.ending:
        return worker.ending
    return worker.state.value


def is_late(worker: WorkerView, now: float) -> bool:
    """Whether it should have made another request by now."""
    return now - worker.last_seen >= UNSEEN_SECONDS.get(worker.state, inf)


def at_work(overview: Overview) -> int:
    """How many workers hold tasks, without those of the listed ones that are late."""
    working = (worker for worker in overview.workers if worker.state is WorkerState.WORKING)
    return overview.workers_in(WorkerState.WORKING) - sum(is_late(worker, overview.now) for worker in working)


def standstill(overview: Overview) -> str:
    """Why an unfinished campaign has no workers although nothing is wrong: "new" or "paused"; else empty."""
    tasks = overview.tasks
    warned = {warning.kind for warning in overview.warnings}
    is_here = any(worker.state.is_present for worker in overview.workers)
    if is_here or WarningKind.NO_WORKERS in warned or not tasks.ready + tasks.leased + tasks.recheck:
        return ""
    return "paused" if tasks.done or overview.workers else "new"
