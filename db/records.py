"""Immutable records that the ledger gives to its users; none of them is a live database object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from db.states import EventKind, Role, TaskState
from langford.methods import PlanKey
from langford.result import Evaluation

NO_STEPS: Mapping[int, int] = MappingProxyType({})
"""No attempt with the number of steps that it has done."""


@dataclass(frozen=True)
class CampaignRecord:
    """A row of the ledger's table of campaigns.

    Attributes:
        campaign_id: its number in this ledger.
        uuid: a random UUID, unique among the campaigns of all ledgers.
        name: unique in this ledger.
        key: its plan: problem, method, depth and seed.
        tasks: number of tasks.
        work: estimated work of all tasks, in the method's unit.
        created: seconds since 1970.
        recheck_share: share of the results that another voter evaluates again.
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
class Credential:
    """What a worker shows to change an attempt: the ledger believes its nonce, and nothing else.

    Attributes:
        attempt: its number, the fencing token.
        nonce: a random text, known only to the worker that got the lease.
    """

    attempt: int
    nonce: str


@dataclass(frozen=True)
class Lease(Credential):
    """The right to work on a task until the deadline, unless renewed.

    Attributes:
        index: of the task.
        work: the task's estimated work.
        is_copy: whether another worker holds the task too, and has for longer.
    """

    index: int
    work: float
    is_copy: bool = False


@dataclass(frozen=True)
class Equipment:
    """What a worker computes with, and where its log is; None: unknown.

    Attributes:
        cores: cores of the processor that it may use.
        processes: how many processes compute for it.
        device_model: what the maker calls its device.
        slurm_job: number of its job in SLURM, of the whole array where it is one.
        slurm_index: its index in the array.
    """

    cores: int | None = None
    processes: int | None = None
    device_model: str | None = None
    slurm_job: str | None = None
    slurm_index: int | None = None

    @property
    def slurm(self) -> str | None:
        """The job in SLURM as its log is named: "1234", or "1234_7" in an array."""
        return self.slurm_job if self.slurm_index is None else f"{self.slurm_job}_{self.slurm_index}"


UNKNOWN = Equipment()


@dataclass(frozen=True)
class Machine:
    """A worker as an export tells of it, which keeps its UUID a secret.

    Attributes:
        number: tells it from the other workers of the same export.
        host: name of its machine.
        device_kind: "cpu" or "cuda".
        equipment: what it computes with.
    """

    number: int
    host: str
    device_kind: str
    equipment: Equipment


@dataclass(frozen=True)
class Computation:
    """How an exported result came to be, by the clock of the ledger that exported it.

    Attributes:
        machine: who evaluated it.
        granted: when the lease began, in seconds since 1970.
        began: when its computing began; None: unknown.
        ended: when the attempt ended.
    """

    machine: Machine
    granted: float
    began: float | None
    ended: float


@dataclass(frozen=True)
class LeaseHolder:
    """A worker with running attempts.

    Attributes:
        worker_id: the worker.
        host: name of its machine.
        process: its name on that machine, see :func:`jobs.run.identity.process_name`.
    """

    worker_id: str
    host: str
    process: str


@dataclass(frozen=True)
class AttemptRecord:
    """An attempt for which a result may be delivered.

    Attributes:
        index: of the task.
        nonce: SHA-256 of its nonce; None for an attempt of an earlier version.
        granted: when its lease began.
        voter_id: who vouches for its result.
        share: of the results of its campaign that another voter evaluates again.
        accepted: the accepted result of the task, if there is one: (value as decimal text, its attempt).
    """

    index: int
    nonce: str | None
    granted: float
    voter_id: int
    share: float
    accepted: tuple[str, int] | None


@dataclass(frozen=True)
class Right:
    """What a token opens.

    Attributes:
        campaign: UUID of the campaign.
        role: what the bearer of the token may do with it.
        token: the token itself.
    """

    campaign: str
    role: Role
    token: str


@dataclass(frozen=True)
class TokenRecord:
    """A token, as its campaign lists it; the token itself is not kept.

    Attributes:
        token_id: its number, by which it is revoked.
        role: what its bearer may do.
        label: what it is for, in the operator's words.
        created: seconds since 1970.
        expires: seconds since 1970; None: when it is revoked.
    """

    token_id: int
    role: Role
    label: str
    created: float
    expires: float | None


@dataclass(frozen=True)
class Delivery(Credential):
    """An evaluation that a worker delivers for an attempt.

    Attributes:
        evaluation: the result with its time and provenance.
    """

    evaluation: Evaluation


@dataclass(frozen=True)
class Receipt:
    """What became of a delivery.

    Attributes:
        event: confirmed, conflict or refused; None when the result was accepted, now or when it came before.
        detail: the values that were compared, or why the delivery was refused.
    """

    event: EventKind | None
    detail: str = ""


@dataclass(frozen=True)
class EventRecord:
    """An event in the history of a campaign.

    Attributes:
        event_id: its number; a later one has a greater number.
        at: seconds since 1970.
        kind: a value of :class:`db.states.EventKind`.
        task: which task it is about; None: none, or several.
        attempt: which attempt it is about; None: none, or several.
        detail: what happened, in words.
    """

    event_id: int
    at: float
    kind: str
    task: int | None
    attempt: int | None
    detail: str


@dataclass(frozen=True)
class Standing:
    """What a campaign has left to do: the part of its progress that is cheap to ask for.

    Attributes:
        tasks: number of tasks by state; a state without tasks is left out.
        work: estimated work by state, in the method's unit.
        rechecks: number of results that another voter shall evaluate again.
        rechecking: how many of them somebody evaluates now.
    """

    tasks: dict[str, int]
    work: dict[str, float]
    rechecks: int = 0
    rechecking: int = 0

    @property
    def unfinished(self) -> int:
        """Tasks that are neither done nor set aside."""
        return self.tasks.get(TaskState.READY, 0) + self.tasks.get(TaskState.LEASED, 0)

    @property
    def to_do(self) -> int:
        """Tasks that workers shall evaluate, for the first time or again."""
        return self.unfinished + self.rechecks


@dataclass(frozen=True, kw_only=True)
class Progress(Standing):
    """How far a campaign is.

    Attributes:
        seconds: computing time of the accepted results.
        evaluated: points or nodes of the accepted results.
        attempts: number of ended attempts by outcome, and of running ones under "running".
        confirmed: number of further results that agree with the accepted ones.
        conflicts: number of tasks whose results disagree, not settled yet.
        replication: how far the promised share is replicated.
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
        replicated: how many of them trusted, independent voters confirmed.
    """

    drawn: int
    replicated: int

    @property
    def words(self) -> str:
        """ "k of n replicated"."""
        return f"{self.replicated:,} of {self.drawn:,} drawn results replicated by independent voters"


@dataclass(frozen=True)
class TaskRecord:
    """One task with its result, if it has one.

    Attributes:
        index: of the task.
        state: a value of :class:`db.states.TaskState`.
        work: estimated work, in the method's unit.
        failures: how often it failed by itself.
        value: the partial result as decimal text; like the following fields None without a result.
        residue: value mod 2^64 − 1 as decimal text.
        evaluated: points or nodes, as decimal text.
        seconds: computing time.
        provenance: where the result comes from, as JSON.
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
