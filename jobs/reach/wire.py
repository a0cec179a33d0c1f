"""The messages between the task server and its workers, and how they become what the two work with.

Each message is declared once, for its reader and its writer; :mod:`db.files.messages` has the types of the fields.
The integers of results are decimal text: they exceed what readers of JSON keep exactly.
"""

from __future__ import annotations

from typing import Annotated, Self

from msgspec import Meta, Struct

from db import Standing
from db.files.messages import (
    ALPHANUMERIC,
    BadMessage,
    Count,
    MachineFields,
    Message,
    Real,
    Text,
    Uuid,
    problem,
)
from db.states import Ending, Outcome
from jobs.reach.identity import PROCESS, Identity
from jobs.reach.parts import (
    Address,
    CampaignInfo,
    CredentialFields,
    DeliveryFields,
    LeaseFields,
    ReceiptFields,
)
from langford.methods import PlanKey

MOST_AT_ONCE = 1_000
MOST_HELD = 100_000
MOST_CAMPAIGNS = 10_000

Hash = Annotated[str, Meta(max_length=64, pattern=ALPHANUMERIC)]
Several = Meta(max_length=MOST_AT_ONCE)


# -- requests of workers ----------------------------------------------------------------------


class Enrolment(MachineFields, frozen=True, kw_only=True):
    """A worker that registers."""

    worker: Uuid
    process: Text
    kernels: Hash

    @classmethod
    def of_identity(cls, identity: Identity) -> Self:
        """The message about a worker."""
        return cls(
            worker=identity.worker_id,
            process=identity.process,
            kernels=identity.kernels,
            **cls.fields_of(identity.host, identity.device_kind, identity.equipment),
        )

    @property
    def identity(self) -> Identity:
        """The inverse of :meth:`of_identity`; raises BadMessage."""
        if not PROCESS.fullmatch(self.process):
            raise BadMessage("process: expected a process as number@start@boot")
        machine = str(self.host), self.process, self.device_kind
        return Identity(self.worker, *machine, self.kernels, self.equipment)


class Departure(Message, frozen=True, kw_only=True):
    """A worker that ends, and why."""

    worker: Uuid
    ending: Text

    @property
    def known_ending(self) -> Ending:
        """How its work ended; raises BadMessage."""
        known = [ending for ending in Ending if ending is not Ending.LOST]
        if self.ending not in known:
            raise BadMessage(f"ending: expected that the work of a worker is {', '.join(known)}")
        return Ending(self.ending)


class LeaseRequest(Message, frozen=True, kw_only=True):
    """A worker that asks for tasks.

    Attributes:
        campaign: UUID of the campaign that the worker has seen first.
        worker: its UUID.
        count: how many tasks at most.
        seconds: until their deadline.
        held: all attempts that the worker has.
        copies: how many tasks at most that others hold, when none is ready.
    """

    campaign: Uuid
    worker: Text
    count: Annotated[int, Meta(ge=1, le=MOST_AT_ONCE)]
    seconds: Real
    held: Annotated[list[Count], Meta(max_length=MOST_HELD)]
    copies: Count


class Renewal(Message, frozen=True, kw_only=True):
    """Leases that go on for ``seconds``; ``steps``: pairs of an attempt and the steps that it has done."""

    attempts: Annotated[list[CredentialFields], Several]
    seconds: Real
    steps: Annotated[list[tuple[Count, Count]], Several]


class Release(Message, frozen=True, kw_only=True):
    """Tasks that a worker gives back."""

    attempts: Annotated[list[CredentialFields], Several]
    outcome: Text
    note: Text

    @property
    def known_outcome(self) -> Outcome:
        """The outcome of the attempts; raises BadMessage."""
        if self.outcome not in (Outcome.RELEASED, Outcome.PREEMPTED):
            raise BadMessage("outcome: an attempt is given back as released or preempted")
        return Outcome(self.outcome)


class End(CredentialFields, frozen=True, kw_only=True):
    """An attempt that failed, or whose process died, and why."""

    reason: Text


class Results(Message, frozen=True, kw_only=True):
    """Results; ``now``: the time by the clock of their worker, in seconds since 1970."""

    deliveries: Annotated[list[DeliveryFields], Several]
    now: Real


# -- answers of the server --------------------------------------------------------------------


class Description(Address, frozen=True, kw_only=True):
    """A campaign and its progress, see :class:`CampaignInfo`."""

    tasks: Count
    work: Real
    tasks_by_state: dict[Text, Count]
    work_by_state: dict[Text, Real]
    rechecks: Count
    rechecking: Count
    kernels: Text

    @classmethod
    def of_info(cls, info: CampaignInfo) -> Self:
        """The message about a campaign."""
        standing = info.standing
        return cls(
            **info.address,
            tasks=info.tasks,
            work=info.work,
            tasks_by_state=standing.tasks,
            work_by_state=standing.work,
            rechecks=standing.rechecks,
            rechecking=standing.rechecking,
            kernels=info.kernels,
        )

    @property
    def info(self) -> CampaignInfo:
        """The inverse of :meth:`of_info`; raises BadMessage or BadProblem."""
        key = PlanKey(problem(self.problem), self.method, self.depth, self.seed)
        standing = Standing(self.tasks_by_state, self.work_by_state, self.rechecks, self.rechecking)
        return CampaignInfo(
            self.ledger, self.campaign, self.name, key, self.tasks, self.work, standing, self.kernels
        )


class Pace(Message, frozen=True, kw_only=True):
    """Seconds per unit of work of other workers with this kind of device; None: unknown."""

    pace: Real | None


class Leases(Message, frozen=True, kw_only=True):
    """The leases that a worker gets."""

    leases: Annotated[list[LeaseFields], Several]


class Running(Message, frozen=True, kw_only=True):
    """The attempts that still run."""

    running: Annotated[list[Count], Several]


class SetAside(Message, frozen=True, kw_only=True):
    """Whether a task failed too often, and no worker gets it any more."""

    set_aside: bool


class Receipts(Message, frozen=True, kw_only=True):
    """What became of results, in the order in which they were sent."""

    receipts: Annotated[list[ReceiptFields], Several]


class Reopened(Message, frozen=True, kw_only=True):
    """How many tasks that were set aside workers may get again."""

    reopened: Count


class Done(Message, frozen=True, kw_only=True):
    """There is nothing to say."""


class Failure(Struct, frozen=True):
    """Why a request was refused; a proxy may say more."""

    error: str


class TaskNumbers(Message, frozen=True, kw_only=True):
    """Numbers of tasks."""

    total: Count
    done: Count


class Listed(Message, frozen=True, kw_only=True):
    """A campaign in the list of those that a token opens; ``finished``: a time in UTC."""

    campaign: Text
    problem: Text
    tasks: TaskNumbers
    finished: Text | None
