"""The messages between the task server and its workers, and how they become what the two work with.

Each message is declared once, for its reader and its writer; :mod:`db.messages` has the types of the fields.
The integers of results are decimal text: they exceed what readers of JSON keep exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Generic, Self, TypeVar

from msgspec import Meta, Struct

from db.attempts import Credential, Delivery, Lease, Receipt
from db.messages import MAX_TEXT, BadMessage, Count, Message, ProblemName, Real, Text, Uuid, problem
from db.records import Standing
from db.states import Ending, EventKind, Outcome, Role
from jobs.reach.identity import Identity
from langford.methods import LARGEST_SEED, PlanKey

Q = TypeVar("Q")
A = TypeVar("A")
MAX_AT_ONCE = 1_000
MAX_HELD = 100_000
MAX_CAMPAIGNS = 10_000

ACCEPTED = "accepted"
"""What a receipt says when it has no event."""
Several = Meta(max_length=MAX_AT_ONCE)


class Address(Message, frozen=True, kw_only=True):
    """What distinguishes a campaign from every other one."""

    ledger: Uuid
    campaign: Uuid
    name: Text
    problem: ProblemName
    method: Text
    depth: Count
    seed: Annotated[int, Meta(ge=0, le=LARGEST_SEED)]


# -- requests of workers ----------------------------------------------------------------------


class Departure(Message, frozen=True, kw_only=True):
    """A worker that ends, and why."""

    worker: Uuid
    ending: Text

    @property
    def known_ending(self) -> Ending:
        """Raises BadMessage."""
        known = [ending for ending in Ending if ending is not Ending.LOST]
        if self.ending not in known:
            raise BadMessage(f"ending: expected that the work of a worker is {', '.join(known)}")
        return Ending(self.ending)


class LeaseRequest(Message, frozen=True, kw_only=True):
    """A worker that asks for tasks."""

    campaign: Uuid  # UUID of the campaign that the worker has seen first
    worker: Text
    count: Annotated[int, Meta(ge=1, le=MAX_AT_ONCE)]
    seconds: Real
    held: Annotated[list[Count], Meta(max_length=MAX_HELD)]  # all attempts that the worker has
    copies: Count  # how many tasks at most that others hold, when none is ready


class Renewal(Message, frozen=True, kw_only=True):
    """Leases that go on for ``seconds``; ``steps``: pairs of an attempt and the steps that it has done."""

    attempts: Annotated[list[Credential], Several]
    seconds: Real
    steps: Annotated[list[tuple[Count, Count]], Several]


class Release(Message, frozen=True, kw_only=True):
    """Tasks that a worker gives back."""

    attempts: Annotated[list[Credential], Several]
    outcome: Text
    note: Text

    @property
    def known_outcome(self) -> Outcome:
        """Raises BadMessage."""
        if self.outcome not in (Outcome.RELEASED, Outcome.PREEMPTED):
            raise BadMessage("outcome: an attempt is given back as released or preempted")
        return Outcome(self.outcome)


class End(Credential, frozen=True, kw_only=True):
    """An attempt that failed, or whose process died, and why."""

    reason: Text


class Results(Message, frozen=True, kw_only=True):
    """Results; ``now``: the time by the clock of their worker, in seconds since 1970."""

    deliveries: Annotated[list[Delivery], Several]
    now: Real


# -- answers of the server --------------------------------------------------------------------


class Description(Address, frozen=True, kw_only=True):
    """A campaign and its progress."""

    tasks: Count
    work: Real  # estimated work of all tasks, in the method's unit
    # tasks_by_state, work_by_state, rechecks, rechecking: see db.records.Standing
    tasks_by_state: dict[Text, Count]
    work_by_state: dict[Text, Real]
    rechecks: Count
    rechecking: Count
    kernels: Text  # hash of the server's code that computes, see langford.provenance.kernel_hash

    @classmethod
    def of(
        cls,
        ledger: str,
        uuid: str,
        name: str,
        key: PlanKey,
        tasks: int,
        work: float,
        standing: Standing,
        kernels: str,
    ) -> Self:
        return cls(
            ledger=ledger,
            campaign=uuid,
            name=name,
            problem=key.problem.name,
            method=key.method,
            depth=key.depth,
            seed=key.seed,
            tasks=tasks,
            work=work,
            tasks_by_state=standing.tasks,
            work_by_state=standing.work,
            rechecks=standing.rechecks,
            rechecking=standing.rechecking,
            kernels=kernels,
        )

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


class Pace(Message, frozen=True, kw_only=True):
    """Seconds per unit of work of other workers with this kind of device; None: unknown."""

    pace: Real | None


class Leases(Message, frozen=True, kw_only=True):
    """The leases that a worker gets."""

    leases: Annotated[list[Lease], Several]


class Running(Message, frozen=True, kw_only=True):
    """The attempts that still run."""

    running: Annotated[list[Count], Several]


class SetAside(Message, frozen=True, kw_only=True):
    """Whether a task failed too often, and no worker gets it any more."""

    set_aside: bool


class ReceiptFields(Message, frozen=True, kw_only=True):
    """What became of a delivery; ``event``: a kind of event, or ACCEPTED."""

    event: Text
    detail: Text

    @classmethod
    def of_receipt(cls, receipt: Receipt) -> Self:
        return cls(event=receipt.event or ACCEPTED, detail=receipt.detail[:MAX_TEXT])

    @property
    def receipt(self) -> Receipt:
        """Raises BadMessage."""
        events = {ACCEPTED: None, **{event.value: event for event in EventKind}}
        if self.event not in events:
            raise BadMessage(f"event: no result can be {self.event!r:.60}")
        return Receipt(events[self.event], self.detail)


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


# -- operations -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Operation(Generic[Q, A]):
    """A request to a campaign, ``POST /campaigns/NAME`` and a path."""

    path: str  # what follows the name
    role: Role  # that a token needs for it
    # request, answer: the types of the messages
    request: type[Q]
    answer: type[A]


ENROL = Operation("/workers", Role.WORKER, Identity, Pace)
LEAVE = Operation("/departures", Role.WORKER, Departure, Done)
LEASE = Operation("/leases", Role.WORKER, LeaseRequest, Leases)
RENEW = Operation("/renewals", Role.WORKER, Renewal, Running)
RELEASE = Operation("/releases", Role.WORKER, Release, Done)
FAIL = Operation("/failures", Role.WORKER, End, SetAside)
DIE = Operation("/deaths", Role.WORKER, End, SetAside)
DELIVER = Operation("/results", Role.WORKER, Results, Receipts)
RETRY = Operation("/retries", Role.ADMIN, dict[str, Any], Reopened)
