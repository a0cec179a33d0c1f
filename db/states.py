"""The states of tasks, the outcomes of attempts and the kinds of events; all live here."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

FAILURES_BEFORE_SET_ASIDE = 3
"""A task that fails by itself this often is set aside.  Preemption and expiry do not count."""


class TaskState(StrEnum):
    """Where a task stands; only a committed result makes it DONE."""

    READY = "ready"
    LEASED = "leased"
    DONE = "done"
    SET_ASIDE = "set-aside"


class Outcome(StrEnum):
    """How an attempt ended; an attempt without outcome is running."""

    DONE = "done"
    RELEASED = "released"
    PREEMPTED = "preempted"
    EXPIRED = "expired"
    FAILED = "failed"
    SUPERSEDED = "superseded"


TASK_TRANSITIONS: Mapping[TaskState, frozenset[TaskState]] = {
    TaskState.READY: frozenset({TaskState.LEASED, TaskState.DONE}),
    TaskState.LEASED: frozenset({TaskState.READY, TaskState.DONE, TaskState.SET_ASIDE}),
    TaskState.DONE: frozenset(),
    TaskState.SET_ASIDE: frozenset({TaskState.READY, TaskState.DONE}),
}
"""What a transaction may make of a task's state.  A late result makes a task done from every other state."""

ATTEMPT_TRANSITIONS: Mapping[Outcome | None, frozenset[Outcome | None]] = {
    None: frozenset(Outcome),
    **{outcome: frozenset() for outcome in Outcome},
}
"""What a transaction may make of an attempt's outcome: a running attempt (None) ends once, in any way."""


class EventKind(StrEnum):
    """What is worth remembering about a campaign beside its attempts."""

    CREATED = "created"
    CONFIRMED = "confirmed"
    CONFLICT = "conflict"
    SETTLED = "settled"
    DISTRUSTED = "distrusted"
    REFUSED = "refused"
    SET_ASIDE = "set-aside"


class Role(StrEnum):
    """What the bearer of a token may do with a campaign; each role includes those before."""

    READER = "reader"
    WORKER = "worker"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Whether this role may do what ``other`` may."""
        return list(Role).index(self) >= list(Role).index(other)
