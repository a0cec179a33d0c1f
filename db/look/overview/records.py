"""An overview of a campaign: immutable records, with no connection to a database.

Each record is also the form of its JSON (:mod:`db.files.messages`), in which times and the count are text.  Work is
in the unit of the campaign's method.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Generic, Self, TypeVar

from msgspec import Meta

from db.files import messages
from db.files.messages import STORABLE, Count, Message, Real, Text, Time

MOST_WORKERS, MOST_ENTRIES = 100_000, 10_000
LONGEST_EVENT, LONGEST_COUNT = 100_000, 1_000
"""Characters of the text of an event, and digits of a count."""
N = TypeVar("N", int, float)
ID_LENGTH = 8
"""Characters of a worker's UUID that are shown: the whole is a secret between it and the server."""


class Presence(StrEnum):
    """What a worker does, as far as the ledger knows.

    Attributes:
        WORKING: it holds leases.
        IDLE: it holds none, and was heard of a short time ago.
        SILENT: it has not been heard of for long, and has not said that it ends.
        ENDED: it said that it ends, or its leases expired and it did not come back.
        DISTRUSTED: others found a result of it wrong.
    """

    WORKING = "working"
    IDLE = "idle"
    SILENT = "silent"
    ENDED = "ended"
    DISTRUSTED = "distrusted"


class WarningKind(StrEnum):
    """What an operator should look at."""

    SILENT_WORKER = "silent_worker"
    CONFLICT = "conflict"
    RECHECK_WITHOUT_SECOND_WORKER = "recheck_without_second_worker"
    DISK_NEARLY_FULL = "disk_nearly_full"
    SLOW_DEVICE = "slow_device"
    SET_ASIDE = "set_aside"
    DISTRUSTED = "distrusted"
    NO_WORKERS = "no_workers"


class Total(int):
    """A count, which may exceed what readers of JSON keep exactly: in JSON it is decimal text."""

    @classmethod
    def of_text(cls, text: str) -> Self:
        """The count in a decimal text."""
        if len(text) > LONGEST_COUNT or not (text.isascii() and text.isdecimal()):
            raise ValueError(f"expected a count, got {text!r:.60}")
        return cls(text)

    def to_text(self) -> str:
        """The count as decimal text."""
        return str(int(self))


class Parts(Message, Generic[N], frozen=True):
    """Numbers of tasks by state, or shares of the work.

    Attributes:
        total: all of them; of work 1.
        done: with an accepted result.
        leased: without one, and some worker holds it.
        ready: without one, and nobody holds it.
        set_aside: failed too often.
        recheck: those of ``done`` that another worker shall evaluate again.
    """

    total: N
    done: N
    leased: N
    ready: N
    set_aside: N
    recheck: N


class Speed(Message, frozen=True):
    """How fast the work is done.

    Attributes:
        now: work per second of the results that arrived of late; None: nobody works, or nothing has arrived.
        average: work per second from the first lease on; None when nothing is done.
        tasks_per_minute_now: like ``now``.
        unit: of the work, "points" or "nodes".
        seconds: how long "of late" is.
    """

    now: Real | None
    average: Real | None
    tasks_per_minute_now: Real | None
    unit: Text
    seconds: Real | None


class Eta(Message, frozen=True):
    """When the campaign will be done if it goes on like now.

    Attributes:
        seconds: from now.
        earliest: nine of ten campaigns whose speed varies as much are done between this time
        latest: and this time.
    """

    seconds: Real
    earliest: Time
    latest: Time


class Preempted(Message, frozen=True):
    """What a worker began and did not finish.

    Attributes:
        count: attempts that were preempted, released, or whose time was over.
        seconds_lost: from the start of their computing, or else from their grant, to their end.
    """

    count: Count
    seconds_lost: Real


