"""An overview of a campaign: immutable records, with no connection to a database.

Each record is also the form of its JSON (:mod:`db.messages`), in which times and the count are text.  Work is
in the unit of the campaign's method.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Generic, Self, TypeVar

from msgspec import Meta

from db import messages
from db.machines import ID_LENGTH as ID_LENGTH
from db.messages import STORABLE, Count, Message, Real, Text, Time
from db.states import Ending

MAX_WORKERS, MAX_ENTRIES = 100_000, 10_000
MAX_EVENT, MAX_COUNT = 100_000, 1_000
"""Characters of the text of an event, and digits of a count."""
N = TypeVar("N", int, float)
ENDINGS: Mapping[str, str] = {
    Ending.FINISHED: "nothing was left for it to do",
    Ending.PREEMPTED: "stopped by SIGTERM",
    Ending.STOPPED: "stopped",
    Ending.REPLACED: "another campaign now has the name of its campaign",
    Ending.LOST: "lost without notice",
}
"""How a worker ended, in words."""


class Presence(StrEnum):
    """The state of a worker, as far as the ledger knows.

    Attributes:
        WORKING: it holds leases.
        IDLE: it holds none, and made a request recently.
        SILENT: it has made no request for long, and has not said that it ends.
        ENDED: it said that it ends, or its leases expired and it did not come back.
        DISTRUSTED: one of its results was found wrong.
    """

    WORKING = "working"
    IDLE = "idle"
    SILENT = "silent"
    ENDED = "ended"
    DISTRUSTED = "distrusted"


class WarningKind(StrEnum):
    """The kinds of warnings to the operator."""

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
        if len(text) > MAX_COUNT or not (text.isascii() and text.isdecimal()):
            raise ValueError(f"expected a count, got {text!r:.60}")
        return cls(text)

    def to_text(self) -> str:
        return str(int(self))


class Parts(Message, Generic[N], frozen=True):
    """Numbers of tasks by state, or shares of the work.

    Attributes:
        done: with an accepted result.
        leased: without a result, and held by a worker.
        ready: without a result, and not held by any worker.
        set_aside: failed too often.
        recheck: those of ``done`` that wait to be evaluated again.
    """

    total: N
    done: N
    leased: N
    ready: N
    set_aside: N
    recheck: N


class Speed(Message, frozen=True):
    """The speed of a campaign.

    Attributes:
        now: work per second of the recent results, of all workers together; None: no worker is active, or no result
            has arrived.
        average: work per second from the first computing that led to a result to the last result, of all workers
            together; None: nothing is done.
        tasks_per_minute_now: recent results per minute; None like ``now``.
        unit: unit of the work, "points" or "nodes".
        seconds: length of the time in which the recent results arrived; None like ``now``.
    """

    now: Real | None
    average: Real | None
    tasks_per_minute_now: Real | None
    unit: Text
    seconds: Real | None


class Eta(Message, frozen=True):
    """When the campaign will be done at the current speed: nine of ten are done from ``earliest`` to ``latest``."""

    seconds: Real
    earliest: Time
    latest: Time


class Preempted(Message, frozen=True):
    count: Count
    seconds_lost: Real


class WorkerView(Message, frozen=True, rename={"worker_id": "id"}):
    """A worker of the campaign.

    Attributes:
        worker_id: the first characters of its UUID, which as a whole is secret.
        device_model: the manufacturer's name of its device, such as "NVIDIA H200"; None: unknown.
        cores: number of processor cores that it may use; None: unknown.
        processes: number of tasks that it evaluates at once; None: unknown.
        slurm: number of its SLURM job, with "_" and its index in an array; None: no such job.
        started: when it enrolled.
        last_seen: when it made its last request.
        ending: how it ended, a value of :class:`db.states.Ending`; None: it has not ended.
        speed: its part of the campaign's current speed, in work per second; None: it delivered nothing recently.
        against_peers: work per second of computing time of its last results, relative to the median of other
            workers with the same device; None: there are too few of them, or of its results.
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
    """A warning to the operator, in words that say what to do."""

    kind: WarningKind
    text: Text


class Happened(Message, frozen=True):
    """An event; ``kind``: of :class:`db.states.EventKind`, or a kind of :mod:`db.look.overview.worker_events`."""

    at: Time
    kind: Text
    text: Annotated[str, Meta(max_length=MAX_EVENT, pattern=STORABLE)]


class Checked(Message, frozen=True):
    """How far the results are checked by further results.

    Attributes:
        drawn: number of results that were drawn for that.
        replicated: how many of them were confirmed by trusted, independent voters.
        confirmed: number of further results that agree with the accepted ones.
    """

    share: Real
    drawn: Count
    replicated: Count
    confirmed: Count
    conflicts: Count


class Overview(Message, frozen=True):
    """Progress, speed, time left, workers and warnings of a campaign.

    Attributes:
        problem, method, depth, seed: its plan.
        finished: when its last attempt ended; None: tasks or rechecks are left.
        now: the time of the overview, by the ledger's clock.
        eta: when it will be done; None: it is finished, or the time is unknown.
        workers: present ones first, then those that ended, last first.
        workers_left_out: number of further workers, which are omitted.
        timeline: (time, number of workers that held leases), oldest first.
        events: the last events of results, and of workers, newest first.
        attempts: number of ended attempts by outcome, and of running ones under "running".
        count: the merged count; None: not finished, or the merge is impossible or takes long.
        agrees: whether it is the published count; None: no count is published, or there is no count.
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
    workers: Annotated[tuple[WorkerView, ...], Meta(max_length=MAX_WORKERS)]
    workers_left_out: Count
    warnings: Annotated[tuple[Warned, ...], Meta(max_length=MAX_ENTRIES)]
    timeline: Annotated[tuple[tuple[Time, Count], ...], Meta(max_length=MAX_ENTRIES)]
    events: Annotated[tuple[Happened, ...], Meta(max_length=MAX_ENTRIES)]
    attempts: dict[Text, Count]
    checked: Checked
    count: Total | None
    agrees: bool | None


def to_document(overview: Overview) -> dict[str, Any]:
    """What a task server answers to ``GET /campaigns/NAME/status``."""
    return messages.document(overview)
