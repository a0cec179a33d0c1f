"""The states of tasks, the outcomes of attempts and the kinds of events; all live here."""

from __future__ import annotations

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
