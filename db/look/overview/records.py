"""What an overview of a campaign says: immutable records, with no connection to a database.

Times are seconds since 1970, works are in the unit of the campaign's method.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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


@dataclass(frozen=True)
class Parts:
    """Numbers of tasks by state, or shares of the work.

    Attributes:
        total: all of them; of work 1.
        done: with an accepted result.
        leased: without one, and some worker holds it.
        ready: without one, and nobody holds it.
        set_aside: failed too often.
        recheck: those of ``done`` that another worker shall evaluate again.
    """

    total: float
    done: float
    leased: float
    ready: float
    set_aside: float
    recheck: float


@dataclass(frozen=True)
class Speed:
    """How fast the work is done.

    Attributes:
        now: work per second of the results that arrived of late; None: nobody works, or nothing has arrived.
        average: work per second from the first lease on; None when nothing is done.
        tasks_per_minute_now: like ``now``.
        unit: of the work, "points" or "nodes".
        seconds: how long "of late" is.
    """

    now: float | None
    average: float | None
    tasks_per_minute_now: float | None
    unit: str
    seconds: float | None = None


@dataclass(frozen=True)
class Eta:
    """When the campaign will be done if it goes on like now.

    Attributes:
        seconds: from now.
        earliest: nine of ten campaigns whose speed varies as much are done between this time
        latest: and this time.
    """

    seconds: float
    earliest: float
    latest: float


@dataclass(frozen=True)
class Preempted:
    """What a worker began and did not finish.

    Attributes:
        count: attempts that were preempted, released, or whose time was over.
        seconds_lost: from the start of their computing, or else from their grant, to their end.
    """

    count: int
    seconds_lost: float


@dataclass(frozen=True)
class WorkerView:
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

    worker_id: str
    host: str
    process: str
    device_kind: str
    device_model: str | None
    cores: int | None
    processes: int | None
    slurm: str | None
    started: float
    last_seen: float
    state: Presence
    ending: str | None
    leased: int
    done: int
    speed: float | None
    against_peers: float | None
    preempted: Preempted


@dataclass(frozen=True)
class Warned:
    """Something that an operator should look at, in words that say what to do."""

    kind: WarningKind
    text: str


@dataclass(frozen=True)
class Happened:
    """An event of the campaign; ``kind`` is a value of :class:`db.states.EventKind`."""

    at: float
    kind: str
    text: str


@dataclass(frozen=True)
class Checked:
    """How far the results are checked by further ones.

    Attributes:
        share: of the results that another voter evaluates again.
        drawn: results that were drawn for that.
        replicated: how many of them trusted, independent voters confirmed.
        confirmed: further results that agree with the accepted ones.
        conflicts: tasks whose results disagree, not settled yet.
    """

    share: float
    drawn: int
    replicated: int
    confirmed: int
    conflicts: int


@dataclass(frozen=True)
class Overview:
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

    campaign: str
    uuid: str
    problem: str
    method: str
    depth: int
    seed: int
    created: float
    finished: float | None
    now: float
    tasks: Parts
    work: Parts
    speed: Speed
    eta: Eta | None
    workers: tuple[WorkerView, ...]
    workers_left_out: int
    warnings: tuple[Warned, ...]
    timeline: tuple[tuple[float, int], ...]
    events: tuple[Happened, ...]
    attempts: dict[str, int]
    checked: Checked
    count: int | None
    agrees: bool | None