class WorkerView(Message, frozen=True, rename={"worker_id": "id"}):
    """A worker of the campaign.

    Attributes:
        worker_id: the first characters of its UUID, which as a whole is a secret between it and the server.
        host: name of its machine.
        process: its name on that machine.
        device_kind: "cpu" or "cuda".
        device_model: "NVIDIA H200", say; None: unknown.
        cores: of the machine; None: unknown.
        processes: how many tasks it evaluates at once; None: unknown.
        slurm: number of its SLURM job, with "_" and its place in the array if it has one; None: no such job.
        started: when it enrolled.
        last_seen: when it last asked for something.
        state: what it does.
        ending: how it ended, a value of :class:`db.states.Ending`; None while it has not.
        leased: tasks that it holds.
        done: results that it delivered.
        speed: its part of the campaign's speed now, work per second; None: it delivered nothing of late.
        against_peers: work per second of computing of its last results, as a multiple of the median of the workers
            with the same device; None: there are too few of them, or of its results.
        preempted: what it began and did not finish.
    """

    worker_id: Text
    host: Text
    process: Text
    device_kind: Text
    device_model: Text | None
    cores: Count | None
    processes: Count | None
    slurm: Text | None
    started: Time
    last_seen: Time
    state: Presence
    ending: Text | None
    leased: Count
    done: Count
    speed: Real | None
    against_peers: Real | None
    preempted: Preempted


class Warned(Message, frozen=True):
    """Something that an operator should look at, in words that say what to do."""

    kind: WarningKind
    text: Text


class Happened(Message, frozen=True):
    """An event of the campaign; ``kind`` is a value of :class:`db.states.EventKind`."""

    at: Time
    kind: Text
    text: Annotated[str, Meta(max_length=LONGEST_EVENT, pattern=STORABLE)]


class Checked(Message, frozen=True):
    """How far the results are checked by further ones.

    Attributes:
        share: of the results that another voter evaluates again.
        drawn: results that were drawn for that.
        replicated: how many of them trusted, independent voters confirmed.
        confirmed: further results that agree with the accepted ones.
        conflicts: tasks whose results disagree, not settled yet.
    """

    share: Real
    drawn: Count
    replicated: Count
    confirmed: Count
    conflicts: Count


class Overview(Message, frozen=True):
    """How far a campaign is, how fast, until when, who works, and what went wrong.

    Attributes:
        campaign: its name.
        uuid: its UUID.
        problem, method, depth, seed: its plan.
        created: when.
        finished: when its last task was done; None while tasks or rechecks are left.
        now: when this was so, by the ledger's clock.
        tasks: numbers of tasks by state.
        work: shares of the work by state.
        speed: how fast it goes.
        eta: until when; None when it is finished, or when nothing says so.
        workers: those that are present first, then those that left, the last ones first.
        workers_left_out: how many more there were.
        warnings: what an operator should look at.
        timeline: (time, number of workers that held leases then), oldest first.
        events: the last ones, newest first.
        attempts: number of ended attempts by outcome, and of running ones under "running".
        checked: how far the results are checked by further ones.
        count: the merged count; None while it is not finished, or cannot be merged, or takes long to merge.
        agrees: whether it is the published one; None when nothing is published, or there is no count.
    """

    campaign: Text
    uuid: Text
    problem: Text
    method: Text
    depth: Count
    seed: Count
    created: Time
    finished: Time | None
    now: Time
    tasks: Parts[Count]
    work: Parts[Real]
    speed: Speed
    eta: Eta | None
    workers: Annotated[tuple[WorkerView, ...], Meta(max_length=MOST_WORKERS)]
    workers_left_out: Count
    warnings: Annotated[tuple[Warned, ...], Meta(max_length=MOST_ENTRIES)]
    timeline: Annotated[tuple[tuple[Time, Count], ...], Meta(max_length=MOST_ENTRIES)]
    events: Annotated[tuple[Happened, ...], Meta(max_length=MOST_ENTRIES)]
    attempts: dict[Text, Count]
    checked: Checked
    count: Total | None
    agrees: bool | None


def to_document(overview: Overview) -> dict[str, Any]:
    """The overview as JSON: what a task server answers to ``GET /campaigns/NAME/status``."""
    return messages.document(overview)


def of_document(document: Any) -> Overview:
    """The inverse of :func:`to_document`, to the second; raises BadMessage."""
    return messages.converted(document, Overview)
