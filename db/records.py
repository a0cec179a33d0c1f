"""Immutable records that the ledger returns; none of them is a live database object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Self

from msgspec import Meta

from db.machines import Machine
from db.messages import Count, Message, ProblemName, Real, Text, Uuid, problem
from db.states import Role, TaskState
from langford.methods import MAX_SEED, PlanKey
from langford.methods.merging import Check

NO_STEPS: Mapping[int, int] = MappingProxyType({})
"""The steps of attempts, by attempt, when none are reported."""
NO_SECONDS: Mapping[int, float] = MappingProxyType({})
"""For how many seconds attempts were computed, by attempt, when nothing is said."""


@dataclass(frozen=True)
class CampaignRecord:
    campaign_id: int  # its number in this ledger
    uuid: str  # a random UUID, unique among the campaigns of all ledgers
    name: str
    key: PlanKey
    tasks: int
    work: float  # estimated work of all tasks, in the method's unit
    created: float
    recheck_share: float  # share of the results that another voter evaluates again, from 0 to 1


@dataclass(frozen=True, slots=True)
class Computation:
    """When and on which machine an exported result was computed, by the clock of the ledger that exported it."""

    worker: int  # its number among the workers of the export; their UUIDs are secret
    machine: Machine
    granted: float  # when the lease began, in seconds since 1970
    began: float | None  # when its computing began, in seconds since 1970; None: unknown
    ended: float  # when the attempt ended, in seconds since 1970


@dataclass(frozen=True)
class LeaseHolder:
    worker_id: str
    host: str
    process: str
    token: str  # the digest of its token; "": it opens the ledger itself


@dataclass(frozen=True)
class AttemptRecord:
    index: int
    granted: float  # when its lease began, in seconds since 1970
    age: float
    voter_id: int
    secret: str = field(repr=False)  # key of the draw of its campaign, see db.trust.draw
    # (value as decimal text, attempt) of the accepted result of the task; None: there is none
    accepted: tuple[str, int] | None


@dataclass(frozen=True)
class Right:
    """A right that a token gives; ``campaign`` is a UUID, ``number`` that of the token in the campaign's list."""

    campaign: str
    role: Role
    token: str
    number: int


@dataclass(frozen=True)
class TokenRecord:
    """A token as its campaign lists it; the ledger does not keep the token itself."""

    token_id: int  # its number, which names it when it is revoked
    role: Role
    label: str
    created: float
    expires: float | None
    used: float  # processor time of the task server for its requests, in seconds
    share: float  # its part of what the server used for all tokens of the campaign, from 0 to 1
    # Not known to a role of Postgres that may not read the hashes of tokens:
    workers: int | None  # that are known
    held: int | None  # leases that run
    leases: int | None  # that it has had
    results: int | None  # that these brought
    failures: int | None  # tasks that failed or ended a process


@dataclass(frozen=True)
class EventRecord:
    at: float
    kind: str  # a value of db.states.EventKind
    task: int | None
    detail: str


@dataclass(frozen=True)
class Standing:
    """How far a campaign is: its tasks and their work by state."""

    tasks: dict[str, int]
    work: dict[str, float]  # estimated work by state, in the method's unit
    rechecks: int = 0  # number of results that wait to be evaluated again
    rechecking: int = 0  # how many of them are being evaluated now

    @property
    def tasks_done(self) -> int:
        return self.tasks.get(TaskState.DONE, 0)

    @property
    def work_done(self) -> float:
        return self.work.get(TaskState.DONE, 0.0)

    @property
    def share_done(self) -> float:
        """The share of the work that is done; 1 where there is none."""
        whole = sum(self.work.values())
        return self.work_done / whole if whole else 1.0

    @property
    def missing(self) -> int:
        """Number of tasks without a result."""
        return sum(self.tasks.values()) - self.tasks_done

    @property
    def unfinished(self) -> int:
        """Number of tasks that are neither done nor set aside."""
        return self.tasks.get(TaskState.READY, 0) + self.tasks.get(TaskState.LEASED, 0)

    @property
    def is_stopped(self) -> bool:
        """Whether all tasks that are left are set aside, as those of a cancelled campaign."""
        return bool(self.missing) and not self.unfinished

    @property
    def to_do(self) -> int:
        """Number of tasks that are to be evaluated, for the first time or again."""
        return self.unfinished + self.rechecks


@dataclass(frozen=True)
class Replication:
    """How far the promised share of the results is replicated."""

    drawn: int  # number of results that were drawn, or contested
    replicated: int

    @property
    def words(self) -> str:
        return f"{self.replicated:,} of {self.drawn:,} drawn results replicated by independent voters"

    @property
    def checks(self) -> tuple[Check, ...]:
        """What a count says of it beside its other checks; nothing if nothing was drawn."""
        missing = "" if self.replicated == self.drawn else "NOT CONFIRMED: "
        return (Check(f"{missing}{self.words}"),) if self.drawn else ()


@dataclass(frozen=True)
class TaskRecord:
    index: int
    state: str
    work: float
    failures: int
    value: str | None  # the partial result as decimal text; None, like the following fields, without a result
    residue: str | None  # value mod 2^64 − 1 as decimal text
    evaluated: str | None  # products or nodes, as decimal text
    seconds: float | None
    provenance: str | None  # host, device, kernels and versions that computed the result, as JSON


@dataclass(frozen=True)
class Transport:
    """How a campaign is reached, and what a run does differently because of it."""

    whom: str  # who is asked, in words
    # Whether thousands of workers may ask.  Then a run waits while others hold all tasks, and keeps each result
    # on its disk until it has arrived; otherwise it ends, and keeps what does not arrive.
    is_remote: bool
    look_seconds: float  # how long a run waits for a result before it looks for signals; a result ends the wait
    overview_seconds: float  # longest time between two requests for the overview
    # Shortest and longest time between two requests for tasks when there are none; it doubles
    idle_seconds: tuple[float, float]


IN_LEDGER = Transport("the ledger", False, look_seconds=0.2, overview_seconds=5.0, idle_seconds=(0.0, 0.0))


class Address(Message, frozen=True):
    """What distinguishes a campaign from every other one."""

    ledger: Uuid
    campaign: Uuid
    name: Text
    problem: ProblemName
    method: Text
    depth: Count
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)]


class CampaignInfo(Address, frozen=True):
    tasks: Count
    work: Real  # estimated work of all tasks, in the method's unit
    # tasks_by_state, work_by_state, rechecks, rechecking: see db.records.Standing
    tasks_by_state: dict[Text, Count]
    work_by_state: dict[Text, Real]
    rechecks: Count
    rechecking: Count
    kernels: Text  # hash of the server's code that computes, see langford.provenance.kernel_hash

    @classmethod
    def of(cls, ledger: str, campaign: CampaignRecord, standing: Standing, kernels: str) -> Self:
        key = campaign.key
        plan = key.problem.name, key.method, key.depth, key.seed
        progress = standing.tasks, standing.work, standing.rechecks, standing.rechecking
        return cls(ledger, campaign.uuid, campaign.name, *plan, campaign.tasks, campaign.work, *progress, kernels)

    @property
    def key(self) -> PlanKey:
        return PlanKey(problem(self.problem), self.method, self.depth, self.seed)

    @property
    def standing(self) -> Standing:
        return Standing(self.tasks_by_state, self.work_by_state, self.rechecks, self.rechecking)

    @property
    def address(self) -> dict[str, Any]:
        """What distinguishes it from every other campaign, as the fields of :class:`Address`."""
        return {name: getattr(self, name) for name in Address.__struct_fields__}
