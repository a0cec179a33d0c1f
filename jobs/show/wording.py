"""A campaign in a line, the states of workers, and of a campaign that nobody works at, in words."""

from __future__ import annotations

from math import inf

from db.look.overview.records import Overview, WarningKind, WorkerState, WorkerView
from langford.words import duration, now, percent, several, time_left

VERDICTS = {True: "as published", False: "NOT as published", None: "no published value"}
"""How a count compares with the published one, by whether it agrees."""
UNSEEN_SECONDS = {WorkerState.WORKING: 70.0, WorkerState.IDLE: 90.0}
"""A worker that holds tasks makes a request at least every 60 s (:data:`jobs.run.source.RENEWAL_SECONDS`), and one
that waits for tasks every 60 s: after a longer time it may have died."""


def state_in_words(worker: WorkerView, at: float) -> str:
    """How it ended, where that is known; how long it was not seen, where it is late."""
    if is_late(worker, at):
        return f"not seen for {duration(at - worker.last_seen)}"
    if worker.state is WorkerState.ENDED and worker.ending:
        return worker.ending
    return worker.state.value


def is_late(worker: WorkerView, at: float) -> bool:
    """Whether it should have made another request by then."""
    return at - worker.last_seen >= UNSEEN_SECONDS.get(worker.state, inf)


def present(overview: Overview) -> int:
    """How many workers are here, without those of the listed ones that are late."""
    listed = sum(worker.state.is_present and is_late(worker, overview.now) for worker in overview.workers)
    return sum(overview.workers_in(state) for state in WorkerState if state.is_present) - listed


def in_a_line(overview: Overview) -> str:
    """How far a campaign is, as `langford status --watch` and the log of a server have it."""
    parts = [
        f"{percent(overview.work.done)} of the work",
        f"{overview.tasks.done:,.0f}/{several(overview.tasks.total, 'task')}",
        now(overview.speed.now, overview.speed.unit),
        "done" if overview.finished else "" if overview.eta is None else f"{left(overview)} left",
        several(present(overview), "worker"),
        notes(overview),
    ]
    return ", ".join(filter(None, parts))


def left(overview: Overview) -> str:
    """The time that is left; empty: it is not known."""
    if overview.finished is not None:
        return "done"
    return "" if overview.eta is None else time_left(overview.eta.seconds)


def notes(overview: Overview) -> str:
    """What an operator should look at, in a few words."""
    warnings, still = len(overview.warnings), standstill(overview)
    numbers = {
        "set aside": overview.tasks.set_aside,
        "in conflict": overview.checked.conflicts,
        "to recheck": overview.tasks.recheck,
        "warning" if warnings == 1 else "warnings": warnings,
    }
    wrong = VERDICTS[False] if overview.agrees is False else ""
    numbered = [f"{number:,} {label}" for label, number in numbers.items() if number]
    return ", ".join(filter(None, [wrong, still, *numbered]))


def standstill(overview: Overview) -> str:
    """Why an unfinished campaign has no workers although nothing is wrong: "new" or "paused"; else empty."""
    tasks = overview.tasks
    warned = {warning.kind for warning in overview.warnings}
    is_here = any(worker.state.is_present for worker in overview.workers)
    if is_here or WarningKind.NO_WORKERS in warned or not tasks.ready + tasks.leased + tasks.recheck:
        return ""
    return "paused" if tasks.done or overview.workers else "new"
