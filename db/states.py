"""The states of tasks, outcomes of attempts, kinds of events, roles of tokens, and names of campaigns."""

from __future__ import annotations

import re
from contextlib import suppress
from enum import StrEnum

from db.errors import BadName
from langford.errors import BadProblem
from langford.problem import Problem

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


LOST = (Outcome.PREEMPTED, Outcome.EXPIRED, Outcome.RELEASED, Outcome.FAILED, Outcome.DIED)
"""The outcomes of attempts that delivered no result, unless a late one."""
COMPLAINTS = (Outcome.FAILED, Outcome.DIED)
"""The outcomes of attempts that say something about their task."""


class VoterKind(StrEnum):
    """A voter's result is a vote (WORKER), evidence that calls for votes (IMPORT), or a decision (OPERATOR)."""

    WORKER = "worker"
    IMPORT = "import"
    OPERATOR = "operator"


class Doubt(StrEnum):
    """Why an accepted result is in doubt."""

    CONFLICT = "conflict"  # results of its task disagree, and the votes have not decided yet
    TIE = "tie"  # results disagree after the maximum number of votes; only the operator can decide
    QUESTION = "question"  # it was put in question, or lost the votes that a conflict had called for


GONE = "its process is gone"
"""Why the leases of a worker expire whose process is known to have ended."""


class Ending(StrEnum):
    """How the work of a worker ended."""

    FINISHED = "finished"  # nothing was left to do for it
    PREEMPTED = "preempted"  # it received SIGTERM, as from a scheduler
    STOPPED = "stopped"  # another signal, its time limit or an error ended it
    REPLACED = "replaced"  # the name of its campaign belonged to another campaign
    LOST = "lost"  # its last leases expired, and it did not say that it ended


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


class Role(StrEnum):
    """The rights of the bearer of a token; each role includes the earlier ones."""

    READER = "reader"
    WORKER = "worker"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    def includes(self, other: Role) -> bool:
        """Whether this role may do all that ``other`` may do."""
        return self.rank >= other.rank


def require_name(name: str) -> str:
    """The name itself, if a campaign may have it; raises BadName."""
    if not NAME.fullmatch(name):
        raise BadName(
            f"{name!r:.120} is not a valid campaign name: use 1 to {MAX_NAME} letters (a-z, A-Z), digits "
            "and . _ -, the first a letter or digit"
        )
    return name


def require_new_name(name: str) -> str:
    """As :func:`require_name`, for a new name, which must not mean a problem."""
    require_name(name)
    with suppress(BadProblem):
        problem = Problem.parse(name)
        raise BadName(f"{name:.80} means the problem {problem}: choose a name for the campaign that means none")
    return name
