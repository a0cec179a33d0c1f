"""Immutable records that the ledger returns; none of them is a live database object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from db.machines import Machine
from db.states import Role, TaskState
from langford.methods import PlanKey

NO_STEPS: Mapping[int, int] = MappingProxyType({})
"""The steps of attempts, by attempt, when none are reported."""


@dataclass(frozen=True)
class CampaignRecord:
    """A row of the ledger's table of campaigns.

    Attributes:
        campaign_id: its number in this ledger.
        uuid: a random UUID, unique among the campaigns of all ledgers.
        work: estimated work of all tasks, in the method's unit.
        recheck_share: share of the results that another voter evaluates again, from 0 to 1.
    """

    campaign_id: int
    uuid: str
    name: str
    key: PlanKey
    tasks: int
    work: float
    created: float
    recheck_share: float


@dataclass(frozen=True)
class Computation:
    """When and on which machine an exported result was computed, by the clock of the ledger that exported it.

    Attributes:
        granted: when the lease began, in seconds since 1970.
        began: when its computing began, in seconds since 1970; None: unknown.
        ended: when the attempt ended, in seconds since 1970.
    """

    machine: Machine
    granted: float
    began: float | None
    ended: float


@dataclass(frozen=True)
class LeaseHolder:
    """A worker with running attempts."""

    worker_id: str
    host: str
    process: str


@dataclass(frozen=True)
class AttemptRecord:
    """An attempt for which a result may be delivered.

    Attributes:
        nonce: SHA-256 of its nonce; None for an attempt of an earlier version.
        granted: when its lease began, in seconds since 1970.
        share: share of the results of its campaign that another voter evaluates again.
        accepted: (value as decimal text, attempt) of the accepted result of the task; None: there is none.
    """

    index: int
    nonce: str | None
    granted: float
    age: float
    voter_id: int
    share: float
    accepted: tuple[str, int] | None


@dataclass(frozen=True)
class Right:
    """A right that a token gives; ``campaign`` is a UUID."""

    campaign: str
    role: Role
    token: str


@dataclass(frozen=True)
class TokenRecord:
    """A token as its campaign lists it; the ledger does not keep the token itself.

    Attributes:
        token_id: its number, which names it when it is revoked.
    """

    token_id: int
    role: Role
    label: str
    created: float
    expires: float | None


@dataclass(frozen=True)
class EventRecord:
    """An event in the history of a campaign.

    Attributes:
        kind: a value of :class:`db.states.EventKind`.
    """

    event_id: int
    at: float
    kind: str
    task: int | None
    attempt: int | None
    detail: str


@dataclass(frozen=True)
class Standing:
    """The remaining work of a campaign: the part of its progress that is cheap to query.

    Attributes:
        work: estimated work by state, in the method's unit.
        rechecks: number of results that wait to be evaluated again.
        rechecking: how many of them are being evaluated now.
    """

    tasks: dict[str, int]
    work: dict[str, float]
    rechecks: int = 0
    rechecking: int = 0

    @property
    def tasks_done(self) -> int:
        return self.tasks.get(TaskState.DONE, 0)

    @property
    def work_done(self) -> float:
        return self.work.get(TaskState.DONE, 0.0)

    @property
    def unfinished(self) -> int:
        """Number of tasks that are neither done nor set aside."""
        return self.tasks.get(TaskState.READY, 0) + self.tasks.get(TaskState.LEASED, 0)

    @property
    def to_do(self) -> int:
        """Number of tasks that are to be evaluated, for the first time or again."""
        return self.unfinished + self.rechecks


@dataclass(frozen=True, kw_only=True)
class Progress(Standing):
    """How far a campaign is.

    Attributes:
        evaluated: total number of products or nodes of the accepted results.
        attempts: number of ended attempts by outcome, and of running ones under "running".
        confirmed: number of further results that agree with the accepted ones.
    """

    seconds: float
    evaluated: int
    attempts: dict[str, int]
    confirmed: int
    conflicts: int
    replication: Replication


@dataclass(frozen=True)
class Replication:
    """How far the promised share of the results is replicated.

    Attributes:
        drawn: number of results that were drawn, or contested.
    """

    drawn: int
    replicated: int

    @property
    def words(self) -> str:
        return f"{self.replicated:,} of {self.drawn:,} drawn results replicated by independent voters"


@dataclass(frozen=True)
class TaskRecord:
    """One task with its result, if it has one.

    Attributes:
        value: the partial result as decimal text; None, like the following fields, without a result.
        residue: value mod 2^64 − 1 as decimal text.
        evaluated: products or nodes, as decimal text.
        provenance: host, device, kernels and versions that computed the result, as JSON.
    """

    index: int
    state: str
    work: float
    failures: int
    value: str | None
    residue: str | None
    evaluated: str | None
    seconds: float | None
    provenance: str | None
