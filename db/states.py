"""The states of tasks, outcomes of attempts, kinds of events, roles of tokens, and names of campaigns."""

from __future__ import annotations

import re
from enum import StrEnum

from db.errors import BadName

FAILURES_BEFORE_SET_ASIDE = 3
"""Attempts that fail, or end their process, after which a task may be set aside, see :mod:`db.trust.complaints`.
Preemption and expiry do not count."""
MAX_NAME = 100
NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{MAX_NAME - 1}}}")
"""The name of a campaign: addresses, file names, scripts and tables contain it without quotes."""


class TaskState(StrEnum):
    """The state of a task; only a committed result makes a task DONE."""

    READY = "ready"
    LEASED = "leased"
    DONE = "done"
    SET_ASIDE = "set-aside"


class Outcome(StrEnum):
    """How an attempt ended; an attempt without an outcome is running."""

    DONE = "done"
    RELEASED = "released"
    PREEMPTED = "preempted"
    EXPIRED = "expired"
    FAILED = "failed"
    DIED = "died"
    SUPERSEDED = "superseded"


COMPLAINTS = (Outcome.FAILED, Outcome.DIED)
"""The outcomes of attempts that say something about their task."""


class VoterKind(StrEnum):
    """A voter's result is a vote (WORKER), evidence that calls for votes (IMPORT), or a decision (OPERATOR)."""

    WORKER = "worker"
    IMPORT = "import"
    OPERATOR = "operator"


class Doubt(StrEnum):
    """Why an accepted result is in doubt.

    Attributes:
        CONFLICT: results of its task disagree, and the votes have not decided yet.
        TIE: results disagree after the maximum number of votes; only the operator can decide.
        QUESTION: it was put in question, or lost the votes that a conflict had called for.
    """

    CONFLICT = "conflict"
    TIE = "tie"
    QUESTION = "question"


class Ending(StrEnum):
    """How the work of a worker ended.

    Attributes:
        FINISHED: nothing was left to do for it.
        PREEMPTED: it received SIGTERM, as from a scheduler.
        STOPPED: another signal, its time limit or an error ended it.
        REPLACED: the name of its campaign belonged to another campaign.
        LOST: its last leases expired, and it did not say that it ended.
    """

    FINISHED = "finished"
    PREEMPTED = "preempted"
    STOPPED = "stopped"
    REPLACED = "replaced"
    LOST = "lost"


class EventKind(StrEnum):
    """The kinds of events that a ledger records, in addition to the attempts."""

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
    """What an operator is notified of.

    Attributes:
        DONE: every task has a result, and no result waits to be evaluated again.
        STALLED: there is work, but no worker does any.
        CONFLICT: results of a task disagree.
        DISTRUSTED: a result was found wrong, and its worker is no longer trusted.
        SET_ASIDE: a task failed too often.
    """

    DONE = "done"
    STALLED = "stalled"
    CONFLICT = "conflict"
    DISTRUSTED = "distrusted"
    SET_ASIDE = "set_aside"


class Role(StrEnum):
    """The rights of the bearer of a token; each role includes the earlier ones."""

    READER = "reader"
    WORKER = "worker"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Whether this role may do all that ``other`` may do."""
        return list(Role).index(self) >= list(Role).index(other)


def require_name(name: str) -> str:
    """The name itself, if a campaign may have it; raises BadName."""
    if not NAME.fullmatch(name):
        raise BadName(
            f"{name!r:.120} is not a valid campaign name: use 1 to {MAX_NAME} letters (a-z, A-Z), digits "
            "and . _ -, the first a letter or digit"
        )
    return name


def require_new_name(name: str) -> str:
    """As :func:`require_name`, for a new name: a number would be taken for n by `langford run`."""
    if name.isdecimal():
        raise BadName(f"a campaign name cannot be a number: `langford run {name:.20}` counts n = {name:.20}")
    return require_name(name)
