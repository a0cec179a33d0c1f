"""The states of tasks, the outcomes of attempts, the kinds of events, and the roles of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

FAILURES_BEFORE_SET_ASIDE = 3
"""How often a task may fail by itself before it is set aside.  Preemption and expiry do not count."""
DEATHS_BEFORE_SET_ASIDE = 3
"""How often a task may end the process that evaluates it before it is set aside, see :mod:`db.work.deaths`."""


class TaskState(StrEnum):
    """The state of a task; only a committed result makes it DONE."""

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
    DIED = "died"
    SUPERSEDED = "superseded"


TASK_TRANSITIONS: Mapping[TaskState, frozenset[TaskState]] = {
    TaskState.READY: frozenset({TaskState.LEASED, TaskState.DONE, TaskState.SET_ASIDE}),
    TaskState.LEASED: frozenset({TaskState.READY, TaskState.DONE, TaskState.SET_ASIDE}),
    TaskState.DONE: frozenset(),
    TaskState.SET_ASIDE: frozenset({TaskState.READY, TaskState.DONE}),
}
"""The states that may follow each state of a task.  A late result makes a task done from every other state."""

ATTEMPT_TRANSITIONS: Mapping[Outcome | None, frozenset[Outcome | None]] = {
    None: frozenset(Outcome),
    **{outcome: frozenset() for outcome in Outcome},
}
"""The outcomes that may follow each outcome of an attempt: a running attempt (None) ends once, in any way."""


class VoterKind(StrEnum):
    """What the results of a voter are worth: a vote, evidence that asks for votes, or the decision."""

    WORKER = "worker"
    IMPORT = "import"
    OPERATOR = "operator"


class Doubt(StrEnum):
    """Why an accepted result is in doubt.

    Attributes:
        CONFLICT: results of its task disagree, and the votes do not decide.
        TIE: the same, and so many have voted that only the operator is asked.
        QUESTION: it was put in question, or lost the votes that a conflict had asked for.
    """

    CONFLICT = "conflict"
    TIE = "tie"
    QUESTION = "question"


class Ending(StrEnum):
    """How the work of a worker ended.

    Attributes:
        FINISHED: nothing was left to do for it.
        PREEMPTED: SIGTERM took it, as a scheduler does.
        STOPPED: another signal, its time limit or an error ended it.
        REPLACED: another campaign had the name of its own.
        LOST: it said nothing, and its last leases expired.
    """

    FINISHED = "finished"
    PREEMPTED = "preempted"
    STOPPED = "stopped"
    REPLACED = "replaced"
    LOST = "lost"


class EventKind(StrEnum):
    """The kinds of events that a ledger records beside the attempts."""

    CREATED = "created"
    IMPORT = "import"
    CONFIRMED = "confirmed"
    CONFLICT = "conflict"
    SETTLED = "settled"
    QUESTIONED = "questioned"
    DISTRUSTED = "distrusted"
    REFUSED = "refused"
    SET_ASIDE = "set-aside"


class NoticeKind(StrEnum):
    """What an operator is told who is not there.

    Attributes:
        DONE: every task has its result, and nothing waits for another worker.
        STALLED: there is work, and nobody does it.
        CONFLICT: results of a task disagree.
        DISTRUSTED: a result was found wrong, and who handed it in is trusted no more.
        SET_ASIDE: a task failed too often.
    """

    DONE = "done"
    STALLED = "stalled"
    CONFLICT = "conflict"
    DISTRUSTED = "distrusted"
    SET_ASIDE = "set_aside"


class Role(StrEnum):
    """The rights of the bearer of a token; each role includes those before it."""

    READER = "reader"
    WORKER = "worker"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Whether this role may do what ``other`` may."""
        return list(Role).index(self) >= list(Role).index(other)
