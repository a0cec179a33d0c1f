"""What the ledger hands out: plain immutable records, no live database objects."""

from __future__ import annotations

from dataclasses import dataclass

from db.states import TaskState
from langford.methods import PlanKey
from langford.result import Evaluation


@dataclass(frozen=True)
class CampaignRecord:
    """A campaign as it stands in the ledger.

    Attributes:
        campaign_id: its number in this ledger.
        name: unique in this ledger.
        key: its plan: problem, method and depth.
        tasks: number of tasks.
        work: estimated work of all tasks, in the method's unit.
        created: seconds since 1970.
        recheck_share: share of the results that another worker evaluates again.
    """

    campaign_id: int
    name: str
    key: PlanKey
    tasks: int
    work: float
    created: float
    recheck_share: float


@dataclass(frozen=True)
class Lease:
    """The right to work on a task until the deadline, unless renewed.

    Attributes:
        attempt: its number, the fencing token.
        index: of the task.
        work: the task's estimated work.
    """

    attempt: int
    index: int
    work: float


@dataclass(frozen=True)
class LeaseHolder:
    """A worker with running attempts, and how its host knows it: by the process."""

    worker: str
    host: str
    process: str


@dataclass(frozen=True)
class OwnAttempt:
    """An attempt as its worker's claim to a result.

    Attributes:
        index: of the task.
        worker: whose attempt it is.
        trusted: whether the worker is trusted.
        accepted: the task's result, if it has one: (value as decimal text, the attempt that brought it).
    """

    index: int
    worker: str
    trusted: bool
    accepted: tuple[str, int] | None


@dataclass(frozen=True)
class Delivery:
    """An evaluation that a worker hands in for an attempt."""

    attempt: int
    evaluation: Evaluation


@dataclass(frozen=True)
class Standing:
    """How many tasks a campaign has in each state: what of its progress costs little to ask.

    Attributes:
        tasks: number of tasks by state; a state without tasks is left out.
        work: estimated work by state, in the method's unit.
    """

    tasks: dict[str, int]
    work: dict[str, float]

    @property
    def unfinished(self) -> int:
        """Tasks that are neither done nor set aside."""
        return self.tasks.get(TaskState.READY, 0) + self.tasks.get(TaskState.LEASED, 0)


@dataclass(frozen=True)
class Progress(Standing):
    """How far a campaign is.

    Attributes:
        seconds: computing time of the accepted results.
        evaluated: points or nodes of the accepted results.
        attempts: ended attempts by outcome, and the running ones under "running".
        confirmed: results repeated with the same value.
        conflicts: tasks whose results disagree, not settled yet.
        rechecks: results that another worker shall evaluate again.
    """

    seconds: float
    evaluated: int
    attempts: dict[str, int]
    confirmed: int
    conflicts: int
    rechecks: int


@dataclass(frozen=True)
class TaskRecord:
    """One task with its result, if it has one; counts as decimal text."""

    index: int
    state: str
    work: float
    failures: int
    value: str | None
    residue: str | None
    evaluated: str | None
    seconds: float | None
    provenance: str | None
