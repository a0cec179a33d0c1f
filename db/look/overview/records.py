"""An overview of a campaign: immutable records, with no connection to a database.

Each record is also the form of its JSON (:mod:`db.messages`), in which times and the count are text.  Work is
in the unit of the campaign's method.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Generic, Self, TypeVar

from msgspec import Meta

from db.messages import STORABLE, Count, Message, Real, Text, Time
from db.states import Ending

MAX_WORKERS, MAX_ENTRIES = 100_000, 10_000
MAX_EVENT, MAX_COUNT = 100_000, 1_000
"""Characters of the text of an event, and digits of a count."""
N = TypeVar("N", int, float)
ENDINGS: Mapping[str, str] = {
    Ending.FINISHED: "no tasks were left for it",
    Ending.PREEMPTED: "stopped by SIGTERM",
    Ending.STOPPED: "stopped",
    Ending.REPLACED: "another campaign now has this name",
    Ending.LOST: "ended without notice",
}
"""How a worker ended, in words."""


class WorkerState(StrEnum):
    """The state of a worker, as far as the ledger knows."""

    WORKING = "working"  # it holds leases
    IDLE = "idle"  # it holds none, and made a request recently
    SILENT = "silent"  # it has made no request for long, and has not said that it ends
    ENDED = "ended"  # it said that it ends, or its leases expired and it did not come back
    DISTRUSTED = "distrusted"  # one of its results was found wrong

    @property
    def is_present(self) -> bool:
        return self in (WorkerState.WORKING, WorkerState.IDLE)


class WarningKind(StrEnum):
    SILENT_WORKER = "silent_worker"
    CONFLICT = "conflict"
    RECHECK_WITHOUT_SECOND_WORKER = "recheck_without_second_worker"
    DISK_NEARLY_FULL = "disk_nearly_full"
    DISK_FULL = "disk_full"
    SLOW_DEVICE = "slow_device"
    SET_ASIDE = "set_aside"
    DISTRUSTED = "distrusted"
    NO_WORKERS = "no_workers"
    TOKEN = "token"  # the workers with a token hold or cost much, and bring little


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
    """Numbers of tasks by state, or shares of the work."""

    total: N
    done: N  # with an accepted result
    leased: N  # without a result, and held by a worker
    ready: N  # without a result, and not held by any worker
    set_aside: N  # failed too often
    recheck: N  # those of ``done`` that wait to be evaluated again


class WorkRate(Message, frozen=True):
    # Work per second of the recent results, of all workers together; None: no worker is active, or no result has
    # arrived
    now: Real | None
    # Work per second from the first computing that led to a result to the last result, of all workers together;
    # None: nothing is done
    average: Real | None
    tasks_per_minute_now: Real | None  # recent results per minute; None like ``now``
    unit: Text  # unit of the work, "points" or "nodes"
    seconds: Real | None  # length of the time in which the recent results arrived; None like ``now``


class Eta(Message, frozen=True):
    """When the campaign will be done at the current speed: nine of ten are done from ``earliest`` to ``latest``."""

    seconds: Real
    earliest: Time
    latest: Time


class Lost(Message, frozen=True):
    """Attempts that were lost, see :mod:`db.schema.measures`."""

    attempts: Count
    seconds: Real
    unknown: Count  # how many more ended without a result, of which their workers had said nothing


NOTHING_LOST = Lost(0, 0.0, 0)


class WorkerView(Message, frozen=True, rename={"worker_id": "id"}):
    worker_id: Text  # the first characters of its UUID, which as a whole is secret
    host: Text
    process: Text
    device_kind: Text
    device_model: Text | None  # the model of its device, such as "NVIDIA H200"; None: unknown
    cores: Count | None  # number of processor cores that it may use; None: unknown
    processes: Count | None  # number of tasks that it evaluates at once; None: unknown
    slurm: Text | None  # number of its SLURM job, with "_" and its index in an array; None: no such job
    started: Time  # when it enrolled
    last_seen: Time  # when it made its last request
    state: WorkerState
    ending: Text | None  # how it ended, a value of db.states.Ending; None: it has not ended
    leased: Count
    done: Count
    # Its part of the campaign's current speed, in work per second; None: it delivered nothing recently
    speed: Real | None
    # Work per second of computing time of its last results, relative to the median of other workers with the same
    # device; None: there are too few of them, or of its results
    against_peers: Real | None
    lost: Lost


class Warned(Message, frozen=True):
    """A warning to the operator, in words that say what to do."""

    kind: WarningKind
    text: Text


class Happened(Message, frozen=True):
    """An event; ``kind``: of :class:`db.states.EventKind`, or a kind of :mod:`db.look.overview.workers`."""

    at: Time
    kind: Text
    text: Annotated[str, Meta(max_length=MAX_EVENT, pattern=STORABLE)]


class Checked(Message, frozen=True):
    """How far the results are checked by further results."""

    share: Real
    drawn: Count  # number of results that were drawn for that
    replicated: Count  # how many of them were confirmed by trusted, independent voters
    confirmed: Count  # number of further results that agree with the accepted ones
    conflicts: Count


class Overview(Message, frozen=True):
    """Progress, speed, time left, workers and warnings of a campaign."""

    campaign: Text
    uuid: Text
    # problem, method, depth, seed: its plan
    problem: Text
    method: Text
    depth: Count
    seed: Count
    created: Time
    finished: Time | None  # when its last attempt ended; None: tasks or rechecks are left
    now: Time  # the time of the overview, by the ledger's clock
    tasks: Parts[Count]
    work: Parts[Real]
    speed: WorkRate
    eta: Eta | None  # when it will be done; None: it is finished, or the time is unknown
    # Present ones first, then those that ended, last first; some, where there are many
    workers: Annotated[tuple[WorkerView, ...], Meta(max_length=MAX_WORKERS)]
    workers_by_state: dict[Text, dict[Text, Count]]  # how many there are of each kind of device, also of the others
    warnings: Annotated[tuple[Warned, ...], Meta(max_length=MAX_ENTRIES)]
    # (time, number of workers that were there), oldest first
    timeline: Annotated[tuple[tuple[Time, Count], ...], Meta(max_length=MAX_ENTRIES)]
    # The last events of results, and of workers, newest first
    events: Annotated[tuple[Happened, ...], Meta(max_length=MAX_ENTRIES)]
    attempts: dict[Text, Count]  # number of ended attempts by outcome, and of running ones under "running"
    checked: Checked
    count: Total | None  # the merged count; None: not finished, or the merge is impossible or takes long
    agrees: bool | None  # whether it is the published count; None: no count is published, or there is no count
    lost: dict[Text, Lost]  # the lost ones of ``attempts``, by outcome
    title: Text  # the problem in words, such as "L(2,20)"

    def workers_in(self, state: WorkerState) -> int:
        """How many workers are in a state, whether they are listed or not."""
        return sum(self.workers_by_state.get(state, {}).values())

    @property
    def workers_left_out(self) -> int:
        """How many workers are not listed."""
        return max(0, sum(map(self.workers_in, WorkerState)) - len(self.workers))
