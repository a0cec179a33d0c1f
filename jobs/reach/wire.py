"""The messages between the task server and its clients, and their version.

Each message is declared once, for its reader and its writer; :mod:`db.messages` has the types of the fields.
The integers of results are decimal text: they exceed what readers of JSON keep exactly.

Requests and answers state the version in a header; the messages themselves do not.  Versions that are one minor
version apart work together: the newer side sends and accepts what the older one knows.  Any other change needs a
new major version.  docs/compatibility.md lists all versions; a test keeps the fields of this one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Self, TypeVar

from msgspec import Meta, Struct

from db.attempts import Credential, Delivery, Lease, Receipt
from db.identity import Identity
from db.messages import BadMessage, Count, Message, Moment, Real, Seconds, Text, Uuid
from db.states import COMPLAINTS, Ending, Outcome, Role
from langford.errors import LangfordError

Q = TypeVar("Q")
A = TypeVar("A")
MAX_AT_ONCE = 1_000
MAX_HELD = 100_000
GIVEN_UP = Outcome.RELEASED, Outcome.PREEMPTED, *COMPLAINTS
"""How a worker may end an attempt without a result."""

Several = Meta(max_length=MAX_AT_ONCE)


# -- requests of workers ----------------------------------------------------------------------


class Departure(Message, frozen=True, kw_only=True):
    worker: Uuid
    ending: Ending

    def __post_init__(self) -> None:
        if self.ending is Ending.LOST:
            raise ValueError("ending: no worker says that it was lost")


class LeaseRequest(Message, frozen=True, kw_only=True):
    campaign: Uuid  # UUID of the campaign that the worker has seen first
    worker: Text
    count: Annotated[int, Meta(ge=1, le=MAX_AT_ONCE)]
    seconds: Real
    held: Annotated[list[Count], Meta(max_length=MAX_HELD)]  # all attempts that the worker has
    copies: Count  # how many tasks at most that others hold, when none is ready


class Newcomer(Message, frozen=True, kw_only=True):
    """A worker that registers, and what it asks for first."""

    worker: Identity
    lease: LeaseRequest

    def __post_init__(self) -> None:
        if self.lease.worker != self.worker.worker_id:
            raise ValueError("lease: another worker asks for it")


class Renewal(Message, frozen=True, kw_only=True):
    """Leases that shall last ``seconds`` more."""

    attempts: Annotated[list[Credential], Several]
    seconds: Real
    steps: Annotated[list[tuple[Count, Count]], Several]  # pairs of an attempt and the steps that it has done
    computed: Annotated[tuple[tuple[Count, Seconds], ...], Several] = ()  # and the seconds that it was computed


class End(Message, frozen=True, kw_only=True):
    """Attempts that bring no result, how they ended, and why."""

    attempts: Annotated[list[Credential], Several]
    outcome: Outcome
    note: Text
    computed: Annotated[tuple[tuple[Count, Seconds], ...], Several] = ()  # as in a renewal

    def __post_init__(self) -> None:
        if self.outcome not in GIVEN_UP:
            raise ValueError(f"outcome: an attempt without a result ends as {', '.join(GIVEN_UP)}")
        if self.outcome in COMPLAINTS and len(self.attempts) > 1:
            raise ValueError("attempts: one task fails at a time")  # each is judged, while all others wait


class Results(Message, frozen=True, kw_only=True):
    """Results; ``now``: the time by the clock of their worker, in seconds since 1970."""

    deliveries: Annotated[list[Delivery], Several]
    now: Moment


class Exchange(Message, frozen=True, kw_only=True):
    """Results, and what a worker asks for next: the tasks whose results it delivers are done before that."""

    results: Results
    lease: LeaseRequest


# -- answers of the server --------------------------------------------------------------------


class Leases(Message, frozen=True, kw_only=True):
    leases: Annotated[list[Lease], Several]


class Enrolled(Leases, frozen=True, kw_only=True):
    """The first leases of a worker, and seconds per unit of work of others like it; None: unknown."""

    pace: Real | None


class Running(Message, frozen=True, kw_only=True):
    running: Annotated[list[Count], Several]


class SetAside(Message, frozen=True, kw_only=True):
    """The attempts of tasks that failed too often, and that no worker gets any more."""

    set_aside: Annotated[list[Count], Several]


class Receipts(Message, frozen=True, kw_only=True):
    """What became of results, in the order in which they were sent."""

    receipts: Annotated[list[Receipt], Several]


class Exchanged(Receipts, frozen=True, kw_only=True):
    """What became of results, and the leases that were granted after them."""

    leases: Annotated[list[Lease], Several]


class Reopened(Message, frozen=True, kw_only=True):
    """How many tasks that were set aside workers may get again."""

    reopened: Count


class Done(Message, frozen=True, kw_only=True):
    """An answer without content."""


class Failure(Struct, frozen=True):
    """Why a request was refused; a proxy may say more."""

    error: str


class TaskNumbers(Message, frozen=True, kw_only=True):
    total: Count
    done: Count


class Listed(Message, frozen=True, kw_only=True):
    """A campaign in the list of those that a token opens; ``finished``: a time in UTC."""

    campaign: Text
    problem: Text
    title: Text  # the problem in words
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


ENROL = Operation("/workers", Role.WORKER, Newcomer, Enrolled)
LEAVE = Operation("/departures", Role.WORKER, Departure, Done)
LEASE = Operation("/leases", Role.WORKER, LeaseRequest, Leases)
RENEW = Operation("/renewals", Role.WORKER, Renewal, Running)
END = Operation("/ends", Role.WORKER, End, SetAside)
DELIVER = Operation("/results", Role.WORKER, Results, Receipts)
EXCHANGE = Operation("/exchanges", Role.WORKER, Exchange, Exchanged)
RETRY = Operation("/retries", Role.ADMIN, dict[str, Any], Reopened)


# -- versions ---------------------------------------------------------------------------------

HEADER = "Langford-Wire"


class OtherVersion(LangfordError):
    """The messages of a client have a version that the server does not understand."""


@dataclass(frozen=True, order=True)
class WireVersion:
    major: int
    minor: int

    @classmethod
    def stated(cls, text: str | None) -> Self:
        """The version in a header; this one without a header, as of programs of users.  Raises BadMessage.

        >>> str(WireVersion.stated("2.10"))
        '2.10'
        """
        found = re.fullmatch(r"([0-9]{1,4})\.([0-9]{1,4})", str(SPOKEN) if text is None else text)
        if found is None:
            raise BadMessage(f"{HEADER}: expected a version like {SPOKEN}, got {text!r:.40}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


SPOKEN = WireVersion(2, 0)
"""The version that this program speaks."""


def disagreement(client: WireVersion, server: WireVersion) -> str | None:
    """Why a client and a server do not understand each other, which is the older one, and what to do.

    None: they are at most one minor version apart.

    >>> disagreement(WireVersion(1, 1), WireVersion(1, 2))
    >>> disagreement(WireVersion(1, 0), WireVersion(1, 2)).partition(":")[0]
    'the client is older than the server (messages 1.0 and 1.2)'
    """
    if client.major == server.major and abs(client.minor - server.minor) <= 1:
        return None
    if client < server:
        return (
            f"the client is older than the server (messages {client} and {server}): install the server's version "
            "of langford for the client"
        )
    return (
        f"the server is older than the client (messages {server} and {client}): upgrade langford on the server, or "
        "use the server's version for the client"
    )


def require_understood(stated: str | None) -> None:
    """Raises OtherVersion for a client that states a version which this program does not understand, or BadMessage.

    ``stated``: what the client states; None: nothing.
    """
    reason = disagreement(WireVersion.stated(stated), SPOKEN)
    if reason is not None:
        raise OtherVersion(reason)
